"""Sweeps on Ray: to their end, interrupted, with workers that die, runs that fail, a cluster, and a search."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.learning.waiting import run_on_terminal
from benchmarks.sweeps.processes import descendants, kill, session, start, title, workers
from selfplay.errors import UserError
from selfplay.sweep import plan as plans, state
from selfplay.sweep.state import Sweep
from tests.selfplay.sweep.sweeps import finish, flags, report, run, wait_for

ray = pytest.importorskip("ray", reason="the extra `sweep` is not installed; .ci/run runs these tests with it")
from selfplay.sweep import engine  # noqa: E402

VARIED = ("--seeds", "1000,1001", "--each", "mask=true", "--each", "learning_rate=1e30")
DEFAULT = ["default,seed=1000", "default,seed=1001"]
GOOD = [*DEFAULT, "mask=true,seed=1000", "mask=true,seed=1001"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a sweep that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "it"
    run(*flags(*VARIED, "--dir", folder))
    return folder


def evaluated(folder: Path) -> bool:
    """Tell whether a run that is at work has been evaluated and is not yet near its end."""
    runs = state.read(folder).runs if (folder / state.FILE).exists() else []
    running = [folder / run.name / "metrics.jsonl" for run in runs if run.state == "running"]
    return any(path.exists() and path.stat().st_size for path in running)


@contextlib.contextmanager
def at_work(folder: Path) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """Yield a sweep that has begun its only run, and its workers, which are stopped.

    Otherwise they would end when they are asked to, or come to the end of the run.
    """
    process = start(*flags("--seeds", "1000", "--cpus", "1", "--dir", folder))
    try:
        wait_for(lambda: evaluated(folder))
        frozen = workers(process.pid)
        for worker in frozen:
            os.kill(worker, signal.SIGSTOP)
        yield process, frozen
    finally:
        for pid in session(process.pid):
            kill(pid)


def models(folder: Path, names: list[str]) -> list[bytes]:
    """Return what runs have learned."""
    return [(folder / name / "model.safetensors").read_bytes() for name in names]


def times_begun(folder: Path, name: str) -> int:
    """Return how many workers have started or resumed a run and written events."""
    return len(list((folder / name).glob("events.out.tfevents.*")))


def test_a_sweep_trains_every_run_and_names_what_failed(whole: Path) -> None:
    runs = {run.name: run for run in state.read(whole).runs}
    assert {name for name, run in runs.items() if run.state == "done"} == set(GOOD)
    assert {run.starts for run in runs.values()} == {1}
    failed = runs["learning_rate=1e+30,seed=1001"]
    assert (failed.state, failed.why[:29]) == ("failed", "the loss is no longer finite;")
    page = report(whole)["report.md"].decode()
    assert f"- failed: `{failed.name}`: {failed.why}\n" in page
    assert "| learning_rate=1e+30 | 0 of 2 | 0% to 66% | 2 | 0 | 0 |" in page
    assert not list(whole.rglob("*.pkl"))


def test_a_killed_worker_and_ctrl_c_lose_nothing(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    process = start(*flags(*VARIED, "--dir", folder, "--cpus", "1"))
    wait_for(lambda: evaluated(folder))
    assert [kill(worker) for worker in workers(process.pid)] == [True]
    wait_for(lambda: state.read(folder).runs[0].state == "done")
    assert (state.read(folder).runs[0].starts, times_begun(folder, GOOD[0])) == (2, 2)
    wait_for(lambda: evaluated(folder))
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    assert "to be resumed" in finish(process, status=130)
    [stopped, *_] = [run for run in state.read(folder).runs if run.state == "waiting"]
    lines = (folder / stopped.name / "metrics.jsonl").read_bytes()
    shown = bytearray()
    assert run_on_terminal([sys.executable, "-m", "selfplay", "sweep", "--resume", str(folder)], shown.extend) == 0
    assert b"it: runs by setting" in shown
    assert b"6 of 6 runs ended: 0 proved, 2 failed; done" in shown
    assert (folder / stopped.name / "metrics.jsonl").read_bytes().startswith(lines)
    assert models(folder, GOOD) == models(whole, GOOD)
    one, other = report(folder), report(whole)
    assert {"report.md", "runs.csv", "evaluations.csv", "proved-steps.png"} <= one.keys()
    assert one == other


def test_a_killed_sweep_leaves_no_worker_and_resumes(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "it"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as ray_files:
        monkeypatch.setenv("TMPDIR", ray_files)  # which a killed sweep leaves there
        with at_work(folder) as (process, frozen):
            with process:
                process.kill()
            for worker in frozen:
                os.kill(worker, signal.SIGCONT)
            wait_for(lambda: not any(title(pid).startswith(b"ray::train_run") for pid in session(process.pid)))
    assert state.read(folder).runs[0].state == "running"
    run("--resume", str(folder))
    assert times_begun(folder, DEFAULT[0]) == 2  # or it would have started again
    assert models(folder, DEFAULT[:1]) == models(whole, DEFAULT[:1])


def test_a_second_ctrl_c_ends_a_sweep_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "it"
    with tempfile.TemporaryDirectory() as ray_files:
        monkeypatch.setenv("TMPDIR", ray_files)
        with at_work(folder) as (process, frozen):
            assert frozen
            os.killpg(process.pid, signal.SIGINT)
            wait_for((folder / state.STOP).exists)  # nobody can answer it
            os.killpg(process.pid, signal.SIGINT)
            finish(process, status=130)
            wait_for(lambda: not session(process.pid))
        assert not list(Path(ray_files).glob("selfplay-*"))


def test_a_sweep_on_a_cluster_learns_the_same(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.cluster_utils import Cluster  # noqa: PLC0415 (there may be none)

    folder = tmp_path / "it"
    node = {"num_cpus": 2, "node_ip_address": engine.LOOPBACK, "include_dashboard": False}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as ray_files:
        monkeypatch.setenv("RAY_TMPDIR", ray_files)  # a short name: the paths of sockets must not be long
        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            process = start(*flags("--seeds", "1000,1001", "--dir", folder, "--address", cluster.address))
            wait_for(lambda: evaluated(folder))
            assert descendants(process.pid) == []  # the cluster trains
            finish(process)
        finally:
            cluster.shutdown()
    assert models(folder, DEFAULT) == models(whole, DEFAULT)


def test_a_machine_too_busy_for_ray_and_an_address_without_a_cluster_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.socket() as taken:
        taken.bind(("", 0))  # where nobody else can listen either
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        complaint = rf"--address {address}: there is no Ray cluster \(Connection refused\)"
        with pytest.raises(UserError, match=complaint), engine.connected(1, address):
            pass

    def init(*_: object, **__: object) -> None:
        raise RuntimeError("The current node timed out")

    monkeypatch.setattr("ray.init", init)
    complaint = r"Ray did not start; try again when less is running \(The current node timed out\)"
    with pytest.raises(UserError, match=complaint), engine.connected(1, None):
        pass


@pytest.fixture
def workers_here(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have tasks run in this process, two side by side, by a function that a test sets as `train_run`."""
    fake: Any = SimpleNamespace(
        remote=lambda **_: lambda _: SimpleNamespace(remote=lambda *args: partial(fake.train_run, *args)),
        wait=lambda tasks, **_: (tasks[:1], tasks[1:]),
        get=lambda task: task(),
        cluster_resources=lambda: {"CPU": 2.0},
        exceptions=ray.exceptions,
    )
    monkeypatch.setattr(engine, "ray", fake)
    return fake


def test_a_run_whose_workers_die_again_and_again_has_failed(workers_here: Any, tmp_path: Path) -> None:
    def train_run(_folder: Path, _plan: plans.Plan, run: plans.Run, _interval: float) -> plans.Run:
        if run.seed == 0:
            raise ray.exceptions.WorkerCrashedError
        return replace(run, state="done")

    workers_here.train_run = train_run
    plan = plans.make({}, {"seeds": "0,1"})
    sweep = Sweep(tmp_path, plan, plans.all_runs(plan))
    assert engine.train(sweep, None, 1.0)
    failed, done = state.read(tmp_path).runs
    assert (failed.state, failed.starts) == ("failed", engine.MOST_DEATHS + 1)
    assert failed.why.startswith("given up after 11 workers: The worker died")
    assert (done.state, done.starts) == ("done", 1)


def test_an_interrupted_search_goes_on_with_what_it_sampled(workers_here: Any, tmp_path: Path) -> None:
    trained: list[str] = []
    calls = count(1)

    def train_run(_folder: Path, _plan: plans.Plan, run: plans.Run, _interval: float) -> plans.Run:
        if next(calls) in {8, 9}:
            signal.raise_signal(signal.SIGINT) if not (tmp_path / state.STOP).exists() else None
            return replace(run, state="waiting")
        trained.append(run.name)
        return replace(run, state="done", objective=abs(run.values["learning_rate"] - 0.01))

    workers_here.train_run = train_run
    vary = ["learning_rate=0.001..0.1", "mask=true,false"]
    sweep = Sweep(tmp_path, plans.make({}, {"search": 12, "seeds": "0..3", "vary": vary}))
    assert not engine.train(sweep, None, 1.0)
    begun = [run.name for run in sweep.runs]
    sweep = state.read(tmp_path)
    assert engine.train(sweep, None, 1.0)
    assert [run.name for run in sweep.runs][: len(begun)] == begun
    settings = list(sweep.settings().values())
    assert len(settings) == 12
    assert all(0.001 <= runs[0].values["learning_rate"] <= 0.1 for runs in settings)
    assert {runs[0].values["mask"] for runs in settings} == {True, False}
    assert sorted(trained) == sorted(run.name for run in sweep.runs if run.state == "done")  # none twice
    seeds = {runs[0].objective: sum(run.state == "done" for run in runs) for runs in settings}
    assert seeds[min(seeds)] == 4
    assert seeds[max(seeds)] == 1
    assert {run.state for run in sweep.runs} == {"done", "dropped"}
    assert engine.next_run(sweep) is None


@pytest.mark.parametrize(
    ("objectives", "dropped"),
    [
        ([[5.0]], False),
        ([[5.0], [4.0]], True),
        ([[5.0], [6.0], [6.0]], False),
        ([[5.0], [4.0], [6.0], [6.0], [6.0], [6.0]], False),
        ([[5.0, 1.0], [4.0, 4.0]], False),  # two seeds are no rung
        ([[5.0, 1.0, 3.1], [4.0, 2.0, 3.0, 9.0]], True),  # of each the first three seeds
        ([[5.0, 1.0, 2.9], [4.0, 2.0, 3.0], [1.0]], False),
    ],
)
def test_only_the_best_third_of_the_settings_goes_on(objectives: list[list[float]], dropped: bool) -> None:
    sweep = Sweep(Path("it"), plans.make({}, {"search": 9, "vary": ["gamma=0.1..0.9"]}))
    for number, of_setting in enumerate(objectives):
        runs = [plans.run_of({"gamma": number}, seed) for seed in range(5)]
        for run_, objective in zip(runs, of_setting, strict=False):
            run_.state, run_.objective = "done", objective
        sweep.runs += runs
    engine.drop_if_worse(sweep, sweep.runs[0].setting)
    assert (sweep.count("dropped") > 0) == dropped


def test_a_search_space_that_is_exhausted_ends_a_search() -> None:
    sweep = Sweep(Path("it"), plans.make({}, {"search": 9, "seeds": "0", "vary": ["mask=true,false"]}))
    while next_run := engine.next_run(sweep):
        next_run.state = "done"
    assert sorted(run.setting for run in sweep.runs) == ["mask=false", "mask=true"]
