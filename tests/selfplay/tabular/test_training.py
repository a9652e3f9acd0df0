"""The loop around the tabular learners plays what it should, evaluates on time, and reports what it has played."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.errors import UserError
from selfplay.learning.api import ALGORITHMS
from selfplay.learning.loop import Record, train
from selfplay.tabular import learners
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MinimaxQ, TDValue, make_learner
from selfplay.tabular.results import count, cumulative_counts, shares
from selfplay.tabular.table_csv import read_table
from tests.runs import read

MINIMAX_Q = MinimaxQConfig(seed=1000, games=1_000, eval_every=400)
SHORT: list[TabularConfig] = [
    MINIMAX_Q,
    AfterstateQConfig(seed=1000, games=1_000, eval_every=400),
    TDValueConfig(seed=1000, games=1_000, eval_every=400),
    TDBackupConfig(seed=1000, games=1_000, greedy_games=700, eval_every=400),
]
EACH = pytest.mark.parametrize("config", SHORT, ids=lambda config: config.algorithm)


def trained(config: TabularConfig, report: Path | None = None) -> tuple[Any, list[Record]]:
    """Train to the end; return the learner, of four kinds, and its evaluations."""
    learner = make_learner(config)
    history = list(train(learner))
    if report is not None:
        learner.write_report(report)
    return learner, history


def test_every_algorithm_is_tested() -> None:
    assert [config.algorithm for config in SHORT] == list(ALGORITHMS)[1:]


@EACH
def test_evaluations_come_on_time_and_tell_how_the_games_since_the_last_one_ended(config: TabularConfig) -> None:
    learner, history = trained(config)
    greedy = [1_700] if isinstance(config, TDBackupConfig) else []
    assert [record.steps for record in history] == [400, 800, 1_000, *greedy]
    assert learner.steps == history[-1].steps
    assert history[-1].evaluation == selfplay.evaluate(learner.player(), config.rules)
    assert history[0].evaluation != history[-1].evaluation
    seconds = [record.metrics["time/training_s"] for record in history]
    assert seconds == sorted(set(seconds))

    again = make_learner(config)
    again.play(400)
    expected = shares(count(again.play(400)))
    assert {tag: history[1].metrics[tag] for tag in expected} == expected
    assert (expected["games/illegal"] > 0.5) == isinstance(config, MinimaxQConfig)


def test_minimax_q_starts_from_a_table_and_leaves_one(tmp_path: Path) -> None:
    learner, _ = trained(MINIMAX_Q, tmp_path)
    assert np.array_equal(read_table(tmp_path / "table.csv"), learner.table)
    loaded, history = trained(dataclasses.replace(MINIMAX_Q, games=0, from_table=tmp_path / "table.csv"))
    assert [record.steps for record in history] == [0]
    assert history[0].evaluation == selfplay.evaluate(learner.player(), learner.rules)
    assert np.array_equal(loaded.table, learner.table)
    assert [record.steps for record in trained(dataclasses.replace(MINIMAX_Q, games=1))[1]] == [1]


def last_line(path: Path, match_up: str) -> tuple[int, ...]:
    line = [line for line in read(path) if line["match_up"] == match_up][-1]
    return tuple(int(line[name]) for name in ("game", "first_wins", "second_wins", "draws"))


def test_ctrl_c_waits_for_no_more_games_than_a_slice_and_curves_show_no_more_than_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learners, "SLICE", 100)
    monkeypatch.setattr(learners, "CURVE_GAMES", 300)
    learner = make_learner(SHORT[1])
    learner.advance(1_000)
    assert learner.steps == 100
    learner.advance(50)
    assert learner.steps == 150
    learner.write_report(tmp_path)
    assert len(read(tmp_path / "curves.csv")) == 3 * 300


def test_afterstate_q_reports_the_three_match_ups(tmp_path: Path) -> None:
    _, history = trained(dataclasses.replace(SHORT[1], eval_every=1_000), tmp_path)
    assert len(read(tmp_path / "curves.csv")) == 3 * 1_000
    game, first, second, draws = last_line(tmp_path / "curves.csv", "learner against random")
    assert (game, first + second + draws) == (1_000, 1_000)
    assert history[-1].metrics["games/first_wins"] == first / game  # the games of the report are those of the run
    assert last_line(tmp_path / "curves.csv", "random against random")[1] < first
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_td_value_reports_its_games_by_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, history = trained(dataclasses.replace(SHORT[2], eval_every=1_000), tmp_path)
    match_ups = "learner against random", "random against learner"
    first, second = (last_line(tmp_path / "curves.csv", name) for name in match_ups)
    assert first[0] == second[0] == 500
    assert history[-1].metrics["games/first_wins"] == (first[1] + second[1]) / 1_000
    assert first[1] > second[1]

    config = TDValueConfig(seed=1000, opponent="self", games=1_000)
    monkeypatch.setattr(learners, "CURVE_GAMES", 300)
    ((name, counts),) = learners.learning_curves(config).items()
    assert name == "learner against learner"
    assert np.array_equal(counts[0], cumulative_counts(TDValue(config).play(300)))
    assert list(learners.learning_curves(TDValueConfig(games=1))) == ["learner against random"]


@pytest.mark.parametrize(("greedy_games", "last"), [(700, [500, 700]), (20_000, [*range(1_000, 20_001, 1_000)])])
def test_td_backup_reports_its_greedy_games_in_groups(greedy_games: int, last: list[int], tmp_path: Path) -> None:
    _, history = trained(TDBackupConfig(seed=1000, games=1_000, greedy_games=greedy_games), tmp_path)
    lines = read(tmp_path / "groups.csv")
    assert [int(line["last_game"]) for line in lines] == last
    assert [int(line["first_game"]) for line in lines] == [1, *(game + 1 for game in last[:-1])]
    assert sum(int(line["draws"]) for line in lines) / greedy_games == history[-1].metrics["games/draws"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["groups.csv", "groups.png", "values.png"]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_values_that_are_no_longer_finite_are_refused(number: float) -> None:
    learner = MinimaxQ(MINIMAX_Q)
    learner.check_finite()
    learner.table.flat[-1] = number
    with pytest.raises(UserError, match="the values are no longer finite numbers; start from smaller ones"):
        learner.check_finite()
