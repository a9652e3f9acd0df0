"""Runs of a sweep and its report without Ray: what is told, what is listed, and what a foreign record may not do."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from selfplay.errors import UserError
from selfplay.files import locked
from selfplay.sweep import outcome, plan as plans, record, report, results, trial
from selfplay.sweep.record import Sweep
from tests.runs import refused, without_pictures
from tests.selfplay.sweep.sweeps import SMALL, reported

SETS = (*SMALL, "total_steps=4800", "eval_every=1600")


def make(place: Path, **flags: Any) -> Sweep:
    """Return a sweep of which nothing is trained."""
    sets = {word.partition("=")[0]: word for word in SETS}
    sweep = Sweep(place, plans.make({}, {"set": sets.values(), "seeds": "1000..1001", **flags}))
    sweep.add(plans.runs(sweep.plan))
    place.mkdir()
    sweep.write()
    return sweep


def work(sweep: Sweep, number: int) -> trial.Ended:
    """Train a run in this process, as a worker does, and note how it ended."""
    row = sweep.rows[number]
    run = plans.Run(row.name, plans.Setting(row.setting, row.values), row.seed)
    ended = trial.work(sweep.place, sweep.plan, run, 60.0)
    row.state, row.why, row.proved = ended.state, ended.why, ended.proved
    sweep.write()
    return ended


@pytest.fixture
def sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    without_pictures(monkeypatch.setattr)
    return make(tmp_path / "it", each=["learning_rate=1e30"])


def test_what_failed_and_what_is_missing_stands_in_the_report(sweep: Sweep) -> None:
    for number in (0, 1):  # both settings of the first seed
        work(sweep, number)
    sweep.rows[3].state, sweep.rows[3].why = "failed", "given up"
    sweep.write()
    files = reported(sweep.place)
    page = files["report.md"].decode()
    assert "- failed: `learning_rate=1e+30,seed=1000`: the loss is no longer finite; lower --learning-rate" in page
    assert "- failed: `learning_rate=1e+30,seed=1001`: given up" in page
    assert "- missing: `default,seed=1001`: it has not ended" in page
    assert "| default | 0 of 1 | 0% to 79% | 0 | 0 | 1 |" in page
    lines = list(csv.DictReader(files["runs.csv"].decode().splitlines()))
    assert [line["end"] for line in lines] == ["no proof", "missing", "failed", "failed"]
    evaluations = list(csv.DictReader(files["evaluations.csv"].decode().splitlines()))
    assert [line["plies"] for line in evaluations] == ["1600", "3200", "4800"]
    assert "time/updates" in evaluations[0]
    assert [name for name in evaluations[0] if name.startswith("time/") and name != "time/updates"] == []
    assert reported(sweep.place) == files


def test_a_folder_that_cannot_be_used_makes_a_failed_run(sweep: Sweep) -> None:
    (sweep.place / sweep.rows[0].name).write_text("in the way")
    ended = work(sweep, 0)
    assert ended.state == "failed"
    assert "cannot be made" in ended.why
    assert ended.objective > outcome.UNPROVED
    assert "- failed: `default,seed=1000`" in reported(sweep.place)["report.md"].decode()


def test_a_record_that_is_damaged_makes_a_failed_run(sweep: Sweep) -> None:
    work(sweep, 0)
    (sweep.place / sweep.rows[0].name / "metrics.jsonl").write_text("{}\n")
    assert "metrics.jsonl: line 1 is not what a run writes" in reported(sweep.place)["report.md"].decode()


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(sweep: Sweep, tmp_path: Path) -> None:
    stop = sweep.place / record.STOP
    stop.touch()
    assert work(sweep, 0).state == "waiting"
    assert not (sweep.place / sweep.rows[0].name).exists()
    stop.unlink()
    work(sweep, 0)
    other = make(tmp_path / "other", each=["learning_rate=1e30"])
    work(other, 0)
    model = Path(sweep.rows[0].name) / "model.safetensors"
    assert (sweep.place / model).read_bytes() == (other.place / model).read_bytes()
    assert work(other, 0).state == "done"  # found finished, and left alone


def test_a_worker_waits_for_the_one_before_it(sweep: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    work(sweep, 0)
    folder = sweep.place / sweep.rows[2].name
    monkeypatch.setattr(trial, "PATIENCE", 0.5)
    folder.mkdir()
    with locked(folder), pytest.raises(UserError, match="another process is training in it"):
        work(sweep, 2)
    assert work(sweep, 2).state in ("done", "failed")


def test_a_machine_that_does_not_see_the_folder_says_so(sweep: Sweep) -> None:
    (sweep.place / record.FILE).unlink()
    assert "must be on storage that all machines see" in refused(work, sweep, 0)


def test_any_run_with_a_proof_counts_for_less_than_any_without() -> None:
    lines = [{"plies": 10**9, "time/updates": 7.0}]
    proved, unproved = outcome.Outcome("plies", lines, 0), outcome.Outcome("plies", [{"plies": 5}], None)
    longer = outcome.Outcome("plies", [{"plies": 6}], None)
    amounts = [outcome.objective(each, "steps") for each in (proved, unproved, longer, None)]
    assert amounts == sorted(amounts)
    assert len(set(amounts)) == 4
    assert outcome.objective(proved, "updates") == 7


def test_failures_do_not_shorten_the_times_of_a_setting(sweep: Sweep) -> None:
    def result(kind: str, plies: float) -> results.Result:
        lines = [{"plies": plies}]
        return results.Result(sweep.rows[0], kind, "", outcome.Outcome("plies", lines, 0), "")

    found = [
        result(results.PROVED, 10),
        result(results.FAILED, 1),
        result(results.UNPROVED, 50),
        result(results.DROPPED, 99),
    ]
    assert results.followed(found, "steps") == ([10, 50, 50], [True, False, False])


@pytest.mark.parametrize("name", ["../elsewhere", "/etc", "..", "a/b", ""])
def test_a_foreign_record_leads_nowhere_else(name: str, sweep: Sweep) -> None:
    path = sweep.place / record.FILE
    content = json.loads(path.read_text())
    content["runs"][0]["name"] = name
    path.write_text(json.dumps(content))
    assert "is not the record of a sweep of this program" in refused(record.read, sweep.place)


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"runs": [{}]},
        {"runs": 1},
        {"plan": {}, "runs": [1]},
        {"plan": [1]},
        {"plan": {"set": 1}},
        {"plan": {"algorithm": "go"}},
        {"plan": {"search": "x"}},
    ],
)
def test_a_record_that_is_none_is_refused(change: dict[str, Any], sweep: Sweep) -> None:
    path = sweep.place / record.FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    assert "is not the record of a sweep" in refused(record.read, sweep.place)


def test_the_command_prints_tables_and_names_what_is_no_sweep(
    sweep: Sweep, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    work(sweep, 0)
    report.main([str(sweep.place), "--out", str(tmp_path / "out")])
    printed = capsys.readouterr().out
    assert "Share of runs that are proved" in printed
    assert f"The report is in {tmp_path / 'out'}" in printed
    assert (tmp_path / "out" / "times" / "proved-seconds.png").exists()
    assert "is this the folder of a sweep?" in refused(report.main, [str(tmp_path)])


def test_every_setting_has_a_curve_in_some_picture(sweep: Sweep, tmp_path: Path) -> None:
    many = make(tmp_path / "many", each=["gamma=0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9", "mask=true"])
    files = reported(many.place)
    drawn = {name for name in files if name.startswith("proved-steps")}
    assert drawn == {"proved-steps-gamma-1.png", "proved-steps-gamma-2.png", "proved-steps-mask.png"}
    assert results.gather(sweep).keys() == {"default", "learning_rate=1e+30"}
