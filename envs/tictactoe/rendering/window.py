"""A window that shows images of a game; the only module that imports pygame, when a window is made."""

from typing import Any

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray


class Window:
    """The window of this process, which opens with the first image.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame is missing.
    """

    def __init__(self) -> None:
        try:
            import pygame
        except ImportError as error:
            raise DependencyNotInstalled(
                "render_mode 'human' needs pygame: run pip install 'pygame-ce>=2.5', or choose 'rgb_array' or 'ansi'"
            ) from error
        self._clock = pygame.time.Clock()

    def __reduce__(self) -> Any:
        return Window, ()  # a copy has a clock of its own, since none can be copied

    def show(self, image: NDArray[np.uint8], fps: float) -> None:
        """Show an image, [height, width, 3], at most `fps` of them a second."""
        import pygame

        height, width, _ = image.shape
        screen = pygame.display.get_surface()
        if screen is None or screen.get_size() != (width, height):
            screen = pygame.display.set_mode((width, height))
            pygame.display.set_caption("Tic-tac-toe")
        screen.blit(pygame.image.frombuffer(image.tobytes(), (width, height), "RGB"), (0, 0))
        pygame.display.flip()
        pygame.event.pump()
        self._clock.tick(fps)

    def close(self) -> None:
        """Close the window."""
        import pygame

        pygame.display.quit()
