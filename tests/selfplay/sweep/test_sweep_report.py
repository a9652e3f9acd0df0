"""The results of a sweep and its report, without Ray."""

import csv
import json
import math
from pathlib import Path

import pytest

pytest.importorskip("scipy", reason="the extra `sweep` is not installed")
import selfplay
from selfplay.cli import report as command
from selfplay.errors import UserError
from selfplay.sweep import plan as plans, sweep_report, sweep_results
from selfplay.sweep.plan import Plan, all_runs
from selfplay.sweep.sweep_results import FAILED, MISSING, PROVED, UNPROVED, SweepResult
from tests.runs import content_of

pytestmark = pytest.mark.usefixtures("stopper")  # runs without plots
TINY = Plan("td-backup", seeds="0,1", set=("games=40", "eval_every=20"), vary=("gamma=0.9,1",))


def sweep_in(folder: Path, plan: Plan = TINY) -> list[plans.PlannedRun]:
    """Write the plan of a sweep, and return its runs."""
    folder.mkdir(exist_ok=True)
    plans.write(plan, folder)
    return all_runs(plan)


def train(folder: Path, run: plans.PlannedRun, most: int = 1_000_000) -> None:
    """Train a run of a sweep, which is interrupted when it has asked so often whether to stop."""
    asked = iter(range(most))
    selfplay.train(run.config, run_dir=folder / run.name, stop_when=lambda: next(asked, None) is None, progress=False)


def test_a_report_names_every_run_that_failed_or_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proved, interrupted, failed, missing = sweep_in(tmp_path)
    train(tmp_path, proved)
    train(tmp_path, interrupted, most=1)
    (tmp_path / failed.name).mkdir()
    (tmp_path / failed.name / sweep_results.FAILURE).write_text("Traceback\n  of a worker\nthe `end`\n")
    command.main([str(tmp_path)])
    page = (tmp_path / "report" / "report.md").read_text()
    assert page.partition("\n![")[0] in capsys.readouterr().out
    assert f"- failed: `{failed.name}`: `the 'end'`" in page
    assert f"- missing: `{missing.name}`" in page
    assert f"- missing: `{interrupted.name}`" in page
    with (tmp_path / "report" / "runs.csv").open(newline="") as file:
        ends = {line["run"]: line["end"] for line in csv.DictReader(file)}
    assert ends == {
        proved.name: UNPROVED,
        interrupted.name: MISSING,
        failed.name: FAILED,
        missing.name: MISSING,
    }
    assert {path.name for path in (tmp_path / "report").glob("*.png")} == {
        f"{kind}-{unit}.png" for kind in ("proved", "settings") for unit in ("steps", "seconds")
    }


def test_a_result_is_what_the_run_took_to_the_first_evaluation_from_which_the_proof_held(tmp_path: Path) -> None:
    plan = Plan(
        seeds="0",
        set=("hidden=8", "num_envs=16", "warmup=64", "batch_size=8", "memory_size=100", "total_steps=64", "stop=never"),
    )
    [run] = sweep_in(tmp_path, plan)
    folder = tmp_path / run.name
    train(tmp_path, run)
    lines = []
    for number, (unbeatable, optimal) in enumerate([(0, 0), (1, 0), (0, 0), (1, 1), (1, 0)], start=1):
        line = {"plies": 10 * number, "time/updates": 2 * number, "time/training_s": number / 2}
        line |= {"exact/confirmed": 1, "exact/optimal_states": 4520 * optimal, "eval/optimal_fraction": optimal}
        for seat in ("first", "second"):
            line |= {f"exact/{seat}/losses": 1 - unbeatable, f"exact/{seat}/illegal": 0}
            line[f"exact/{seat}/best_response"] = unbeatable - 1
        lines.append(json.dumps(line) + "\n")
    (folder / "metrics.jsonl").write_text("".join(lines))
    result = sweep_results.read_result(folder, run)
    assert (result.end, result.steps, result.updates, result.seconds) == (PROVED, 40, 8, 2.0)
    assert (result.all_seconds, result.since_proof, result.not_proved, result.all_optimal) == (2.5, 4, 1, 1)
    assert (result.to_proof("steps"), len(result.model_sha256)) == (40, 64)
    (folder / "metrics.jsonl").write_text("{}\n")
    assert sweep_results.read_result(folder, run).end == FAILED


def result(end: str, steps: int) -> SweepResult:
    return SweepResult("run", "default", 0, end, steps=steps)


def test_failures_do_not_shorten_the_times_of_a_setting() -> None:
    found = [result(PROVED, 10), result(FAILED, 1), result(UNPROVED, 50)]
    assert sweep_results.survival_data(found, "steps") == ([10, 50, 50], [True, False, False])
    assert [each.to_proof("steps") for each in found] == [10, math.inf, math.inf]


def test_a_report_of_a_search_lists_the_best_setting_first() -> None:
    found = {
        "one": [result(PROVED, 9), result(UNPROVED, 99)],
        "slow": [result(PROVED, 20), result(PROVED, 30)],
        "fast": [result(PROVED, 10), result(PROVED, 20)],
    }
    assert list(sweep_results.best_first(found, "steps")) == ["fast", "slow", "one"]


def test_the_results_of_a_search_are_those_of_the_runs_that_have_begun(tmp_path: Path) -> None:
    plan = Plan("td-backup", "0..2", ("games=40", "eval_every=20"), ("gamma=0.5..1.0",), search=4)
    sweep_in(tmp_path, Plan("td-backup"))
    plans.write(plan, tmp_path)
    with pytest.raises(UserError, match=str(tmp_path)):
        command.main([str(tmp_path)])
    run = plans.make_run(plan, {"gamma": 0.75}, 1)
    train(tmp_path, run)
    [[found]] = sweep_results.read(tmp_path, plan).values()
    assert (found.run, found.setting, found.seed, found.end) == (run.name, "gamma=0.75", 1, UNPROVED)


def test_a_report_replaces_only_an_earlier_report(tmp_path: Path) -> None:
    [proved, *_] = sweep_in(tmp_path / "it")
    train(tmp_path / "it", proved)
    own, out = tmp_path / "own", tmp_path / "out"
    own.mkdir()
    for name in ("settings-mine.png", "runs.csv"):
        (own / name).write_text("of a user")
    before = content_of(own)
    with pytest.raises(UserError, match=str(own)):
        command.main([str(tmp_path / "it"), "--out", str(own)])
    assert content_of(own) == before
    command.main([str(tmp_path / "it"), "--out", str(out)])
    files = {path.name for path in out.iterdir()}
    (out / "settings-mine.png").write_text("of a user")
    (out / "settings-steps.png").rename(out / "proved-stale.png")
    (out / "report.md").write_text((out / "report.md").read_text() + "![proved-stale.png](proved-stale.png)\n")
    command.main([str(tmp_path / "it"), "--out", str(out)])
    assert {path.name for path in out.iterdir()} == files | {"settings-mine.png"}


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    sweep_in(tmp_path / "it")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "it" / "report").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="report"):
        sweep_report.write(TINY, {}, tmp_path / "it" / "report")
    assert list((tmp_path / "elsewhere").iterdir()) == []
