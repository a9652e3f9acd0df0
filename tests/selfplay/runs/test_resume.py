"""A run that is stopped and resumed ends with the same bits, can be made longer, and takes no settings but its own."""

import dataclasses
import itertools
import json
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

import selfplay
from selfplay import files
from selfplay.cli import train as command
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner, choose_device
from selfplay.runs import loop, run
from selfplay.runs.checkpoint import read_checkpoint
from selfplay.runs.folder import CHECKPOINT
from selfplay.runs.load import load, read_settings, snapshot_steps
from selfplay.runs.loop import Counters, worth
from selfplay.runs.run import RunFolder
from tests.runs import SHORT, Stopper, assert_same, content_of, metrics, refused, results, without_plots

pytestmark = pytest.mark.usefixtures("stopper")  # runs without plots
TABULAR: dict[str, Any] = {"games": 1_000, "eval_every": 400, "seed": 1_000}


def train(*args: Any, **settings: Any) -> selfplay.Run:
    return selfplay.train(*args, **settings, progress=False)


def resume(folder: Path, **settings: Any) -> selfplay.Run:
    return train(resume=folder, **settings)


def after(checks: int) -> Callable[[], bool]:
    """Return a `stop_when` that stops a run when it is called for the nth time."""
    calls = itertools.count(1)
    return lambda: next(calls) == checks


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a DQN that was stopped after 1,120 plies and one evaluation."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        without_plots(monkeypatch.setattr)
        return train(**SHORT, run_dir=tmp_path_factory.mktemp("interrupted") / "it", stop_when=after(70)).folder


@pytest.fixture
def folder(interrupted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(interrupted, tmp_path / "it"))


def plies(folder: Path) -> int:
    found = read_checkpoint(folder)
    assert found is not None
    return int(found.state["plies"])


def test_ctrl_c_asks_for_a_checkpoint_and_a_second_signal_waits_for_none(tmp_path: Path, stopper: Stopper) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stopper.left = 5
    folder = tmp_path / "it"
    assert train(**SHORT, run_dir=folder).interrupted
    assert plies(folder) == 96
    for signals, steps in (([signal.SIGTERM], 192), ([signal.SIGINT, signal.SIGTERM], 192)):
        stopper.signals, stopper.left = signals, 5
        with pytest.raises(KeyboardInterrupt):  # a program that was told to end must not do something else
            resume(folder)
        assert plies(folder) == steps
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.parametrize(
    ("algorithm", "settings", "longer"),
    [("dqn", SHORT, {"total_steps": 3_360}), ("td-backup", TABULAR, {"games": 2_000})],
)
def test_a_finished_run_says_so_and_can_be_made_as_long_as_another(
    algorithm: str, settings: dict[str, Any], longer: dict[str, int], tmp_path: Path
) -> None:
    folder = train(algorithm, **settings, run_dir=tmp_path / "it").folder
    before = content_of(folder)
    message = refused(resume, folder)
    assert str(folder) in message
    assert next(iter(longer)) in message
    assert content_of(folder) == before
    resume(folder, **longer)
    other = train(algorithm, **{**settings, **longer}, run_dir=tmp_path / "longer").folder
    extended, whole = results(folder), results(other)
    assert extended["model.safetensors"] == whole["model.safetensors"]
    assert extended["state"] == whole["state"]


def test_a_run_that_has_proved_what_it_should_is_not_made_longer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "proves", lambda _, stop: stop != "never")
    settings = {**SHORT, "eval_every": 160}
    folder = train(**settings, run_dir=tmp_path / "it", stop_when=after(25)).folder  # in the middle of the streak
    resume(folder)
    assert [line["plies"] for line in metrics(folder)] == [160, 320, 480]
    for longer in ({}, {"total_steps": 4_800}):
        assert "stop" in refused(resume, folder, **longer)
    resume(folder, total_steps=1_600, stop="never", force=True)
    assert metrics(folder)[-1]["plies"] == 1_600


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 4}, ["seed", "1000", "4"]),
        ({"mask": True, "gamma": 0.5}, ["mask", "gamma", "0.99", "0.5"]),
        ({"total_steps": 1_600}, ["total_steps"]),
        ({"rows": 4}, ["rows", "3", "4"]),
        ({"run_dir": "elsewhere"}, ["run_dir"]),
        ({"hidden": (8, 16), "force": True}, [CHECKPOINT, "hidden"]),
        ({"networks": "separate", "force": True}, [CHECKPOINT, "networks"]),
        ({"target": "independent", "force": True}, [CHECKPOINT, "target"]),
        ({"opponents": "snapshots", "force": True}, [CHECKPOINT, "opponents"]),
    ],
    ids=str,
)
def test_other_settings_are_refused_with_the_difference(
    changes: dict[str, Any], named: list[str], folder: Path
) -> None:
    before = content_of(folder)
    message = refused(resume, folder, **changes)
    assert [name for name in named if name not in message] == []
    assert content_of(folder) == before
    assert "dqn" in refused(train, "minimax-q", resume=folder)


def test_a_run_locks_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = []
    checkpoint = RunFolder.checkpoint

    def intrude(folder: RunFolder, progress: Counters, now: bool) -> None:
        refusals.append(refused(resume, tmp_path / "it"))
        checkpoint(folder, progress, now)

    monkeypatch.setattr(RunFolder, "checkpoint", intrude)
    train(**SHORT, run_dir=tmp_path / "it")
    assert refusals
    assert all(str(tmp_path / "it") in refusal for refusal in refusals)


def test_a_run_whose_checkpoint_is_gone_keeps_its_results(folder: Path) -> None:
    (folder / CHECKPOINT).unlink()
    before = content_of(folder)
    assert str(folder) in refused(resume, folder)
    assert content_of(folder) == before


def test_a_run_that_diverges_keeps_its_last_good_checkpoint(folder: Path) -> None:
    before = (folder / CHECKPOINT).read_bytes()
    assert "learning_rate" in refused(resume, folder, learning_rate=1e30, force=True)
    assert (folder / CHECKPOINT).read_bytes() == before


def test_a_run_keeps_the_device_that_auto_became(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    device = choose_device("auto").type
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for given in (DQNConfig(**SHORT), DQNConfig(**SHORT, device=device), None):  # type: ignore[arg-type]
        run = train(given, resume=folder, stop_when=after(1))
        assert getattr(run.config, "device", "") == getattr(read_settings(folder).config, "device", "") == device


def test_a_run_keeps_its_device_and_takes_another_by_force(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    content = json.loads((folder / "config.json").read_text())
    content["config"]["device"] = "cuda"
    (folder / "config.json").write_text(json.dumps(content))
    assert "device" in refused(resume, folder)
    assert "device" in refused(resume, folder, device="cpu")
    found = read_checkpoint(folder)
    assert found is not None
    found.state.update(device="cuda", generator=torch.zeros(16, dtype=torch.uint8))
    monkeypatch.setattr(run, "read_checkpoint", lambda _: found)
    resume(folder, device="cpu", force=True)
    assert getattr(read_settings(folder).config, "device", "") == "cpu"
    assert metrics(folder)[-1]["plies"] == 2_400


def test_metrics_and_snapshots_beyond_the_checkpoint_are_dropped(folder: Path) -> None:
    path, snapshots = folder / "metrics.jsonl", folder / "snapshots"
    shutil.copy(snapshots / "960.safetensors", snapshots / "2001.safetensors")
    first = metrics(folder)[0]
    path.write_text(path.read_text() + path.read_text().replace("960", "1111") + '{"plies"')
    resume(folder)
    assert [line["plies"] for line in metrics(folder)] == [960, 1_920, 2_400]
    assert metrics(folder)[0] == first
    assert {960, 1_920, 2_400} <= {*snapshot_steps(folder)}
    assert 2_001 not in snapshot_steps(folder)


def test_the_last_proved_player_is_kept_also_by_a_run_that_was_stopped_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ["random", "optimal", "optimal", "random", "random"]
    settings = {**SHORT, "eval_every": 480, "counterexamples": 0}

    def run(folder: str, stop_when: Callable[[], bool]) -> selfplay.Run:
        script = (SimpleNamespace(verdict=selfplay.evaluate(name)) for name in names)
        monkeypatch.setattr(loop, "evaluate_policy", lambda *_: next(script))
        begun = train(**settings, run_dir=tmp_path / folder / "it", stop_when=stop_when)
        return resume(begun.folder) if begun.interrupted else begun

    whole = run("whole", lambda: False)
    assert (whole.kept_steps, whole.kept.steps, whole.verdict.unbeatable) == (1_440, 1_440, True)
    stopped = run("stopped", after(110))  # after 1,760 plies
    assert_same(whole.folder, stopped.folder)
    assert not torch.equal(*(weights(load(whole.folder, steps=steps)) for steps in (None, 2_400)))
    opened = selfplay.open(stopped.folder)
    assert (opened.kept.steps, opened.verdict, opened.records) == (1_440, whole.verdict, stopped.records)
    assert [(record.proofs, record.lapses) for record in opened.records] == [(0, None), (1, 0), (2, 0), (0, 1), (0, 2)]
    assert json.loads((whole.folder / "config.json").read_text())["kept_steps"] == 1_440
    assert json.loads((whole.folder / "evaluation.json").read_text())["unbeatable"]
    learner = DQNLearner(whole.config)  # type: ignore[arg-type]
    while learner.steps < 1_440:
        learner.advance(1)
    assert torch.equal(weights(learner.player()), weights(load(whole.folder)))


def weights(player: Any) -> torch.Tensor:
    return torch.cat([tensor.flatten() for tensor in player.tensors().values()])


@pytest.mark.parametrize(("stop", "worths"), [("unbeatable", [0, 1, 1]), ("never", [0, 1, 1]), ("optimal", [0, 1, 2])])
def test_an_optimal_player_is_worth_more_than_an_unbeatable_one_where_that_is_asked_for(
    stop: str, worths: list[int]
) -> None:
    optimal = selfplay.evaluate("optimal")
    verdicts = (selfplay.evaluate("random"), dataclasses.replace(optimal, optimal_states=4_000), optimal)
    assert [worth(verdict, stop) for verdict in verdicts] == worths


def test_a_resumed_run_reads_its_settings_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    read = files.open_regular

    def count(path: Path, most: int) -> Any:
        opened.append(path.name)
        return read(path, most)

    monkeypatch.setattr(files, "open_regular", count)
    command.main(["--resume", str(folder)])
    assert opened.count("config.json") == 1
