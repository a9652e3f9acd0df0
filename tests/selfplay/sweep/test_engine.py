"""Sweeps on Ray: to their end, interrupted, with workers that die, runs that fail, a search, and a cluster."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.cli import sweep as command
from selfplay.errors import UserError
from selfplay.runs.folder import MODEL
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, PlannedRun, all_runs
from selfplay.sweep.sweep_results import FAILURE
from tests.runs import refused

pytest.importorskip("ray", reason="the extra `sweep` is not installed")
pytest.importorskip("optuna", reason="the extra `sweep` is not installed")

from selfplay.sweep import engine

pytestmark = pytest.mark.slow
SMALL = ("hidden=16", "num_envs=16", "batch_size=32", "memory_size=700", "warmup=64", "eval_every=800")
PLAN = Plan(seeds="1000", set=(*SMALL, "total_steps=2400"), each=("mask=true",))

SWEEP_ON_A_CLUSTER = """
import subprocess, sys
from ray.cluster_utils import Cluster

cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
words = [sys.executable, "-m", "selfplay", "sweep", *sys.argv[1:], "--address", cluster.address]
status = subprocess.run(words).returncode
cluster.shutdown()
sys.exit(status)
"""
"""A program of its own, since a cluster that ends disconnects its process from any other Ray."""


def flags(plan: Plan, folder: Path, *more: str) -> list[str]:
    """Return the flags of a sweep."""
    words = ["--seeds", plan.seeds, "--dir", str(folder), *more]
    for name in ("set", "vary", "each"):
        for word in getattr(plan, name):
            words += [f"--{name}", word]
    return words


@pytest.fixture(scope="module")
def ray_started() -> Iterator[None]:
    """Start Ray once, with two workers that take seconds to import what they need."""
    with engine.connected(2, None):
        yield


@pytest.fixture
def on_ray(ray_started: None, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001 (it has started Ray)
    """Have the sweeps of a test use the Ray that is started."""
    monkeypatch.setattr(engine, "connected", lambda *_: contextlib.nullcontext())
    for name in ("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "RAY_AUTH_TOKEN"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)  # so that what a sweep sets is removed in the end


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Return the models of the runs, each trained without a sweep, by name."""
    folder = tmp_path_factory.mktemp("undisturbed")
    for run in all_runs(PLAN):
        selfplay.train(run.config, run_dir=folder / run.name, progress=False)
    return models(folder)


def models(folder: Path) -> dict[str, bytes]:
    return {path.parent.name: path.read_bytes() for path in folder.glob(f"*/{MODEL}")}


def ports_of_ray(files: str) -> set[int]:
    """Return the ports on 127.0.0.1 of the Ray that has its files in a folder."""
    ports = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):  # it has ended
            words = path.read_text(errors="replace")
            if files in words:
                ports |= {int(port) for port in re.findall(r"--gcs-address=127\.0\.0\.1:(\d+)", words)}
    return ports


@pytest.mark.usefixtures("on_ray")
def test_a_sweep_trains_every_run_names_what_failed_and_is_resumed(
    undisturbed: dict[str, bytes], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = "learning_rate=1e+30,seed=1000"
    with pytest.raises(SystemExit) as ended:
        command.main(flags(PLAN, tmp_path, "--each", "learning_rate=1e30"))
    assert ended.value.code == 1
    assert models(tmp_path) == undisturbed
    assert failing in capsys.readouterr().err
    assert [path.parent.name for path in tmp_path.glob(f"*/{FAILURE}")] == [failing]
    assert "engine.py" not in (tmp_path / failing / FAILURE).read_text()  # as in a traceback of the worker

    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob(f"*/{MODEL}")}
    plans.write(PLAN, tmp_path)  # without what fails
    (tmp_path / "default,seed=1000" / FAILURE).write_text("its workers died\n")
    command.main(["--resume", str(tmp_path), "--cpus", "1"])
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.glob(f"*/{MODEL}")}
    assert not (tmp_path / "default,seed=1000" / FAILURE).exists()


@pytest.mark.usefixtures("on_ray")
def test_ctrl_c_loses_no_run_and_nobody_else_reaches_ray(
    undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [sys.executable, "-m", "selfplay", "sweep", *flags(PLAN, tmp_path, "--cpus", "1")]
    with tempfile.TemporaryDirectory() as files:  # of a short name, for Ray's sockets
        monkeypatch.setenv("TMPDIR", files)
        with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()  # that Ray starts
            name = process.stdout.readline().split(": ")[1]
            [port] = ports_of_ray(files)
            with pytest.raises(ConnectionRefusedError):  # as from another machine
                socket.create_connection(("127.0.0.2", port))
            process.send_signal(signal.SIGINT)
            _, complaint = process.communicate(timeout=60)
    assert (process.returncode, str(tmp_path) in complaint) == (130, True)
    kept = (tmp_path / name / MODEL).stat().st_mtime_ns
    command.main(["--resume", str(tmp_path)])
    assert (tmp_path / name / MODEL).stat().st_mtime_ns == kept
    assert models(tmp_path) == undisturbed


@pytest.mark.usefixtures("on_ray")
def test_a_run_whose_worker_dies_continues_from_its_checkpoint(
    undisturbed: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dies_once(sweep: Path, run: PlannedRun, checkpoint_interval: float) -> None:
        folder = sweep / run.name
        if not folder.exists():
            asked = iter(range(100))
            selfplay.train(run.config, run_dir=folder, stop_when=lambda: next(asked, None) is None, progress=False)
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / "continued").touch()
        train_run(sweep, run, checkpoint_interval)

    train_run = engine.train_run
    monkeypatch.setattr(engine, "train_run", dies_once)
    command.main(flags(PLAN, tmp_path))
    assert models(tmp_path) == undisturbed
    assert all((tmp_path / name / "continued").exists() for name in undisturbed)


class OwnAgent(selfplay.DQNAgent):
    """An agent that no file can bring along."""


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.usefixtures("on_ray")
def test_a_sweep_of_a_custom_agent_is_resumed_only_with_it(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    plan = Plan(seeds=PLAN.seeds, set=PLAN.set)
    [run] = all_runs(plan)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "train_all", interrupted)  # before the run has begun
        with pytest.raises(KeyboardInterrupt):
            command.main(flags(plan, tmp_path), agent=OwnAgent)
    assert f"{__name__}:OwnAgent" in refused(command.main, ["--resume", str(tmp_path)])
    asked = iter([False] * 100)
    own: dict[str, Any] = {"agent": OwnAgent, "stop_when": lambda: next(asked, True), "progress": False}
    selfplay.train(run.config, run_dir=tmp_path / run.name, **own)
    command.main(["--resume", str(tmp_path)], agent=OwnAgent)
    assert models(tmp_path) == {run.name: undisturbed[run.name]}
    assert f"{__name__}:OwnAgent" in refused(selfplay.train, resume=tmp_path / run.name)


@pytest.mark.usefixtures("on_ray")
def test_a_search_trains_until_all_its_settings_are_tried(tmp_path: Path) -> None:
    plan = Plan(seeds="0", set=("games=40", "eval_every=20"), vary=("gamma=0.5..1.0",))
    command.main(flags(plan, tmp_path, "--algorithm", "td-backup", "--search", "2", "--cpus", "1"))
    assert len(models(tmp_path)) == 2
    command.main(["--resume", str(tmp_path)])
    assert len(models(tmp_path)) == 2


def test_a_sweep_on_a_cluster_learns_the_same(undisturbed: dict[str, bytes], tmp_path: Path) -> None:
    words = [sys.executable, "-c", SWEEP_ON_A_CLUSTER, *flags(PLAN, tmp_path)]
    subprocess.run(words, check=True, capture_output=True)
    assert models(tmp_path) == undisturbed


def test_an_address_without_a_cluster_is_refused(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # where nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(UserError, match=address):
            command.main(flags(PLAN, tmp_path, "--address", address))


def test_a_worker_that_does_not_see_the_sweep_begins_no_run(tmp_path: Path) -> None:
    [run, *_] = all_runs(PLAN)
    with pytest.raises(UserError, match=str(tmp_path)):
        engine.train_run(tmp_path, run, 60.0)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("on_ray")
def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    folder, elsewhere = tmp_path / "sweep", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    plans.write(PLAN, folder)
    (folder / "default,seed=1000").symlink_to(elsewhere)
    with pytest.raises(UserError, match="default,seed=1000"):
        command.main(["--resume", str(folder)])
    assert list(elsewhere.iterdir()) == []
