"""Compare the batch with the turn view at every ply, and NumPy with torch."""

from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from tictactoe import Rewards, Rules, TicTacToeEnv, batch
from tictactoe.rewards import PRESETS

NUM_BOARDS = 24
LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]
# One size for each side of the limit up to which lines are looked up in a table, and one of exactly 64 cells.
BOARDS = [(3, 3, 3), (1, 4, 2), (4, 3, 3), (2, 8, 4), (4, 5, 4), (8, 8, 5)]


def as_numpy(array: Any) -> np.ndarray:
    return np.asarray(array)


def random_actions(empty: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a cell for each board, mostly but not always an empty one; `empty` is [B, A] bool."""
    scores = rng.random(empty.shape)
    careless = rng.random((len(empty), 1)) < 0.05
    chosen: np.ndarray = np.where(empty | careless, scores, -1).argmax(axis=1)
    return chosen


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("perspective", batch.PERSPECTIVES)
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_batch_equals_the_turn_view_at_every_ply(
    size: tuple[int, int, int], preset: str, perspective: str, library: ModuleType
) -> None:
    rules, rewards, rng = Rules(*size), PRESETS[preset], np.random.default_rng(0)
    envs = [TicTacToeEnv(*size, rewards=preset, perspective=perspective) for _ in range(NUM_BOARDS)]
    observations = [env.reset()[0] for env in envs]
    state = batch.reset(rules, NUM_BOARDS, library)
    endings = set()
    for _ in range(40 + 2 * rules.cells):
        np.testing.assert_array_equal(as_numpy(batch.observe(rules, state, perspective)), observations)
        empty = as_numpy(batch.action_mask(rules, state))
        np.testing.assert_array_equal(empty, [env.action_masks() for env in envs])
        assert as_numpy(state.to_play).tolist() == [env.to_play for env in envs]

        actions = random_actions(empty, rng)
        result = batch.step(rules, rewards, state, library.asarray(actions))
        observations, reward, terminated, _, infos = (
            list(parts) for parts in zip(*(env.step(int(a)) for env, a in zip(envs, actions, strict=True)), strict=True)
        )
        winner = [info.get("winner", -1) for info in infos]
        illegal = [info.get("illegal", False) for info in infos]
        np.testing.assert_array_equal(as_numpy(result.reward), np.array(reward, np.float32))
        assert as_numpy(result.terminated).tolist() == terminated
        assert as_numpy(result.winner).tolist() == winner
        assert as_numpy(result.illegal).tolist() == illegal
        won = [seat >= 0 and not taken for seat, taken in zip(winner, illegal, strict=True)]
        assert as_numpy(result.other_reward).tolist() == [rewards.loss if win else 0.0 for win in won]
        np.testing.assert_array_equal(as_numpy(batch.observe(rules, result.state, perspective)), observations)
        endings |= {(seat, taken) for seat, taken, over in zip(winner, illegal, terminated, strict=True) if over}

        for board, env in enumerate(envs):
            if terminated[board]:
                observations[board] = env.reset()[0]
        state = batch.restart(result.state, result.terminated)
    assert {(0, False), (0, True), (1, True)} <= endings


@pytest.mark.parametrize("size", BOARDS, ids=str)
def test_numpy_and_torch_agree_on_values_and_types(size: tuple[int, int, int]) -> None:
    rewards = Rewards(win=2, illegal=-3, allow=-0.1, draw=1, loss=-4)
    rules, rng = Rules(*size), np.random.default_rng(1)
    mine, theirs = batch.reset(rules, NUM_BOARDS, np), batch.reset(rules, NUM_BOARDS, torch)
    for _ in range(2 * rules.cells):
        actions = random_actions(batch.action_mask(rules, mine), rng)
        mine_step = batch.step(rules, rewards, mine, actions)
        theirs_step = batch.step(rules, rewards, theirs, torch.from_numpy(actions))
        fields = zip((*mine_step.state, *mine_step[1:]), (*theirs_step.state, *theirs_step[1:]), strict=True)
        types = []
        for ours, tensor in fields:
            assert isinstance(tensor, torch.Tensor)
            np.testing.assert_array_equal(ours, tensor.numpy(), strict=True)
            types.append(ours.dtype)
        assert types == [np.int64, np.int64, np.int64, np.float32, np.float32, np.bool_, np.int64, np.bool_]
        for perspective in batch.PERSPECTIVES:
            view = batch.observe(rules, mine_step.state, perspective)
            assert view.dtype == np.int8
            assert view.shape == (NUM_BOARDS, rules.rows, rules.cols, 3)
            tensor = batch.observe(rules, theirs_step.state, perspective)
            np.testing.assert_array_equal(view, tensor.numpy(), strict=True)
        mask = batch.action_mask(rules, theirs_step.state).numpy()
        np.testing.assert_array_equal(batch.action_mask(rules, mine_step.state), mask, strict=True)
        mine = batch.restart(mine_step.state, mine_step.terminated)
        theirs = batch.restart(theirs_step.state, theirs_step.terminated)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(1, 1, 1), (3, 3, 1), (1, 20, 1), (8, 8, 1)], ids=str)
def test_a_line_of_one_wins_with_the_first_move(size: tuple[int, int, int], library: ModuleType) -> None:
    rules = Rules(*size)
    cells = np.arange(rules.cells)
    state = batch.reset(rules, rules.cells, library)
    result = batch.step(rules, Rewards(), state, library.asarray(cells))
    assert as_numpy(result.terminated).all()
    assert as_numpy(result.reward).tolist() == [1.0] * rules.cells
    assert as_numpy(result.winner).tolist() == [0] * rules.cells


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_win_with_the_last_cell_is_no_draw(library: ModuleType) -> None:
    rules, state = Rules(), batch.reset(Rules(), 1, library)
    for cell in (0, 1, 2, 3, 4, 6, 5, 7):
        state = batch.step(rules, Rewards(), state, library.asarray([cell])).state
    last = batch.step(rules, Rewards(win=3.0, draw=7.0, loss=-2.0), state, library.asarray([8]))
    assert (last.reward.tolist(), last.other_reward.tolist(), last.winner.tolist()) == ([3.0], [-2.0], [0])


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_loser_of_a_shaped_game_is_charged_once(library: ModuleType) -> None:
    rules, state = Rules(), batch.reset(Rules(), 1, library)
    given: list[list[float]] = [[], []]
    for ply, cell in enumerate((0, 3, 1, 4, 2)):
        result = batch.step(rules, Rewards(), state, library.asarray([cell]))
        given[ply % 2] += result.reward.tolist()
        given[1 - ply % 2] += result.other_reward.tolist()
        state = result.state
    assert [reward for reward in given[0] if reward] == [1.0]
    assert [reward for reward in given[1] if reward] == [-1.0]


@pytest.mark.parametrize("library", LIBRARIES)
def test_restart_empties_the_ended_boards_only(library: ModuleType) -> None:
    rules, state = Rules(8, 8, 5), batch.reset(Rules(8, 8, 5), 3, library)
    for cell in (63, 0, 5):
        state = batch.step(rules, Rewards(), state, library.asarray([cell] * 3)).state
    before = [as_numpy(field).copy() for field in state]
    ended = library.asarray([False, True, False])
    restarted = batch.restart(state, ended)
    for field, old, unchanged in zip(restarted, before, state, strict=True):
        assert as_numpy(field).tolist() == [old[0], 0, old[2]]
        np.testing.assert_array_equal(as_numpy(unchanged), old)
        assert as_numpy(field).dtype == np.int64
    assert as_numpy(restarted.to_play).tolist() == [1, 0, 1]


@pytest.mark.parametrize("library", LIBRARIES)
def test_step_leaves_its_input_as_it_was(library: ModuleType) -> None:
    rules, state = Rules(), batch.reset(Rules(), 2, library)
    state = batch.step(rules, Rewards(), state, library.asarray([4, 4])).state
    before = [as_numpy(field).copy() for field in state]
    actions = library.asarray([4, 0])
    batch.step(rules, Rewards(), state, actions)
    for field, old in zip(state, before, strict=True):
        np.testing.assert_array_equal(as_numpy(field), old)
    assert actions.tolist() == [4, 0]


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
