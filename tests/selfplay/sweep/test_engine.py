"""Sweeps on Ray: to their end, interrupted, with workers that die, runs that fail, a cluster, and a search."""

import os
import re
import signal
import socket
import sys
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from benchmarks.learning.waiting import run_on_terminal
from benchmarks.sweeps.disturbed import reported
from benchmarks.sweeps.processes import WORKER, descendants, kill, programs, start, title, workers
from selfplay.errors import UserError
from selfplay.learning.folder import MODEL
from selfplay.sweep import plan as plans, state
from selfplay.sweep.search_space import Range, sample
from selfplay.sweep.state import Sweep
from tests.selfplay.sweep.sweeps import finish, run, small, wait_for

ray = pytest.importorskip("ray", reason="the extra `sweep` is not installed; .ci/run runs these tests with it")
from selfplay.sweep import engine  # noqa: E402

pytestmark = pytest.mark.timeout(1_800)  # each starts Ray, some several times
VARIED = ("--seeds", "1000,1001", "--each", "mask=true", "--each", "learning_rate=1e30")
AT_ONCE = 30.0
"""Seconds in which a sweep ends whose Ray was killed."""
DEFAULT = ["default,seed=1000", "default,seed=1001"]
train = partial(engine.train, cpus=None, interval=1.0, answers=lambda: True)
GOOD = [*DEFAULT, "mask=true,seed=1000", "mask=true,seed=1001"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a sweep that nothing has disturbed."""
    folder = tmp_path_factory.mktemp("whole") / "it"
    run(*small(*VARIED, "--dir", folder))
    return folder


def runs_of(folder: Path, run_state: str) -> list[plans.Run]:
    """Return the runs of a sweep in a state, none before it has begun."""
    runs = state.read(folder).runs if (folder / state.FILE).exists() else []
    return [each for each in runs if each.state == run_state]


def evaluated(folder: Path) -> bool:
    """Tell whether a run that is at work has recorded an evaluation."""
    running = [folder / each.name / "metrics.jsonl" for each in runs_of(folder, "running")]
    return any(path.exists() and path.stat().st_size for path in running)


def at_work(sweep: int, folder: Path) -> bool:
    """Tell whether a process has a worker at work on a run that has recorded an evaluation."""
    return bool(workers(sweep)) and evaluated(folder)


def test_a_sweep_trains_every_run_and_names_what_failed(whole: Path) -> None:
    assert {each.name for each in runs_of(whole, "done")} == set(GOOD)
    assert {each.starts for each in state.read(whole).runs} == {1}
    failed = runs_of(whole, "failed")[1]
    assert (failed.name, failed.why[:29]) == ("learning_rate=1e+30,seed=1001", "the loss is no longer finite;")


def test_a_killed_worker_a_killed_sweep_and_ctrl_c_lose_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "it"
    resume = ["--resume", str(folder), "--cpus", "1"]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as files:  # with a short name, for Ray's sockets
        monkeypatch.setenv("TMPDIR", files)
        process = start(*small(*VARIED, "--dir", folder, "--cpus", "1"))
        wait_for(lambda: evaluated(folder))
        assert [kill(worker) for worker in workers(process.pid)] == [True]
        wait_for(lambda: runs_of(folder, "done"))
        [done] = runs_of(folder, "done")
        assert done.starts == len(list((folder / done.name).glob("events.out.tfevents.*"))) == 2
        wait_for(lambda: evaluated(folder))
        left = descendants(process.pid)
        with process:
            process.kill()
        wait_for(lambda: not any(title(pid).startswith(WORKER) for pid in left))
        for pid in left:
            kill(pid)  # Ray's own processes, which would end within a minute
        process = start(*resume)
        wait_for(lambda: len(runs_of(folder, "done")) > 1 and evaluated(folder))
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        assert "to be resumed" in finish(process, status=130)
        assert len(list(Path(files).glob("selfplay-*"))) == 1  # of the killed one
        shown = bytearray()
        monkeypatch.setenv("TERM", "xterm")
        assert run_on_terminal([sys.executable, "-m", "selfplay", "sweep", *resume], shown.extend) == 0
    assert b"it: runs by setting" in shown
    assert b"6 of 6 runs ended: 0 proved, 2 failed; done" in shown
    assert reported(folder) == reported(whole)  # which holds the checksums of the models


def test_a_sweep_whose_ray_is_killed_ends_at_once_and_goes_on(whole: Path, tmp_path: Path) -> None:
    folder = tmp_path / "it"
    args = small(*VARIED, "--dir", folder, "--cpus", "1")
    for victim in ("raylet", "gcs_server"):
        process = start(*args)
        wait_for(partial(at_work, process.pid, folder))
        [pid] = programs(process.pid, victim)
        [raylet] = programs(process.pid, "raylet")
        [port] = set(re.findall(r"--gcs-address=127\.0\.0\.1:(\d+)", title(raylet)))
        with pytest.raises(ConnectionRefusedError):  # nobody but this machine can reach it
            socket.create_connection(("127.0.0.2", int(port)))
        kill(pid)
        killed = time.monotonic()
        assert f"--resume {folder}" in finish(process, status=2)
        assert time.monotonic() < killed + AT_ONCE
        args = ["--resume", str(folder), "--cpus", "1"]
    process = start(*args)
    wait_for(lambda: programs(process.pid, "gcs_server"))
    process.terminate()
    killed = time.monotonic()
    assert f"--resume {folder}" in finish(process, status=130)
    assert time.monotonic() < killed + AT_ONCE
    run(*args)
    assert reported(folder) == reported(whole)


def test_a_sweep_on_a_cluster_learns_the_same(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ray.cluster_utils import Cluster

    folder = tmp_path / "it"
    node = {"num_cpus": 2, "node_ip_address": "127.0.0.2", "include_dashboard": False}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as files:
        monkeypatch.setenv("RAY_TMPDIR", files)
        cluster = Cluster(initialize_head=True, head_node_args=node)
        try:
            process = start(*small("--seeds", "1000,1001", "--dir", folder, "--address", cluster.address))
            wait_for(lambda: evaluated(folder))
            assert descendants(process.pid) == []  # the cluster trains
            finish(process)
        finally:
            cluster.shutdown()
    for name in DEFAULT:
        assert (folder / name / MODEL).read_bytes() == (whole / name / MODEL).read_bytes()


def test_an_address_without_a_cluster_is_refused() -> None:
    with socket.socket() as taken:
        taken.bind(("", 0))  # where nobody else can listen either
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        complaint = rf"--address {address}: there is no Ray cluster \(Connection refused\)"
        with pytest.raises(UserError, match=complaint), engine.connected(1, address):
            pass


@pytest.fixture
def ray_here(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Have tasks run in this process, two side by side, by a function that a test sets as `train_run`."""
    fake: Any = SimpleNamespace(
        remote=lambda **_: lambda _: SimpleNamespace(remote=lambda *args: partial(fake.train_run, args[2])),
        wait=lambda tasks, **_: (tasks[:1], tasks[1:]),
        get=lambda task: task(),
        cluster_resources=lambda: {"CPU": 2.0},
        exceptions=ray.exceptions,
    )
    monkeypatch.setattr(engine, "ray", fake)
    return fake


def test_ray_has_a_second_longer_try(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[str] = []

    def init(*_: str, **__: object) -> SimpleNamespace:
        limits.append(os.environ["RAY_gcs_server_port_wait_time_s"])  # noqa: SIM112
        if len(limits) % 2 or len(limits) > 2:
            raise RuntimeError("The current node timed out during startup.")
        return SimpleNamespace(address_info={})

    monkeypatch.setattr(engine, "ray", SimpleNamespace(init=init, shutdown=lambda: None))
    monkeypatch.setenv("RAY_gcs_server_port_wait_time_s", "1")
    with engine.connected(1, None):
        assert limits == ["30", "120"]
    with (
        pytest.raises(UserError, match=r"Ray did not start, in two tries; .* \(The current"),
        engine.connected(1, None),
    ):
        pass
    assert len(limits) == 4


def test_a_sampled_value_is_within_its_range() -> None:
    space = {"gamma": Range(0.12341, 0.12344), "alpha": Range(0.12361, 0.12364)}
    sampled = next(sample(space, [], 0))
    assert sampled == {"gamma": 0.12341, "alpha": 0.12364}  # as 0.123 and 0.124 are outside


def two_runs(folder: Path) -> Sweep:
    plan = plans.make({}, {"seeds": "0,1"})
    return Sweep(folder, plan, plans.all_runs(plan))


def test_a_run_whose_workers_die_again_and_again_has_failed(ray_here: Any, tmp_path: Path) -> None:
    def train_run(run: plans.Run) -> plans.Run:
        if run.seed == 0:
            raise ray.exceptions.WorkerCrashedError
        return replace(run, state="done")

    ray_here.train_run = train_run
    assert train(two_runs(tmp_path))
    failed, done = state.read(tmp_path).runs
    assert (failed.state, failed.starts, done.state, done.starts) == ("failed", engine.MOST_DEATHS + 1, "done", 1)
    assert failed.why.startswith("given up after 11 workers: The worker died")


def test_a_second_ctrl_c_ends_a_sweep_at_once(ray_here: Any, tmp_path: Path) -> None:
    def train_run(_: plans.Run) -> None:
        signal.raise_signal(signal.SIGINT)
        assert (tmp_path / state.STOP).exists()
        signal.raise_signal(signal.SIGINT)

    ray_here.train_run = train_run
    with pytest.raises(KeyboardInterrupt):
        train(two_runs(tmp_path))
    ray_here.train_run = lambda run: replace(run, state="failed" if (tmp_path / state.STOP).exists() else "done")
    assert train(two_runs(tmp_path))
    assert {run.state for run in state.read(tmp_path).runs} == {"done"}


def test_an_interrupted_search_goes_on_with_what_it_sampled(ray_here: Any, tmp_path: Path) -> None:
    trained: list[str] = []

    def train_run(run: plans.Run) -> plans.Run:
        if len(trained) == 7 and not (tmp_path / "interrupted").exists():
            (tmp_path / "interrupted").touch()
            signal.raise_signal(signal.SIGINT)
            return replace(run, state="waiting")
        trained.append(run.name)
        return replace(run, state="done", objective=abs(run.values["learning_rate"] - 0.01))

    ray_here.train_run = train_run
    vary = ["learning_rate=0.001..0.1", "hidden=64x32,16"]
    assert not train(Sweep(tmp_path, plans.make({}, {"search": 12, "seeds": "0..3", "vary": vary})))
    sweep = state.read(tmp_path)
    assert train(sweep)
    assert sorted(trained) == sorted(run.name for run in sweep.runs if run.state == "done")  # none twice
    numbers = {runs[0].objective: [run.state for run in runs].count("done") for runs in sweep.settings().values()}
    assert (len(numbers), numbers[min(numbers)], numbers[max(numbers)]) == (12, 4, 1)
    assert {run.state for run in sweep.runs} == {"done", "dropped"}


@pytest.mark.parametrize(
    ("objectives", "dropped"),
    [
        (["5", "4", "6", "6"], True),
        (["5", "4", "6", "6", "6", "6"], False),
        (["51", "44"], False),  # two seeds are no rung
        (["513", "4219"], True),  # of each the first three seeds
        (["511", "4219", "1"], False),
    ],
)
def test_only_the_best_third_of_the_settings_goes_on(objectives: list[str], dropped: bool) -> None:
    sweep = Sweep(Path("it"), plans.make({}, {"search": 9, "vary": ["gamma=0.1..0.9"]}))
    for number, of_setting in enumerate(objectives):
        sweep.runs += [plans.run_of({"gamma": number}, seed) for seed in range(5)]
        for each, objective in zip(sweep.runs[-5:], of_setting, strict=False):
            each.state, each.objective = "done", float(objective)
    engine.drop_if_worse(sweep, sweep.runs[0].setting)
    assert sweep.ends()["dropped"] == dropped * (5 - len(objectives[0]))


def test_a_search_space_that_is_exhausted_ends_a_search() -> None:
    sweep = Sweep(Path("it"), plans.make({}, {"search": 9, "seeds": "0", "vary": ["mask=true,false"]}))
    while next_run := engine.next_run(sweep):
        next_run.state = "done"
    assert sorted(run.setting for run in sweep.runs) == ["mask=false", "mask=true"]
