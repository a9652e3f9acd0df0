"""A window that shows images of a game; the only module that imports pygame, when a window is made."""

import math
import os
import time

import numpy as np
from gymnasium.error import DependencyNotInstalled
from numpy.typing import NDArray

from tictactoe.actions import KEYS


class Window:
    """Show images in the window of this process, until `close()` or the user closes it.

    pygame has one window per process, so two of these objects share it. A closed object cannot be opened again.

    Raises:
        gymnasium.error.DependencyNotInstalled: pygame is missing.
    """

    def __init__(self) -> None:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # pygame's greeting on standard output
        try:
            import pygame  # noqa: F401, PLC0415 (lazy: an optional dependency)
        except ImportError as error:
            raise DependencyNotInstalled(
                "render_mode 'human' needs pygame: run pip install 'pygame-ce>=2.5', or choose 'rgb_array' or 'ansi'"
            ) from error
        self._opened = False
        self._closed = False

    def show(self, image: NDArray[np.uint8], fps: float) -> None:
        """Show an image, [height, width, 3], for one frame of 1 / `fps` seconds while the window stays responsive.

        Raises:
            RuntimeError: the machine has no screen on which a window could open.
        """
        if self._closed:
            return
        import pygame  # noqa: PLC0415

        height, width, _ = image.shape
        surface = pygame.display.get_surface()
        if surface is None or surface.get_size() != (width, height):
            try:
                surface = pygame.display.set_mode((width, height))
            except pygame.error as error:
                raise RuntimeError(
                    f"no window can be opened here ({error}): choose render_mode 'rgb_array' or 'ansi'"
                ) from error
        self._opened = True
        pygame.display.set_caption("Tic-tac-toe")
        surface.blit(pygame.image.frombuffer(image.tobytes(), (width, height), "RGB"), (0, 0))
        pygame.display.flip()

        end = time.monotonic() + 1 / fps
        while not self._closed and (left := end - time.monotonic()) > 0:
            if pygame.event.wait(math.ceil(1000 * left)).type == pygame.QUIT:
                self.close()

    def close(self) -> None:
        """Close the window for good; a second call does nothing."""
        if self._opened and not self._closed:
            import pygame  # noqa: PLC0415

            pygame.display.quit()
        self._closed = True


def release_keys(*step: object) -> None:  # noqa: ARG001 (`play` passes it to its callback)
    """Release all keys; as the callback of `gymnasium.utils.play.play` this keeps a held key from playing again."""
    import pygame  # noqa: PLC0415

    for key in KEYS:
        pygame.event.post(pygame.event.Event(pygame.KEYUP, key=ord(key)))
