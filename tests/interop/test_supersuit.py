"""Try SuperSuit's wrappers on our environments.

Run it by `tests/interop/run supersuit`.
"""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from tictactoe import tictactoe_v0

supersuit = pytest.importorskip(
    "supersuit", reason="SuperSuit is not installed beside the tests: run it by tests/interop/run"
)

Wrapper: TypeAlias = Callable[[Any], Any]
BESIDE_OBSERVATIONS: Mapping[str, Wrapper] = {
    "clip_reward": supersuit.clip_reward_v0,
    "delay_observations": partial(supersuit.delay_observations_v0, delay=2),
    "frame_skip": partial(supersuit.frame_skip_v0, num_frames=2),
    "nan_noop": partial(supersuit.nan_noop_v0, no_op_action=0),
    "nan_random": supersuit.nan_random_v0,
    "reward_lambda": partial(supersuit.reward_lambda_v0, change_reward_fn=lambda reward: reward / 10),
    "sticky_actions": partial(supersuit.sticky_actions_v0, repeat_action_probability=0.5),
}
"""Wrappers of SuperSuit that take any observation."""
OF_OBSERVATIONS: Mapping[str, Wrapper] = {
    "dtype": partial(supersuit.dtype_v0, dtype=np.float32),
    "flatten": supersuit.flatten_v0,
    "frame_stack": partial(supersuit.frame_stack_v1, stack_size=2),
    "max_observation": partial(supersuit.max_observation_v0, memory=2),
    "normalize_obs": lambda game: supersuit.normalize_obs_v0(supersuit.dtype_v0(game, np.float32)),
    "reshape": partial(supersuit.reshape_v0, shape=(9, 3)),
}
"""Wrappers of SuperSuit that take no observation with a mask beside it, as all of PettingZoo's board games have."""


@pytest.mark.parametrize("wrapper", BESIDE_OBSERVATIONS.values(), ids=BESIDE_OBSERVATIONS)
def test_supersuit_for_two_agents(wrapper: Wrapper) -> None:
    api_test(wrapper(tictactoe_v0.env()), num_cycles=100)
    seed_test(lambda: wrapper(tictactoe_v0.env()), num_cycles=100)


@pytest.mark.parametrize("wrapper", [*BESIDE_OBSERVATIONS.values(), *OF_OBSERVATIONS.values()])
@pytest.mark.parametrize("env_id", ["TicTacToe-v0", "TicTacToeVersus-v0"])
def test_supersuit_for_one_agent(env_id: str, wrapper: Wrapper) -> None:
    game = wrapper(gymnasium.make(env_id))
    observation, info = game.reset(seed=0)
    assert observation in game.observation_space
    terminated = False
    while not terminated:
        observation, reward, terminated, truncated, info = game.step(int(info["action_mask"].argmax()))
        assert observation in game.observation_space
        assert np.isfinite(reward)
        assert not truncated


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-c", os.devnull, "--noconftest", __file__]))
