"""What the functions on arrays promise beyond the rules; and that they play as the environments do."""

from dataclasses import asdict
from types import ModuleType

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.driver import EXACT, TURN, random_actions
from tests.variants import VARIANTS
from tictactoe import Rewards, Rules, batch

OTHER_REWARD = dict(EXACT.of_event.values())
"""The reward of the other seat by that of the seat that moved, which all differ."""
LIBRARIES = [pytest.param(np, id="numpy"), pytest.param(torch, id="torch")]


def test_a_board_beyond_a_word_is_refused() -> None:
    with pytest.raises(ValueError, match=r"5x13 .*\b65\b"):
        batch.reset(Rules(5, 13, 5), 4, np)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
def test_actions_may_be_of_any_integer_type(library: ModuleType, dtype: str) -> None:
    rules, cell = Rules(8, 8, 5), 40
    for actions in (library.asarray([cell], dtype=getattr(library, dtype)), np.array([cell], dtype), [cell]):
        result = batch.step(rules, Rewards(), batch.reset(rules, 1, library), actions)
        assert isinstance(result.illegal, type(result.state.opponent))
        assert int(result.state.opponent[0]) == 1 << cell


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("rules", [Rules(), Rules(4, 5, 4), Rules(8, 8, 5), *VARIANTS], ids=str)
def test_many_boards_are_played_as_in_the_vector_environment(
    rules: Rules, perspective: str, library: ModuleType
) -> None:
    rng = np.random.default_rng(0)
    settings = {**asdict(rules), "perspective": perspective, "rewards": EXACT}
    env = gymnasium.make_vec(TURN, num_envs=32, autoreset_mode="Disabled", **settings)
    (_, info), state = env.reset(), batch.reset(rules, 32, library)
    for _ in range(min(2 * rules.cells, 60)):
        actions = random_actions(info["action_mask"], rng)
        batch.step(rules, EXACT, state, library.asarray(actions))  # changes nothing
        step = batch.step(rules, EXACT, state, library.asarray(actions))
        seen, reward, over, _, info = env.step(actions)
        known = (reward, over, info["winner"], info["illegal"])
        for part, expected in zip((step.reward, *step[3:]), known, strict=True):
            np.testing.assert_array_equal(part, expected)
        np.testing.assert_array_equal(step.other_reward, [OTHER_REWARD[value] for value in reward.tolist()])
        assert step.reward.dtype == step.other_reward.dtype == library.zeros(1, dtype=library.float32).dtype
        np.testing.assert_array_equal(batch.observe(rules, step.state, perspective), seen)
        state = batch.restart(step.state, step.terminated)
        if over.any():
            _, info = env.reset(options={"reset_mask": over})
        np.testing.assert_array_equal(batch.action_mask(rules, state), info["action_mask"])
        np.testing.assert_array_equal(state.to_play, info["to_play"])
