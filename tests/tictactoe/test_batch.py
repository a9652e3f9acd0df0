"""What the functions on arrays promise beyond the rules; `test_environments.py` plays games with them."""

from types import ModuleType

import numpy as np
import pytest
import torch

from tictactoe import Rewards, Rules, batch

LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(5, 13, 5), (9, 9, 5), (1, 65, 3)], ids=str)
def test_a_board_beyond_a_word_is_refused(size: tuple[int, int, int], library: ModuleType) -> None:
    rows, cols, _ = size
    with pytest.raises(ValueError, match=f"64-bit word.*a {rows}x{cols} board has {rows * cols} cells"):
        batch.reset(Rules(*size), 4, library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_unknown_perspective_is_named(library: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"'mine'.*absolute, mover"):
        batch.observe(Rules(), batch.reset(Rules(), 1, library), "mine")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_actions_may_be_of_any_integer_type(library: ModuleType, dtype: str) -> None:
    rules, cell = Rules(8, 8, 5), 40
    actions = library.asarray([cell], dtype=getattr(library, dtype))
    result = batch.step(rules, Rewards(), batch.reset(rules, 1, library), actions)
    assert int(result.state.opponent[0]) == 1 << cell
