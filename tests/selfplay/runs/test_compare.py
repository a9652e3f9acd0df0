"""The comparison of ordinary runs: their names, what differs in their settings, and their results."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.cli import report as command
from selfplay.dqn.config import DQNConfig
from selfplay.runs.compare import compare, short_name
from selfplay.runs.loop import Record, count_lapses
from selfplay.settings import RunSettings
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig
from tests.runs import refused
from tictactoe import Rewards, Rules

PROOF, LAPSE = selfplay.evaluate("optimal"), selfplay.evaluate("heuristic")


def run(config: RunSettings, *verdicts: Any) -> selfplay.Run:
    """Return a run with an evaluation every ten steps, which take a second of training each."""
    records: list[Record] = []
    lapses = None
    for number, verdict in enumerate(verdicts, start=1):
        lapses = count_lapses(lapses, verdict)
        metrics = {"time/training_s": float(number)}
        steps = 10 * number
        records.append(Record(number=number, steps=steps, verdict=verdict, metrics=metrics, proofs=0, lapses=lapses))
    return selfplay.Run(config, Path("runs/it"), records)


def settings(*configs: RunSettings) -> list[dict[str, Any]]:
    return [dict(row.settings) for row in compare([run(config) for config in configs])]


def test_only_settings_in_which_runs_differ_are_named() -> None:
    assert settings(DQNConfig(mask=True), DQNConfig(mask=True)) == [{}, {}]
    assert settings(DQNConfig(mask=True, seed=1), DQNConfig(mask=True, rewards=Rewards(draw=0.5))) == [
        {"seed": 1, "rewards": "shaped"},
        {"seed": 0, "rewards": Rewards(draw=0.5)},
    ]
    assert settings(DQNConfig(), DQNConfig(preset="large")) == [
        {"board": "3x3x3", "preset": "default"},
        {"board": "4x4x4", "preset": "large"},  # and not all that the preset sets
    ]


def test_a_setting_that_an_algorithm_lacks_is_left_open() -> None:
    configs = DQNConfig(mask=True), MinimaxQConfig(), TDBackupConfig(rules=Rules(2, 3, 3))
    assert settings(*configs) == [
        {"algorithm": "dqn", "board": "3x3x3", "mask": True},
        {"algorithm": "minimax-q", "board": "3x3x3", "mask": None},
        {"algorithm": "td-backup", "board": "2x3x3", "mask": None},
    ]
    assert [row.summary for row in compare([run(config) for config in configs])] == [
        "dqn, 3x3x3, mask",
        "minimax-q, 3x3x3",
        "td-backup, 2x3x3",
    ]


def test_results_are_those_of_the_player_that_is_kept_with_the_first_proof_and_the_lapses_after_it() -> None:
    lapsed, never, begun = (
        compare([run(DQNConfig(), *verdicts)])[0].results
        for verdicts in ((LAPSE, PROOF, LAPSE, PROOF), (LAPSE, LAPSE), ())
    )
    assert lapsed == {
        "finished": True,
        "unbeatable": True,
        "ways_to_beat": 0,
        "first.loss": 0,
        "second.loss": 0,
        "optimal_fraction": 1,
        "first_proof": 20,
        "lapses": 1,
        "steps": 40,
        "updates": None,
        "seconds": 4,
    }
    assert (never["unbeatable"], never["first_proof"], never["lapses"]) == (False, None, None)
    assert (never["ways_to_beat"], never["second.loss"]) == (LAPSE.ways_to_beat, LAPSE.second.loss)
    assert {value for name, value in begun.items() if name != "finished"} == {None}
    assert begun.keys() == lapsed.keys()


def test_where_one_seat_wins_with_best_play_a_proof_says_that_nobody_gains_on_the_player() -> None:
    rules = Rules(2, 3, 2)
    proofs = [selfplay.evaluate("optimal", rules)] * 2
    results = compare([run(DQNConfig(rules=rules), selfplay.evaluate("random", rules), *proofs)])[0].results
    assert (results["unbeatable"], results["first_proof"], results["lapses"]) == (False, 20, 0)


@pytest.mark.usefixtures("stopper")  # runs without plots
def test_a_folder_of_runs_is_printed_and_a_damaged_one_named(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short: dict[str, Any] = {"games": 40, "eval_every": 20, "greedy_games": 5, "progress": False}
    selfplay.train("td-backup", name="one", **short)
    selfplay.train("td-backup", name="two", gamma=0.5, stop_when=lambda: True, **short)
    command.main(["runs"])
    shown = capsys.readouterr().out
    assert [name for name in ("one", "two", "gamma 0.5", "not finished") if name not in shown] == []
    selfplay.train("td-backup", name="damaged", **short)
    (here / "runs" / "damaged" / "config.json").write_text("{}")
    command.main(["runs", "--csv"])
    printed = capsys.readouterr()
    assert "damaged" in printed.err
    one, two = csv.DictReader(io.StringIO(printed.out))
    assert (one["run"], one["gamma"], one["finished"], one["first_proof"]) == ("one", "0.9", "True", "")
    assert (two["run"], two["gamma"], two["finished"], two["steps"]) == ("two", "0.5", "False", "")
    assert int(one["ways_to_beat"]) == selfplay.evaluate("runs/one").ways_to_beat


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("dqn-3x3x3-7-mask-20251128-182159", "20251128-182159"),
        ("dqn-3x3x3-7-mask-20251128-182159-2", "20251128-182159-2"),
        ("dqn-3x3x3-7-mask-mine", "dqn-3x3x3-7-mask-mine"),
        ("dqn-3x3x3-8-mask-20251128-182159", "dqn-3x3x3-8-mask-20251128-182159"),
    ],
)
def test_a_name_made_of_the_settings_is_shown_by_its_time(name: str, short: str) -> None:
    assert short_name(name, DQNConfig(seed=7, mask=True)) == short


@pytest.mark.usefixtures("stopper")
def test_what_is_no_folder_of_runs_is_refused(here: Path) -> None:
    assert str(here) in refused(command.main, [str(here)])
    selfplay.train("td-backup", name="one", games=4, eval_every=4, progress=False)
    assert "--out" in refused(command.main, ["runs", "--out", "elsewhere"])
