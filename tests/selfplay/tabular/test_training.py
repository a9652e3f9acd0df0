"""The loop around the tabular learners plays what it should, evaluates on time, and reports what it has played."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.algorithms import ALGORITHMS
from selfplay.errors import UserError
from selfplay.tabular import learner as training
from selfplay.tabular.afterstate_q import AfterstateQ
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.kernels import DRAW, ILLEGAL
from selfplay.tabular.learner import TabularLearner, make_algorithm
from selfplay.tabular.minimax_q import MinimaxQ, one_table, read_table, write_table
from selfplay.tabular.outcomes import Counts, count, cumulative_counts, shares
from selfplay.tabular.players import MinimaxQPlayer
from selfplay.tabular.td_backup import TDBackup
from selfplay.tabular.td_value import TDValue
from selfplay.training.loop import Record, records
from tests.runs import read, refused
from tests.selfplay.decisions import ABSOLUTE

MINIMAX_Q = MinimaxQConfig(seed=1000, games=1_000, eval_every=400)
SHORT: list[TabularConfig] = [
    MINIMAX_Q,
    AfterstateQConfig(seed=1000, games=1_000, eval_every=400),
    TDValueConfig(seed=1000, games=1_000, eval_every=400),
    TDBackupConfig(seed=1000, games=1_000, greedy_games=700, eval_every=400),
]
EACH = pytest.mark.parametrize("config", SHORT, ids=lambda config: config.algorithm)


def trained(config: TabularConfig, report: Path | None = None) -> tuple[Any, list[Record]]:
    """Train to the end; return what has learned, of which there are four kinds, and its evaluations."""
    learner = TabularLearner(config)
    history = list(records(learner))
    if report is not None:
        learner.write_report(report)
    return learner.algorithm, history


def test_every_algorithm_has_a_learner_and_its_name() -> None:
    assert [config.algorithm for config in SHORT] == list(ALGORITHMS)[1:]
    assert all(kind.settings.algorithm == name for name, kind in ALGORITHMS.items())
    assert [type(make_algorithm(config)) for config in SHORT] == [MinimaxQ, AfterstateQ, TDValue, TDBackup]


@EACH
def test_evaluations_come_every_so_many_games_and_at_the_end(config: TabularConfig) -> None:
    learner, history = trained(config)
    greedy = [1_700] if isinstance(config, TDBackupConfig) else []
    assert [record.steps for record in history] == [400, 800, 1_000, *greedy]
    assert learner.games_played == history[-1].steps
    assert history[-1].evaluation == selfplay.evaluate(learner.player(), config.rules)
    assert history[0].evaluation != history[-1].evaluation
    seconds = [record.metrics["time/training_s"] for record in history]
    assert seconds == sorted(set(seconds))


@EACH
def test_the_seed_decides_every_bit_however_the_games_are_cut(
    config: TabularConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner, history = trained(config)
    monkeypatch.setattr(training, "SLICE", 77)
    same, same_records = trained(dataclasses.replace(config, eval_every=1_000))
    assert np.array_equal(learner.table, same.table)
    assert learner.rng.bit_generator.state == same.rng.bit_generator.state
    assert same_records[-1].evaluation == history[-1].evaluation
    other, _ = trained(dataclasses.replace(config, seed=1001))
    assert not np.array_equal(learner.table, other.table)


@EACH
def test_a_learner_that_has_played_already_plays_only_the_rest(config: TabularConfig) -> None:
    learner, _ = trained(config)
    resumed = TabularLearner(config)
    resumed.advance(300)
    assert [record.steps for record in records(resumed)][:3] == [400, 800, 1_000]
    assert np.array_equal(resumed.algorithm.table, learner.table)


CHANGES: list[list[dict[str, Any]]] = [
    [{"games": 900}, {"tables": "separate"}, {"alpha": 0.2}, {"gamma": 0.5}, {"epsilon": 0.3}],
    [
        *({"games": 900}, {"seat": 1}, {"seat": "none"}, {"alpha": 0.1}, {"gamma": 0.5}),
        *({"exploration": 0.3}, {"draw_reward": 0.2}),
    ],
    [
        *({"games": 900}, {"opponent": "heuristic"}, {"opponent": "optimal"}, {"opponent": "self"}),
        *({"alpha": 0.2}, {"exploration": 0.3}, {"back_up_losses": False}),
    ],
    [
        *({"games": 900}, {"greedy_games": 1}, {"rows": 2}, {"cols": 4}, {"k": 2}),
        *({"exploit": 0.5}, {"alpha": 0.2}, {"gamma": 0.5}, {"draw_first": 0.3}, {"draw_second": 0.3}),
    ],
]
"""Of the settings of each in `SHORT`."""


@pytest.mark.parametrize(
    ("config", "change"),
    [(config, change) for config, changes in zip(SHORT, CHANGES, strict=True) for change in changes],
    ids=lambda value: str(value) if isinstance(value, dict) else value.algorithm,
)
def test_every_setting_counts(config: TabularConfig, change: dict[str, Any]) -> None:
    learner, history = trained(config)
    other, others = trained(dataclasses.replace(config, **change))
    if learner.table.shape == other.table.shape:
        assert not np.array_equal(learner.table, other.table)
    else:
        assert history[-1].evaluation != others[-1].evaluation


def test_outcomes_are_counted_and_shared_out() -> None:
    counts = count(np.array([0, 0, DRAW, 1, ILLEGAL, ILLEGAL + 1, ILLEGAL + 1, 0], dtype=np.int8))
    assert counts == Counts(draws=1, first_wins=3, second_wins=1, first_illegal=1, second_illegal=2)
    assert shares(counts) == {
        "games/first_wins": 5 / 8,
        "games/second_wins": 2 / 8,
        "games/draws": 1 / 8,
        "games/illegal": 3 / 8,
    }
    assert set(shares(Counts()).values()) == {0}


@EACH
def test_the_records_tell_how_the_games_since_the_one_before_have_ended(config: TabularConfig) -> None:
    _, history = trained(config)
    learner = make_algorithm(config)
    learner.play(400)
    assert {tag: history[1].metrics[tag] for tag in shares(Counts())} == shares(count(learner.play(400)))
    if isinstance(config, MinimaxQConfig):
        assert history[1].metrics["games/illegal"] > 0.5


def test_minimax_q_starts_from_a_table_and_leaves_one(tmp_path: Path) -> None:
    learner, _ = trained(MINIMAX_Q, tmp_path)
    assert np.array_equal(read_table(tmp_path / "table.csv"), learner.table[0])
    as_it_is = dataclasses.replace(MINIMAX_Q, games=0, from_table=tmp_path / "table.csv")
    for config in (as_it_is, dataclasses.replace(as_it_is, tables="separate")):
        loaded, history = trained(config)
        assert [record.steps for record in history] == [0]
        assert history[0].evaluation == selfplay.evaluate(learner.player(), learner.rules)
        assert all(np.array_equal(table, learner.table[0]) for table in loaded.table)
    further, _ = trained(dataclasses.replace(MINIMAX_Q, from_table=tmp_path / "table.csv"))
    assert not np.array_equal(further.table, learner.table)
    unseen = learner.table[0] == make_algorithm(MINIMAX_Q).table[0]
    assert (further.table[0][unseen] == learner.table[0][unseen]).mean() > 0.9


def test_a_table_to_start_from_must_be_one(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("1,2\n")
    for name, message in (("q.csv", "line 1: must hold 9 numbers, but holds 2"), ("none.csv", "cannot be read")):
        assert message in refused(make_algorithm, MinimaxQConfig(from_table=tmp_path / name))


def test_separate_tables_are_written_as_one_that_plays_the_same(tmp_path: Path) -> None:
    learner, _ = trained(dataclasses.replace(MINIMAX_Q, tables="separate"))
    write_table(tmp_path / "table.csv", one_table(learner.table))
    one = MinimaxQPlayer(read_table(tmp_path / "table.csv")[None])
    assert np.array_equal(one.q_values(ABSOLUTE), learner.player().q_values(ABSOLUTE))
    first_alone = MinimaxQPlayer(learner.table[:1])
    assert not np.array_equal(first_alone.act(ABSOLUTE), learner.player().act(ABSOLUTE))


def last_line(lines: list[dict[str, str]], match_up: str) -> tuple[int, ...]:
    line = [line for line in lines if line["match_up"] == match_up][-1]
    return tuple(int(line[name]) for name in ("game", "first_wins", "second_wins", "draws"))


def test_afterstate_q_reports_the_three_match_ups(tmp_path: Path) -> None:
    _, history = trained(dataclasses.replace(SHORT[1], eval_every=1_000), tmp_path)
    lines = read(tmp_path / "curves.csv")
    assert len(lines) == 3 * 1_000
    game, first, second, draws = last_line(lines, "learner against random")
    assert (game, first + second + draws) == (1_000, 1_000)
    assert history[-1].metrics["games/first_wins"] == first / game  # the games of the report are those of the run
    assert last_line(lines, "random against random")[1] < first
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_td_value_reports_its_games_by_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, history = trained(dataclasses.replace(SHORT[2], eval_every=1_000), tmp_path)
    lines = read(tmp_path / "curves.csv")
    first, second = (last_line(lines, name) for name in ("learner against random", "random against learner"))
    assert first[0] == second[0] == 500
    assert history[-1].metrics["games/first_wins"] == (first[1] + second[1]) / 1_000
    assert first[1] > second[1]

    config = TDValueConfig(seed=1000, opponent="self", games=1_000)
    monkeypatch.setattr(training, "CURVE_GAMES", 300)
    ((name, counts),) = training.learning_curves(config).items()
    assert name == "learner against learner"
    assert np.array_equal(counts[0], cumulative_counts(TDValue(config).play(300)))
    assert list(training.learning_curves(TDValueConfig(games=1))) == ["learner against random"]


@pytest.mark.parametrize(("greedy_games", "last"), [(700, [500, 700]), (20_000, [*range(1_000, 20_001, 1_000)])])
def test_td_backup_reports_its_greedy_games_in_groups(greedy_games: int, last: list[int], tmp_path: Path) -> None:
    _, history = trained(TDBackupConfig(seed=1000, games=1_000, greedy_games=greedy_games), tmp_path)
    lines = read(tmp_path / "groups.csv")
    assert [int(line["last_game"]) for line in lines] == last
    assert sum(int(line["draws"]) for line in lines) / greedy_games == history[-1].metrics["games/draws"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["groups.csv", "groups.png", "values.png"]


def test_td_backup_plays_its_greedy_games_last() -> None:
    config = TDBackupConfig(seed=1000, games=1_000, greedy_games=700)
    learner, _ = trained(config)
    by_hand = TDBackup(config)
    by_hand.play(1_000)
    by_hand.play_greedily(700)
    assert isinstance(learner, TDBackup)
    assert np.array_equal(by_hand.greedy_outcomes, learner.greedy_outcomes)
    assert np.array_equal(by_hand.table, learner.table)


@EACH
def test_values_that_are_no_longer_finite_are_not_settled(config: TabularConfig) -> None:
    learner = TabularLearner(config)
    learner.advance(100)
    learner.check_finite()
    for number in (np.nan, np.inf, -np.inf):
        learner.algorithm.table.flat[-1] = number
        with pytest.raises(UserError, match="the values are no longer finite numbers; start from smaller ones"):
            learner.check_finite()


def test_no_player_is_kept_of_a_table_that_overflows(tmp_path: Path) -> None:
    signs = np.random.default_rng(1000).choice([-1, 1], (3**9, 9))
    write_table(tmp_path / "table.csv", 1.7e308 * signs)
    config = MinimaxQConfig(games=400, eval_every=200, from_table=tmp_path / "table.csv", run_dir=tmp_path / "it")
    with pytest.raises(UserError, match="the values are no longer finite numbers"):
        selfplay.train(config)
    assert (tmp_path / "it" / "metrics.jsonl").read_bytes() == b""
    assert not (tmp_path / "it" / "model.safetensors").exists()


def test_greedy_games_are_settled_too(monkeypatch: pytest.MonkeyPatch) -> None:
    play = TDBackup.play_greedily

    def overflow(algorithm: TDBackup, games: int) -> Any:
        outcomes = play(algorithm, games)
        algorithm.table[0] = np.inf
        return outcomes

    monkeypatch.setattr(TDBackup, "play_greedily", overflow)
    played = records(TabularLearner(TDBackupConfig(games=100, eval_every=100, greedy_games=10)))
    assert next(played).steps == 100
    with pytest.raises(UserError, match="the values are no longer finite numbers"):
        next(played)
