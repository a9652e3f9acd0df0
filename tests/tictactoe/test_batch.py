"""Compare the batch with the turn view at every ply, and NumPy with torch."""

from types import ModuleType

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.shared import random_actions
from tictactoe import Rewards, Rules, TicTacToeEnv, batch
from tictactoe.rewards import PRESETS

NUM_BOARDS = 24
FRACTIONS = Rewards(win=2, illegal=-3, allow=-0.1, draw=1, loss=-4)
TYPES = [np.int64, np.int64, np.int64, np.float32, np.float32, np.bool_, np.int64, np.bool_]
"""Of the fields of a step, those of its state first."""
LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]
# One size for each side of the limit up to which lines are looked up in a table, and one of exactly 64 cells.
BOARDS = [(3, 3, 3), (1, 4, 2), (4, 3, 3), (2, 8, 4), (4, 5, 4), (8, 8, 5)]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("perspective", batch.PERSPECTIVES)
@pytest.mark.parametrize("rewards", [*PRESETS.values(), FRACTIONS], ids=[*PRESETS, "fractions"])
@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_batch_equals_the_turn_view_at_every_ply(
    size: tuple[int, int, int], rewards: Rewards, perspective: str, library: ModuleType
) -> None:
    rules, rng = Rules(*size), np.random.default_rng(0)
    envs = [TicTacToeEnv(*size, rewards=rewards, perspective=perspective) for _ in range(NUM_BOARDS)]
    observations = [env.reset()[0] for env in envs]
    state = batch.reset(rules, NUM_BOARDS, library)
    endings = set()
    for _ in range(40 + 2 * rules.cells):
        seen = np.asarray(batch.observe(rules, state, perspective))
        np.testing.assert_array_equal(seen, np.array(observations), strict=True)
        empty = np.asarray(batch.action_mask(rules, state))
        np.testing.assert_array_equal(empty, [env.action_masks() for env in envs])
        assert np.asarray(state.to_play).tolist() == [env.to_play for env in envs]

        assert empty.dtype == np.bool_
        actions = random_actions(empty, rng)
        result = batch.step(rules, rewards, state, library.asarray(actions))
        assert [np.asarray(field).dtype for field in (*result.state, *result[1:])] == TYPES
        assert all(type(field) is type(library.asarray(actions)) for field in (*result.state, *result[1:]))
        observations, reward, terminated, _, _ = (
            list(parts) for parts in zip(*(env.step(int(a)) for env, a in zip(envs, actions, strict=True)), strict=True)
        )
        winner, illegal = [env.winner for env in envs], [env.illegal for env in envs]
        np.testing.assert_array_equal(np.asarray(result.reward), np.array(reward, np.float32))
        assert np.asarray(result.terminated).tolist() == terminated
        assert np.asarray(result.winner).tolist() == winner
        assert np.asarray(result.illegal).tolist() == illegal
        won = [seat >= 0 and not taken for seat, taken in zip(winner, illegal, strict=True)]
        assert np.asarray(result.other_reward).tolist() == [rewards.loss if win else 0.0 for win in won]
        np.testing.assert_array_equal(np.asarray(batch.observe(rules, result.state, perspective)), observations)
        endings |= {(seat, taken) for seat, taken, over in zip(winner, illegal, terminated, strict=True) if over}

        for board, env in enumerate(envs):
            if terminated[board]:
                observations[board] = env.reset()[0]
        state = batch.restart(result.state, result.terminated)
    assert {(0, False), (0, True), (1, True)} <= endings


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(1, 1, 1), (3, 3, 1), (1, 20, 1), (8, 8, 1)], ids=str)
def test_a_line_of_one_wins_with_the_first_move(size: tuple[int, int, int], library: ModuleType) -> None:
    rules = Rules(*size)
    cells = np.arange(rules.cells)
    state = batch.reset(rules, rules.cells, library)
    result = batch.step(rules, Rewards(), state, library.asarray(cells))
    assert np.asarray(result.terminated).all()
    assert np.asarray(result.reward).tolist() == [1.0] * rules.cells
    assert np.asarray(result.winner).tolist() == [0] * rules.cells


@pytest.mark.parametrize("library", LIBRARIES)
def test_step_and_restart_leave_their_inputs_as_they_were(library: ModuleType) -> None:
    rules, state = Rules(), batch.reset(Rules(), 2, library)
    state = batch.step(rules, Rewards(), state, library.asarray([4, 4])).state
    actions, ended = library.asarray([4, 0]), library.asarray([True, False])
    before = [np.asarray(array).copy() for array in (*state, actions, ended)]
    batch.step(rules, Rewards(), state, actions)
    batch.restart(state, ended)
    for array, old in zip((*state, actions, ended), before, strict=True):
        np.testing.assert_array_equal(np.asarray(array), old)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(5, 13, 5), (9, 9, 5), (1, 65, 3)], ids=str)
def test_a_board_beyond_a_word_is_refused(size: tuple[int, int, int], library: ModuleType) -> None:
    rows, cols, _ = size
    with pytest.raises(ValueError, match=f"64-bit word.*a {rows}x{cols} board has {rows * cols} cells"):
        batch.reset(Rules(*size), 4, library)
    gymnasium.make("tictactoe:TicTacToe-v0", rows=rows, cols=cols, k=size[2]).reset()


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
