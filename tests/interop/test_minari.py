"""Minari records games, infos included, and gives back from its files what was played, and the environment.

It records with jax, which takes more room than all that the tests install but torch, and is not installed beside them.
Run it by `tests/interop/run minari`.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

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


class Game(NamedTuple):
    """Hold what a game has shown."""

    observations: list[Any]
    """[T + 1], the one of `reset` first."""
    infos: list[dict[str, Any]]
    """[T + 1]"""
    actions: list[int]
    """[T]"""
    rewards: list[float]
    """[T]"""
    terminations: list[bool]
    """[T]"""


def play(env: gymnasium.Env[Any, Any], seed: int, cells: list[int] | None = None) -> Game:
    """Play a game of the given cells, or of random ones, of which the last is sometimes taken."""
    generator = np.random.default_rng(seed)
    observation, info = env.reset(seed=seed)
    game = Game([observation], [info], [], [], [])
    terminated = False
    while not terminated:
        if cells is not None:
            cell = cells[len(game.actions)]
        elif generator.random() < 0.1:
            cell = int(generator.integers(len(info["action_mask"])))
        else:
            cell = int(generator.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(cell)
        assert not truncated
        columns: tuple[list[Any], ...] = tuple(game)
        for column, value in zip(columns, (observation, info, cell, reward, terminated), strict=True):
            column.append(value)
    return game


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
    played = [play(recorder, seed) for seed in range(GAMES)]
    about = ("algorithm_name", "author", "author_email", "code_permalink", "description")
    recorder.create_dataset("tictactoe/games-v0", **dict.fromkeys(about, "random games"))
    dataset = minari.load_dataset("tictactoe/games-v0")

    assert dataset.total_episodes == GAMES
    assert dataset.total_steps == sum(len(game.actions) for game in played)
    for episode, game in zip(dataset.iterate_episodes(), played, strict=True):
        assert_stacked(episode.observations, game.observations)
        assert_stacked(episode.infos, game.infos)
        assert episode.actions.tolist() == game.actions
        assert episode.rewards.tolist() == game.rewards
        assert episode.terminations.tolist() == game.terminations
        assert not episode.truncations.any()
    endings = {(int(game.infos[-1]["winner"]), bool(game.infos[-1]["illegal"])) for game in played}
    assert {illegal for _, illegal in endings} == {False, True}

    recovered = dataset.recover_environment()
    assert type(recovered.unwrapped) is type(recorder.unwrapped)
    assert recovered.spec.kwargs == SETTINGS[env_id]
    assert recovered.observation_space == dataset.observation_space == recorder.observation_space
    assert recovered.action_space == dataset.action_space == recorder.action_space
    for seed, game in enumerate(played):
        assert data_equivalence(tuple(play(recovered, seed, game.actions)), tuple(game), exact=True)


if __name__ == "__main__":
    sys.exit(pytest.main(["-q", __file__]))
