"""PettingZoo's own tests, with our environment in the place of all of its environments.

Its tests import its games, which need much else to be installed. Here its tic-tac-toe is ours, and its other games are
missing; a test that goes over many games goes over our settings. Below are tests for the checks and wrappers that its
own tests try with no such game, and for the wrappers of SuperSuit. Counted are the tests in which a game of ours is
made.
Run it by `tests/interop/run pettingzoo_suite`.
"""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any, TypeAlias

import gymnasium
import numpy as np
import pytest
import supersuit
from pettingzoo.test import api_test, bombardment_test, performance_benchmark, seed_test
from pettingzoo.utils.wrappers import MultiEpisodeEnv, OrderEnforcingWrapper
from suites import Reason, apart, fetch_tests, run_tests

from tictactoe import tictactoe_v0
from tictactoe.envs.turn import TicTacToeEnv

URL = "https://github.com/Farama-Foundation/PettingZoo"
FAMILIES = ("atari", "butterfly", "classic", "sisl")
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"perspective": "mover", "rewards": "sparse"},
    {"rows": 4, "cols": 5, "k": 4, "rewards": "article"},
)
OTHERS = ("doc_examples_test.py", "specific_env_test.py")
"""Tests of PettingZoo's documentation and of its chess."""
REASONS = (
    Reason(
        "the check takes no observation that has a mask beside it",
        "'dict' object has no attribute 'shape'",
        ("test_bombardment",),
    ),
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


class InPlace:
    """Put our environment in the place of all others, before the tests are collected."""

    def __init__(self) -> None:
        for family in FAMILIES:
            sys.modules[f"pettingzoo.{family}"] = Family(f"pettingzoo.{family}")
        every = ModuleType("pettingzoo.utils.all_modules")
        every.all_environments = {"classic/tictactoe_v0": tictactoe_v0}  # type: ignore[attr-defined]
        sys.modules[every.__name__] = every

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Let a test that takes a game's module take ours, with each of our settings where it takes settings."""
        for mark in metafunc.definition.iter_markers("parametrize"):
            names, values = mark.args
            names = [names] if isinstance(names, str) else list(names)
            if "env_module" in names:
                ours = {"name": "classic/tictactoe_v0", "env_module": tictactoe_v0}
                rows = [{**ours, "kwargs": settings} for settings in (SETTINGS if "kwargs" in names else SETTINGS[:1])]
                values[:] = [[row[name] for name in names] if len(names) > 1 else row[names[0]] for row in rows]


class Family(ModuleType):
    """Hold our module under the name of PettingZoo's tic-tac-toe, and an empty one under that of any other game."""

    def __getattr__(self, name: str) -> ModuleType:
        if name.startswith("__"):
            raise AttributeError(name)
        return tictactoe_v0 if name.startswith("tictactoe") else ModuleType(name)


def test_bombardment() -> None:
    bombardment_test(tictactoe_v0.env(), cycles=500)


def test_performance_benchmark() -> None:
    performance_benchmark(tictactoe_v0.env())


@pytest.mark.parametrize("episodes", [1, 3])
def test_many_games_as_one(episodes: int) -> None:
    game = MultiEpisodeEnv(OrderEnforcingWrapper(tictactoe_v0.env()), num_episodes=episodes)
    game.reset(seed=0)
    plies = 0
    for _ in game.agent_iter():
        observation, _, terminated, truncated, _ = game.last()
        game.step(None if terminated or truncated else int(observation["action_mask"].argmax()))
        plies += not terminated
    assert plies == 7 * episodes  # the first empty cell each time: X ends the game with the third diagonal cell, 6


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


def run_in(folder: Path) -> bool:
    """Run the tests in a folder, and those of this file; tell whether every failure is explained."""
    os.chdir(folder)
    os.environ.update(SDL_VIDEODRIVER="dummy", SDL_AUDIODRIVER="dummy")
    sys.path.insert(0, str(folder))
    chosen = ["--override-ini", "python_files=*test*.py", *(f"--ignore=test/{name}" for name in OTHERS)]
    ours = [tictactoe_v0.raw_env, TicTacToeEnv]
    explained: bool = run_tests("tictactoe_v0", ours, [*chosen, "test", __file__], InPlace(), REASONS)
    return explained


def main() -> int:
    """Run the tests of the installed version, and return the exit status."""
    tag = version("pettingzoo")
    with TemporaryDirectory() as place:
        folder = Path(place) / "pettingzoo"
        fetch_tests(URL, tag, ["test"], folder)
        print(f"PettingZoo's tests at {tag}, gymnasium {version('gymnasium')}, SuperSuit {version('supersuit')}")
        return 0 if apart(run_in, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
