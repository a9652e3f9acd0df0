"""Both vector environments refuse what is no action, no reset mask and no setting, and then change nothing."""

import inspect
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.shared import TURN, VERSUS, assert_same
from tictactoe.envs.vector import TicTacToeVectorEnv
from tictactoe.envs.versus_vector import TicTacToeVersusVectorEnv

BAD_ACTIONS = {
    "float": np.zeros(3),
    "nan": np.full(3, np.nan),
    "flags": np.zeros(3, bool),
    "negative": np.array([0, -1, 0]),
    "too large": np.array([0, 9, 0]),
    "huge": [0, 2**200, 0],
    "huge unsigned": np.array([0, 2**64 - 1, 0], np.uint64),
    "one missing": np.zeros(2, int),
    "one axis too many": np.zeros((3, 1), int),
    "a number": 4,
    "ragged": [[0], [1, 2], 3],
    "none": None,
    "text": "abc",
}


@pytest.mark.parametrize("actions", BAD_ACTIONS.values(), ids=BAD_ACTIONS)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_what_is_no_cell_is_refused_and_changes_nothing(env_id: str, actions: Any) -> None:
    env, twin = (gymnasium.make_vec(env_id, num_envs=3) for _ in range(2))
    env.reset(seed=0), twin.reset(seed=0)
    with pytest.raises(gymnasium.error.InvalidAction, match="actions must be"):
        env.step(actions)
    for ours, theirs in zip(env.step([4, 4, 4]), twin.step([4, 4, 4]), strict=True):
        assert_same(ours, theirs)


def test_a_wrong_action_names_its_board() -> None:
    env = gymnasium.make_vec(TURN, num_envs=3)
    env.reset()
    with pytest.raises(gymnasium.error.InvalidAction, match="from 0 to 8, got -7 for board 2"):
        env.step([0, 1, -7])


def test_any_integer_will_do_where_a_new_game_starts() -> None:
    env = gymnasium.make_vec(TURN, num_envs=2)
    env.reset()
    env.step([0, 0])
    env.step([0, 1])  # ends the first board's game
    _, reward, terminated, _, info = env.step([-1, 2])
    assert (reward[0], terminated[0], info["action_mask"][0].sum()) == (0.0, False, 9)
    with pytest.raises(gymnasium.error.InvalidAction):
        env.step([-1, 3])


@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_there_is_no_step_without_a_game(env_id: str) -> None:
    env = gymnasium.make_vec(env_id, num_envs=2, autoreset_mode="Disabled")
    assert env.unwrapped.action_masks().tolist() == [[1] * 9] * 2  # type: ignore[attr-defined]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step([0, 0])
    with pytest.raises(gymnasium.error.ResetNeeded, match="without a reset_mask"):
        env.reset(options={"reset_mask": np.array([True, False])})
    env.reset(seed=0)
    taken = env.reset(options={"reset_mask": np.array([True, False])})[1]["action_mask"].argmin(axis=1)
    env.step([0, 0])
    env.step([0, 0]) if env_id == TURN else env.step([0, int(taken[1])])
    with pytest.raises(gymnasium.error.ResetNeeded, match="games are over, the first on board 0"):
        env.step([1, 1])


@pytest.mark.parametrize("mask", [[True, False], np.ones(2), np.ones(3, bool), np.zeros(2, bool)], ids=repr)
def test_a_wrong_reset_mask_is_refused(mask: Any) -> None:
    env = gymnasium.make_vec(TURN, num_envs=2)
    env.reset()
    with pytest.raises(ValueError, match="reset_mask"):
        env.reset(options={"reset_mask": mask})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"num_envs": 0}, "num_envs must be a positive integer, got 0"),
        ({"num_envs": 2, "autoreset_mode": "Never"}, "unknown autoreset_mode 'Never': choose from NextStep, SameStep"),
        ({"num_envs": 2, "max_episode_steps": 0}, "max_episode_steps must be a positive integer, got 0"),
        ({"num_envs": 2, "max_episode_steps": 2.5}, "max_episode_steps must be a positive integer, got 2.5"),
        ({"num_envs": 2, "rows": 9, "cols": 9}, "81 cells; only environments of a single board take it"),
        ({"num_envs": 2, "perspective": "god"}, "unknown perspective"),
    ],
)
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_settings_that_do_not_exist_are_refused(env_id: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gymnasium.make_vec(env_id, **settings)


@pytest.mark.parametrize("kind", [TicTacToeVectorEnv, TicTacToeVersusVectorEnv])
def test_the_settings_are_seen_and_a_misspelt_one_names_the_class(kind: Any) -> None:
    asked = set(inspect.signature(kind).parameters)
    assert asked >= {"num_envs", "autoreset_mode", "max_episode_steps", "rows", "cols", "k", "rewards", "perspective"}
    assert asked >= {"dict_observation", "render_mode"}
    with pytest.raises(TypeError, match=f"{kind.__name__}.*'row'"):
        kind(row=4)
