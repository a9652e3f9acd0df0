"""What the tests of both vector environments share."""

from typing import Any

import numpy as np

TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"


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
