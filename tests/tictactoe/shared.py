"""What several tests of the environment share."""

from typing import Any

import numpy as np
import pygame

TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"


def sized(size: tuple[int, ...]) -> dict[str, Any]:
    """Return the settings of a board's rows, columns and k."""
    return dict(zip(("rows", "cols", "k"), size, strict=True))


def random_actions(mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a cell for each board, mostly but not always one that the mask, [B, A], leaves."""
    careless = rng.random((len(mask), 1)) < 0.05
    chosen: np.ndarray = np.where((mask == 1) | careless, rng.random(mask.shape), -1).argmax(axis=1)
    return chosen


def shown() -> np.ndarray:
    """Return the pixels of the window on the screen, [height, width, 3]."""
    surface = pygame.display.get_surface()
    assert surface is not None
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare observations, spaces' samples or infos; a part of an info counts only where its flag says so."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            flag = theirs.get(f"_{key}")
            if flag is None or isinstance(value, dict):
                assert_same(ours[key], value)
            else:
                assert ours[key].dtype == value.dtype
                assert_same(ours[key][flag], value[flag])
    elif theirs.dtype == object:
        assert [type(part) for part in ours] == [type(part) for part in theirs]
        for our_part, their_part in zip(ours, theirs, strict=True):
            assert_same(our_part, their_part)
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
