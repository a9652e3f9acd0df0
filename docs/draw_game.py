"""Draw the README's picture of a game: `python docs/draw_game.py` writes game.gif beside itself.

Pillow, which comes with matplotlib in the extra `train`, turns the pixels of `tictactoe.rendering.pixels` into a file.
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from tictactoe import Rules
from tictactoe.rendering.pixels import board_image

GAME = (0, 8, 2, 1, 6, 3, 4)  # X forks with its third mark
COLOURS = 64  # in the animation, all frames together
FRAME_MS, LAST_FRAME_MS = 700, 3000


def game_images(rules: Rules, cells: tuple[int, ...]) -> list[NDArray[np.uint8]]:
    """Draw the empty board and the position after each ply."""
    marks = [0, 0]
    images = [board_image(rules, 0, 0)]
    for ply, cell in enumerate(cells):
        marks[ply % 2] |= 1 << cell
        images.append(board_image(rules, marks[0], marks[1], cell))
    return images


def save_animation(images: list[NDArray[np.uint8]], path: Path) -> None:
    """Write a GIF that repeats for ever; its frames share one palette, without dithering."""
    palette = Image.fromarray(np.concatenate(images)).quantize(COLOURS, dither=Image.Dither.NONE)
    frames = [Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE) for image in images]
    durations = [FRAME_MS] * (len(frames) - 1) + [LAST_FRAME_MS]
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=True)


def main() -> None:
    """Write the picture."""
    save_animation(game_images(Rules(), GAME), Path(__file__).parent / "game.gif")


if __name__ == "__main__":
    main()
