"""Sweeps on Ray: to their end, interrupted, ended, with workers that die, runs that fail, a cluster, and a search."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path
from unittest import mock

import pytest

from benchmarks.sweeps.processes import descendants, kill, session, start, title, workers
from selfplay.errors import UserError
from selfplay.sweep import record
from selfplay.training.checkpoints import finished
from tests.runs import newest
from tests.selfplay.sweep.sweeps import (
    PATIENCE,
    finish,
    flags,
    interrupt,
    refused,
    reported,
    run,
    run_on_terminal,
    wait_for,
)

pytest.importorskip("ray", reason="the extra `sweep` is not installed; .ci/run runs these tests with it")

DYING = """
import os, signal, sys
from pathlib import Path
from selfplay.cli.main import main
from selfplay.sweep import engine

class Dying(engine.Worker):
    def reset_config(self, new_config):
        died = Path(new_config["place"]) / "died"
        if not died.exists():
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().reset_config(new_config)

engine.Worker = Dying
main(["sweep", *sys.argv[1:]])
"""
"""A sweep of which the first worker that takes on another run dies at that."""
VARIED = ("--seeds", "1000,1001", "--each", "mask=true", "--each", "learning_rate=1e30")
GOOD = ["default,seed=1000", "mask=true,seed=1000", "default,seed=1001", "mask=true,seed=1001"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep that nobody has disturbed."""
    place = tmp_path_factory.mktemp("whole") / "it"
    run(*flags(*VARIED, "--dir", str(place)))
    return place


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, int]]:
    """Yield a sweep whose own process was killed while its workers were at work, and the number of its session."""
    place = tmp_path_factory.mktemp("killed") / "it"
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", folder)  # what a killed sweep leaves there is cleared away with it
        with at_work(place) as (process, frozen):
            patch.undo()
            with process:
                process.kill()
            time.sleep(2)  # after which they look at once whether Ray is still there, and not when the run is over
            for worker in frozen:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker, signal.SIGCONT)
            yield place, process.pid


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of a cluster of one machine, which is this one, and on which no other machine can look."""
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (there may be none)

    from selfplay.sweep import engine  # noqa: PLC0415

    with tempfile.TemporaryDirectory() as folder, engine.without_dashboard():
        monkeypatch.setenv("RAY_TMPDIR", folder)  # a short name: the paths of sockets must not be long
        found = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "node_ip_address": engine.LOOPBACK})
        try:
            yield found.address
        finally:
            found.shutdown()


def rows_of(place: Path) -> list[record.Row]:
    """Return how the runs of a sweep stand, none before it has begun."""
    return record.read(place).rows if (place / record.FILE).exists() else []


def done(place: Path) -> list[record.Row]:
    """Return the runs that have come to their end."""
    return [row for row in rows_of(place) if row.state == "done"]


def checkpoint(place: Path) -> int:
    """Return how many checkpoints the run that is at work has written."""
    return max((newest(place / row.name) for row in rows_of(place) if row.state == "running"), default=0)


@contextlib.contextmanager
def at_work(place: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Yield a sweep that has begun its only run, and its workers, which were told to stand still.

    Or they would answer what asks them to stop, or come to the end of the run before they could be ended.
    """
    process = start(*flags("--seeds", "1000", "--cpus", "1", "--dir", str(place)))
    try:
        wait_for(lambda: checkpoint(place) >= 2)
        frozen = workers(process.pid)
        for worker in frozen:
            os.kill(worker, signal.SIGSTOP)
        yield process, frozen
    finally:
        for pid in session(process.pid):
            kill(pid)


def goes_on(place: Path, whole: Path) -> None:
    """Assert that the only run of a sweep was interrupted, and goes on to what it has come to in `whole`."""
    assert not finished(place / GOOD[0])
    run("--resume", str(place))
    assert len(list((place / GOOD[0]).glob("events.out.tfevents.*"))) == 2  # or it would have begun again
    assert model(place, GOOD[0]) == model(whole, GOOD[0])


def model(place: Path, name: str) -> bytes:
    """Return what a run has learned."""
    return (place / name / "model.safetensors").read_bytes()


def same(one: Path, other: Path) -> None:
    """Assert that two sweeps have come to the same models and to the same report."""
    for name in GOOD:
        assert model(one, name) == model(other, name)
    first, second = reported(one), reported(other)
    assert first.keys() == second.keys() >= {"report.md", "runs.csv", "evaluations.csv", "proved-steps.png"}
    assert [name for name in first if first[name] != second[name]] == []


def test_a_sweep_comes_to_its_end_and_names_what_failed(whole: Path) -> None:
    rows = {row.name: row for row in record.read(whole).rows}
    assert {name for name, row in rows.items() if row.state == "done"} == set(GOOD)
    assert {row.starts for row in rows.values()} == {1}
    failed = rows["learning_rate=1e+30,seed=1001"]
    assert failed.state == "failed"
    assert failed.why.startswith("the loss is no longer finite")
    page = reported(whole)["report.md"].decode()
    assert f"- failed: `{failed.name}`: {failed.why}\n" in page
    assert "| learning_rate=1e+30 | 0 of 2 | 0% to 66% | 2 | 0 | 0 |" in page
    assert not list(whole.rglob("*.pkl"))
    assert not (whole / record.STOP).exists()


def test_a_sweep_that_is_killed_goes_on(killed: tuple[Path, int], whole: Path) -> None:
    place, leader = killed
    wait_for(lambda: not any(title(pid).startswith(b"ray::Worker") for pid in session(leader)))
    goes_on(place, whole)


def test_ctrl_c_and_resume_lose_nothing(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "it"
    process = start(*flags(*VARIED, "--dir", str(place)))
    wait_for(lambda: checkpoint(place) >= 2)
    interrupt(process)
    output = finish(process, status=130)
    assert "to be gone on with" in output
    rows = record.read(place).rows
    assert {row.state for row in rows} <= {"waiting", "done", "failed"}
    stopped = [row.name for row in rows if row.state == "waiting" and (place / row.name).exists()]
    assert stopped
    lines = [(place / name / "metrics.jsonl").read_bytes() for name in stopped]
    drawn = run_on_terminal("--resume", str(place))
    assert "it: runs by setting" in drawn
    assert "6 of 6 runs ended: 0 proved, 2 failed; done" in drawn
    assert all(
        (place / name / "metrics.jsonl").read_bytes().startswith(line)
        for name, line in zip(stopped, lines, strict=True)
    )
    same(whole, place)


def test_a_run_whose_worker_is_killed_goes_on_from_its_checkpoint(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "it"
    process = start(*flags(*VARIED, "--dir", str(place), "--cpus", "1"))
    wait_for(lambda: checkpoint(place) >= 2)
    [worker] = workers(process.pid)
    assert kill(worker)
    finish(process)
    again = [row.name for row in record.read(place).rows if row.starts > 1]
    assert len(again) == 1
    assert len(list((place / again[0]).glob("events.out.tfevents.*"))) == 2  # or it would have begun again
    same(whole, place)


def test_a_worker_that_dies_between_two_runs_loses_neither(whole: Path, tmp_path: Path) -> None:
    place = tmp_path / "it"
    arguments = flags("--seeds", "1000,1001", "--cpus", "1", "--dir", str(place))
    subprocess.run([sys.executable, "-c", DYING, *arguments], check=True, capture_output=True, timeout=PATIENCE)
    assert (place / "died").exists()
    assert [(row.state, row.starts) for row in rows_of(place)] == [("done", 1), ("done", 1)]
    assert [model(place, name) for name in GOOD[::2]] == [model(whole, name) for name in GOOD[::2]]


def test_a_run_whose_workers_die_again_and_again_has_failed(whole: Path, tmp_path: Path) -> None:
    from selfplay.sweep import engine  # noqa: PLC0415

    sweep = replace(record.read(whole), place=tmp_path)
    row, other = sweep.rows[:2]
    screen, trial = mock.Mock(), mock.Mock(trial_id="it", config={"row": 0}, get_error=lambda: "killed\n")
    recorder = engine.Recorder(sweep, screen)
    for death in range(1, engine.MOST_DEATHS + 2):
        row.state = "running"
        (recorder.on_trial_error if death % 2 else recorder.on_trial_recover)(0, [], trial)
        assert row.state == ("waiting" if death <= engine.MOST_DEATHS else "failed")
    assert row.why == f"given up after {engine.MOST_DEATHS + 1} workers: killed"
    assert other.state == "done"
    assert record.read(tmp_path).rows == sweep.rows
    screen.ended.assert_called_once_with(row)


def test_a_sweep_on_a_cluster_comes_to_the_same_models(whole: Path, cluster: str, tmp_path: Path) -> None:
    place = tmp_path / "it"
    process = start(*flags("--seeds", "1000,1001", "--cpus", "1", "--dir", str(place), "--address", cluster))
    wait_for(lambda: checkpoint(place) >= 1)
    assert descendants(process.pid) == []  # so that it is the cluster which trains
    finish(process)
    assert [row.name for row in done(place)] == GOOD[::2]
    assert [model(place, name) for name in GOOD[::2]] == [model(whole, name) for name in GOOD[::2]]


def test_a_machine_that_is_too_busy_for_ray_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    from selfplay.sweep import engine  # noqa: PLC0415

    monkeypatch.setattr("ray.init", mock.Mock(side_effect=Exception("The current node timed out")))
    complaint = r"Ray did not start; try again when less is running \(The current node timed out\)"
    with pytest.raises(UserError, match=complaint), engine.connected(1, None):
        pass


def test_an_address_where_nobody_listens_is_refused_in_one_line(tmp_path: Path) -> None:
    place = tmp_path / "it"
    with socket.socket() as taken:
        taken.bind(("", 0))  # where nobody else can listen either
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        complaint = refused(*flags("--dir", str(place), "--address", address))
    assert complaint == f"selfplay sweep: --address {address}: there is no Ray cluster (Connection refused)\n"
    assert not place.exists()  # or it would be in the way of the same command with another address


def test_a_search_that_is_interrupted_tries_its_settings_by_the_plies_to_a_proof(tmp_path: Path) -> None:
    place = tmp_path / "it"
    varied = ("--vary", "learning_rate=0.001..0.1", "--vary", "mask=true,false")
    search = ("--search", "3", "--seeds", "1000,1001", *varied, "--cpus", "1")
    process = start(*flags(*search, "--dir", str(place), length=9_600))
    # Of the first two settings three of four runs have ended, and the last of them is at work.
    wait_for(lambda: len(done(place)) >= 3 and checkpoint(place) >= 2)
    interrupt(process)
    finish(process, status=130)
    trained = {row.name: (row, model_written(place, row)) for row in done(place)}
    stopped = [row.name for row in rows_of(place) if row.state == "waiting" and (place / row.name).exists()]
    assert 3 <= len(trained) < 6
    run("--resume", str(place))
    rows = {row.name: row for row in rows_of(place)}
    assert {name: (rows[name], model_written(place, rows[name])) for name in trained} == trained  # not once more
    assert all((rows[name].state, rows[name].starts) == ("done", 2) for name in stopped)
    settings = {json.dumps(row.values) for row in rows.values()}
    assert len(settings) == 3
    assert {(json.dumps(row.values), row.seed) for row in rows.values()} == {*product(settings, (1000, 1001))}
    assert {row.state for row in rows.values()} <= {"done", "dropped"}
    assert all(0.001 <= row.values["learning_rate"] <= 0.1 for row in rows.values())
    run("--resume", str(place))  # which knows that all has been tried
    assert {row.name: row for row in rows_of(place)} == rows
    assert b"3 settings by steps to a proof" in reported(place)["report.md"]


def model_written(place: Path, row: record.Row) -> int:
    """Return when a run's model was written, in nanoseconds."""
    return (place / row.name / "model.safetensors").stat().st_mtime_ns


def test_a_second_ctrl_c_ends_a_sweep_at_once(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "it"
    with tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv("TMPDIR", folder)
        with at_work(place) as (process, frozen):
            assert frozen
            interrupt(process)
            wait_for((place / record.STOP).exists)  # the first has been heard, and nobody can answer it
            interrupt(process)
            finish(process, status=130)
            wait_for(lambda: not session(process.pid))
        assert not list(Path(folder).glob("selfplay-*"))
    goes_on(place, whole)


def test_a_sweep_that_is_killed_leaves_no_process(killed: tuple[Path, int]) -> None:
    # The last test of this file, because two of Ray's processes ask after the others for a minute before they end.
    wait_for(lambda: not session(killed[1]))
