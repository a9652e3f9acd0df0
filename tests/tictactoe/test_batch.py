"""What the functions on arrays promise beyond the rules; `test_environments.py` plays games with them."""

from types import ModuleType

import numpy as np
import pytest
import torch

from tictactoe import Rewards, Rules, batch

LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(1, 1, 1), (3, 3, 1), (1, 20, 1), (8, 8, 1)], ids=str)
def test_a_line_of_one_wins_with_the_first_move(size: tuple[int, int, int], library: ModuleType) -> None:
    rules = Rules(*size)
    state = batch.reset(rules, rules.cells, library)
    result = batch.step(rules, Rewards(), state, library.arange(rules.cells))
    assert result.terminated.all()
    assert result.reward.tolist() == [1.0] * rules.cells
    assert result.winner.tolist() == [0] * rules.cells


@pytest.mark.parametrize("library", LIBRARIES)
def test_restart_empties_the_boards_that_have_ended_and_changes_nothing_in_place(library: ModuleType) -> None:
    state = batch.step(Rules(), Rewards(), batch.reset(Rules(), 2, library), library.asarray([4, 4])).state
    ended = library.asarray([True, False])
    assert [field.tolist() for field in batch.restart(state, ended)] == [[0, 0], [0, 16], [0, 1]]
    assert [field.tolist() for field in state] == [[0, 0], [16, 16], [1, 1]]
    assert ended.tolist() == [True, False]


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
