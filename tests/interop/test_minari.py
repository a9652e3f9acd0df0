"""Minari records games, infos included, and gives back from its files what was played, and the environment.

It records with jax, which takes more room than all that the tests install but torch, and is not installed beside them.
Run it by `tests/interop/run minari`.
"""

import os
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence

minari = pytest.importorskip("minari", reason="Minari is not installed beside the tests: run it by tests/interop/run")
pytest.importorskip("jax", reason="Minari records with jax")

GAMES = 12
TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"
SETTINGS: dict[str, dict[str, Any]] = {
    TURN: {"rows": 3, "cols": 4, "k": 3, "perspective": "mover", "rewards": "sparse"},
    VERSUS: {"opponent": "heuristic", "seat": "random", "dict_observation": True},
}


def play(env: gymnasium.Env[Any, Any], seed: int) -> tuple[list[Any], ...]:
    """Play a game of random cells, some of them taken; return observations and infos [T + 1], and other columns [T]."""
    generator = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    observations, infos, plies = [observation], [info], []
    terminated = False
    while not terminated:
        mask = info["action_mask"]
        action = int(generator.choice(np.flatnonzero(mask) if generator.random() < 0.9 else len(mask)))
        observation, reward, terminated, _, info = env.step(action)
        observations.append(observation)
        infos.append(info)
        plies.append((action, float(reward), terminated))
    return observations, infos, *map(list, zip(*plies, strict=True))


def assert_stacked(recorded: Any, shown: list[Any]) -> None:
    """Compare what Minari keeps, arrays or dicts of arrays over the steps, with the value of each step."""
    if isinstance(shown[0], dict):
        assert recorded.keys() == shown[0].keys()
        for key, values in recorded.items():
            assert_stacked(values, [step[key] for step in shown])
    else:
        expected = np.stack(shown)
        assert recorded.dtype == expected.dtype
        np.testing.assert_array_equal(recorded, expected)


@pytest.mark.filterwarnings("ignore:Implicitly cleaning up:ResourceWarning")  # Minari's folder for what it records
@pytest.mark.filterwarnings("ignore:`eval_env` is set to None")  # that of the recording is the one
@pytest.mark.parametrize("env_id", [TURN, VERSUS])
def test_a_recorded_game_is_the_played_one(env_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    recorder = minari.DataCollector(gymnasium.make(env_id, **SETTINGS[env_id]), record_infos=True)
    games = [play(recorder, seed) for seed in range(GAMES)]
    about = ("algorithm_name", "author", "author_email", "code_permalink", "description")
    recorder.create_dataset("tictactoe/games-v0", **dict.fromkeys(about, "random games"))
    dataset = minari.load_dataset("tictactoe/games-v0")

    assert dataset.total_episodes == GAMES
    for episode, (observations, infos, *columns) in zip(dataset.iterate_episodes(), games, strict=True):
        assert_stacked(episode.observations, observations)
        assert_stacked(episode.infos, infos)
        recorded = episode.actions, episode.rewards, episode.terminations
        assert [column.tolist() for column in recorded] == columns
        assert not episode.truncations.any()
    assert {bool(infos[-1]["illegal"]) for _, infos, *_ in games} == {False, True}

    recovered = dataset.recover_environment()
    assert type(recovered.unwrapped) is type(recorder.unwrapped)
    assert recovered.spec.kwargs == SETTINGS[env_id]
    assert dataset.observation_space == recorder.observation_space
    assert dataset.action_space == recorder.action_space
    for seed, game in enumerate(games):
        assert data_equivalence(play(recovered, seed), game, exact=True)


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", "-c", os.devnull, "--noconftest", __file__]))
