"""Runs of a sweep and its report without Ray: tables, CSV files, failures, and foreign files."""

import csv
import json
import math
from pathlib import Path
from typing import Any

import pytest

from benchmarks.sweeps.disturbed import reported
from selfplay.cli import report
from selfplay.files import BusyError, locked
from selfplay.sweep import plan as plans, plots, report_pages, results, state, worker
from selfplay.sweep.results import Outcome
from selfplay.sweep.state import Sweep
from tests.runs import refused, without_plots
from tests.selfplay.sweep import sweeps

SETS = ["total_steps=4800", *sweeps.SMALL, "eval_every=1600"]


def make(folder: Path, **flags: Any) -> Sweep:
    """Return a sweep that has trained nothing yet."""
    plan = plans.make({}, {"set": SETS, "seeds": "1000..1002", **flags})
    folder.mkdir()
    sweep = Sweep(folder, plan, plans.all_runs(plan))
    sweep.write()
    return sweep


def work(sweep: Sweep, number: int) -> plans.Run:
    """Train a run in this process, as a worker does, and note how it ended."""
    sweep.runs[number] = worker.train_run(sweep.folder, sweep.plan, sweep.runs[number], 60.0)
    sweep.write()
    return sweep.runs[number]


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    without_plots(monkeypatch.setattr)
    return make(tmp_path / "it", vary=["gamma=0.9"], each=["learning_rate=1e30"])


def test_a_report_holds_every_run_also_those_that_failed_or_are_missing(
    sweep: Sweep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (sweep.folder / "gamma=0.9,seed=1002").write_text("in the way")
    for number in (0, 1, 2, 4):
        work(sweep, number)
    (sweep.folder / "gamma=0.9,seed=1001" / "metrics.jsonl").write_text("{}\n")
    sweep.runs[3].state, sweep.runs[3].why = "failed", "=1`<img src=x>`![](y)|"  # as a stranger may say
    sweep.write()
    report.main([str(sweep.folder), "--out", str(tmp_path / "out")])
    files = reported(sweep.folder)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir() if path.is_file()} == files
    assert sweep.runs[4].objective == 2 * plans.UNPROVED_PENALTY
    page, runs, evaluations = (files[name].decode() for name in ("report.md", "runs.csv", "evaluations.csv"))
    assert page.partition("\n![")[0] in capsys.readouterr().out
    assert (
        "- failed: `gamma=0.9,learning_rate=1e+30,seed=1000`: `the loss is no longer finite; lower learning_rate="
        in page
    )
    assert "- failed: `gamma=0.9,learning_rate=1e+30,seed=1001`: `=1'<img src=x>'![](y)|`\n" in page
    assert "- failed: `gamma=0.9,seed=1001`: `gamma=0.9,seed=1001/metrics.jsonl: line 1" in page
    assert "- failed: `gamma=0.9,seed=1002`: `gamma=0.9,seed=1002: cannot be made" in page
    assert "- missing: `gamma=0.9,learning_rate=1e+30,seed=1002`: `it has not ended" in page
    assert "| gamma=0.9, learning_rate=1e+30 | 0 of 2 | 0% to 66% | 2 | 0 | 1 |" in page
    ends = [line["end"] for line in csv.DictReader(runs.splitlines())]
    assert ends == ["no proof", "failed", "failed", "failed", "failed", "missing"]
    assert "failed,'=1`<img" in runs
    lines = list(csv.DictReader(evaluations.splitlines()))
    assert [line["plies"] for line in lines] == ["1600", "3200", "4800"]
    assert [name for name in lines[0] if name.startswith("time/")] == ["time/updates"]
    assert (tmp_path / "out" / "times" / "proved-seconds.png").exists()
    assert "is this the folder of a sweep?" in refused(report.main, [str(tmp_path)])


def test_a_worker_starts_no_run_that_is_stopped_finished_or_in_use(
    sweep: Sweep, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = sweep.folder / sweep.runs[0].name
    (sweep.folder / state.STOP).touch()
    assert work(sweep, 0).state == "waiting"
    assert not folder.exists()
    (sweep.folder / state.STOP).unlink()
    assert work(sweep, 0).state == "done"
    written = (folder / "model.safetensors").stat().st_mtime_ns
    assert work(sweep, 0).state == "done"
    assert (folder / "model.safetensors").stat().st_mtime_ns == written
    slept: list[float] = []
    monkeypatch.setattr("time.sleep", slept.append)
    (sweep.folder / sweep.runs[2].name).mkdir()
    with locked(sweep.folder / sweep.runs[2].name), pytest.raises(BusyError):
        work(sweep, 2)
    assert slept == [worker.PATIENCE]
    (sweep.folder / state.FILE).unlink()
    assert "must be on storage that all machines see" in refused(work, sweep, 0)


def test_the_objective_of_every_proved_run_is_below_that_of_any_other() -> None:
    proved = Outcome("plies", [{"plies": 10**9, "time/updates": 7.0}], 0)
    others = [Outcome("plies", [{"plies": plies}]) for plies in (5, 6)]
    objectives = [results.objective(outcome, "steps") for outcome in (proved, *others)]
    assert objectives == sorted({*objectives, 2 * plans.UNPROVED_PENALTY})[:-1]  # which is that of a failed run
    assert results.objective(proved, "updates") == 7


def result(end: str, plies: int) -> results.Result:
    return results.Result(plans.run_of({}, 0), end, "", Outcome("plies", [{"plies": plies}], 0), "")


def test_failures_do_not_shorten_the_times_of_a_setting() -> None:
    ends = {results.PROVED: 10, results.FAILED: 1, results.UNPROVED: 50, results.DROPPED: 99}
    assert results.survival_data(list(map(result, ends, ends.values())), "steps") == (
        [10, 50, 50],
        [True, False, False],
    )


SEARCH = {"search": 2, "seeds": [0], "vary": {"gamma": "0.1..0.9", "hidden": [[16], [32]]}}
RUN = {"name": "", "setting": "", "seed": 0}
MISFITS: list[tuple[dict[str, Any], str]] = [
    ({"gamma": 0.5}, "gamma=0.5 is not among the settings of its search"),
    ({"gamma": 5.0, "hidden": [16]}, "gamma=5.0, hidden=16 is not"),
    ({"gamma": "0.5", "hidden": [16]}, "gamma=0.5, hidden=16 is not"),
    ({"gamma": 0.5, "hidden": [64]}, "gamma=0.5, hidden=64 is not"),
    ({"gamma": 0.5, "hidden": [16]}, "its runs are not those of its plan"),
]
"""Values that Optuna would not take, and some that it would, of a run of another name."""


@pytest.mark.parametrize(
    ("change", "run", "complaint"),
    [
        ({}, {"name": "../elsewhere"}, "its runs are not those of its plan"),
        ({}, {"values": {"gamma": 0.5}}, "its runs are not those of its plan"),
        ({}, {"state": "gone"}, "not the state of a sweep"),
        ({}, {"seconds": math.inf}, "not the state of a sweep"),
        ({}, {"seed": 7}, "its runs are not those of its plan"),
        ({}, {"else": 1}, "not the state of a sweep"),
        ({"format": 1}, {}, "has format 1; this program reads format 2"),
        ({"runs": []}, {}, "its runs are not those of its plan"),
        *(({"plan": SEARCH, "runs": [{**RUN, "values": values}]}, {}, complaint) for values, complaint in MISFITS),
        ({"plan": {"set": 1}}, {}, "not the state of a sweep"),
        ({"plan": {"algorithm": ["go"]}}, {}, "there is no algorithm"),
    ],
)
def test_a_foreign_state_is_refused(change: dict[str, Any], run: dict[str, Any], complaint: str, sweep: Sweep) -> None:
    path = sweep.folder / state.FILE
    content = json.loads(path.read_text())
    content["runs"][0] |= run
    path.write_text(json.dumps(content | change))
    assert complaint in refused(state.read, sweep.folder)


def test_metrics_of_another_board_make_a_run_a_failed_one(tmp_path: Path) -> None:
    sweep = make(tmp_path / "it", seeds="0", set=["rows=5", "cols=5", "k=4"])
    (sweep.folder / sweep.runs[0].name).mkdir()
    line = '{"plies": 1, "time/training_s": 1, "eval/optimal_states": 1}\n'
    (sweep.folder / sweep.runs[0].name / "metrics.jsonl").write_text(line)
    [[result]] = results.read(sweep).values()
    assert (result.end, "is not what this run writes" in result.why) == (results.FAILED, True)


def test_nothing_is_written_through_a_link(sweep: Sweep, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (sweep.folder / sweep.runs[0].name).symlink_to(elsewhere)
    assert "is a link to elsewhere" in work(sweep, 0).why
    of_report, of_times = sweep.folder / "report", tmp_path / "out" / "times"
    of_times.parent.mkdir()
    for out, link in ((of_report, of_report), (of_times.parent, of_times)):
        link.symlink_to(elsewhere)
        assert refused(report_pages.write, sweep, {}, out).startswith(f"{link}: is a link, and must be a folder")
    assert list(elsewhere.iterdir()) == []


def test_every_setting_has_a_curve_in_some_plot(tmp_path: Path) -> None:
    sweep = make(tmp_path / "it", each=["gamma=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", "mask=true"])
    names = plots.figures(results.read(sweep), {"steps": "plies"}).keys()
    assert names == {"proved-steps.png", "proved-steps-2.png", "settings-steps.png"}


def test_a_report_of_a_search_lists_the_best_setting_first() -> None:
    found = {
        "one": [result(results.PROVED, 9), result(results.UNPROVED, 99)],
        "slow": [result(results.PROVED, 20), result(results.PROVED, 30)],
        "fast": [result(results.PROVED, 10), result(results.PROVED, 20)],
    }
    assert list(results.best_first(found, "steps")) == ["fast", "slow", "one"]
