"""What the functions on arrays promise beyond the rules; and that they play as the environments do."""

from types import ModuleType

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.driver import EXACT, TURN, Size, random_actions, sized
from tictactoe import Rewards, Rules, batch

LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [(5, 13, 5), (9, 9, 5), (1, 65, 3)], ids=str)
def test_a_board_beyond_a_word_is_refused(size: tuple[int, int, int], library: ModuleType) -> None:
    rows, cols, _ = size
    with pytest.raises(ValueError, match=f"64-bit word.*a {rows}x{cols} board has {rows * cols} cells; .*'sync'"):
        batch.reset(Rules(*size), 4, library)


@pytest.mark.parametrize("library", LIBRARIES)
def test_an_unknown_perspective_is_named(library: ModuleType) -> None:
    with pytest.raises(ValueError, match=r"'mine'.*absolute, mover"):
        batch.observe(Rules(), batch.reset(Rules(), 1, library), "mine")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_actions_may_be_of_any_integer_type(library: ModuleType, dtype: str) -> None:
    rules, cell = Rules(8, 8, 5), 40
    for actions in (library.asarray([cell], dtype=getattr(library, dtype)), np.array([cell], dtype), [cell]):
        result = batch.step(rules, Rewards(), batch.reset(rules, 1, library), actions)
        assert isinstance(result.illegal, type(result.state.opponent))
        assert int(result.state.opponent[0]) == 1 << cell


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("size", "perspective"), [((3, 3, 3), "mover"), ((4, 5, 4), "absolute"), ((8, 8, 5), "mover")])
def test_many_boards_are_played_as_in_the_vector_environment(size: Size, perspective: str, library: ModuleType) -> None:
    rules, rng = Rules(*size), np.random.default_rng(0)
    settings = {**sized(size), "perspective": perspective, "rewards": EXACT}
    env = gymnasium.make_vec(TURN, num_envs=32, autoreset_mode="Disabled", **settings)
    (_, info), state = env.reset(), batch.reset(rules, 32, library)
    for _ in range(min(2 * rules.cells, 60)):
        actions = random_actions(info["action_mask"], rng)
        batch.step(rules, EXACT, state, library.asarray(actions))  # changes nothing
        step = batch.step(rules, EXACT, state, library.asarray(actions))
        seen, reward, over, _, info = env.step(actions)
        beaten = np.where(info["winner"] < 0, 0.0, np.where(info["illegal"], 0.0, EXACT.loss))
        for part, known in zip(step[1:], (reward, beaten, over, info["winner"], info["illegal"]), strict=True):
            np.testing.assert_array_equal(part, known)
        assert step.reward.dtype == step.other_reward.dtype == library.zeros(1, dtype=library.float32).dtype
        np.testing.assert_array_equal(batch.observe(rules, step.state, perspective), seen)
        state = batch.restart(step.state, step.terminated)
        if over.any():
            _, info = env.reset(options={"reset_mask": over})
        np.testing.assert_array_equal(batch.action_mask(rules, state), info["action_mask"])
        np.testing.assert_array_equal(state.to_play, info["to_play"])
