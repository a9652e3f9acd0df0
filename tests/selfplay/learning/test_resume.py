"""A run that is stopped and resumed ends with the same bits, can be made longer, and takes no settings but its own."""

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

import selfplay
from selfplay.cli import train
from selfplay.errors import UserError
from selfplay.learning import loop
from selfplay.learning.api import read_settings, snapshot_steps
from selfplay.learning.checkpoint import Checkpoints
from tests.runs import (
    DQN,
    TABULAR,
    Stopper,
    assert_same,
    content_of,
    in_parts,
    last_checkpoint,
    metrics,
    refused,
    results,
    stopped,
)

pytestmark = pytest.mark.usefixtures("in_a_command")


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder of a DQN that was stopped after 1,120 plies and one evaluation."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield stopped(tmp_path_factory.mktemp("interrupted") / "it", Stopper(monkeypatch))


@pytest.fixture
def folder(interrupted: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(interrupted, tmp_path / "it"))


def resume(folder: Path, *args: str) -> None:
    train.main(["--resume", str(folder), *args])


def test_sigterm_asks_for_a_checkpoint_and_a_second_signal_waits_for_none(tmp_path: Path, stopper: Stopper) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stopper.signals = [signal.SIGTERM]
    folder = stopped(tmp_path / "it", stopper, stop=5)
    assert last_checkpoint(folder).name.startswith("2-")
    stopper.left = 5
    with pytest.raises(KeyboardInterrupt):  # a program that was told to end must not go on with something else
        selfplay.train(resume=folder, force=True)
    assert last_checkpoint(folder).name.startswith("3-")
    stopper.signals = [signal.SIGTERM, signal.SIGINT]
    stopper.left = 5
    with pytest.raises(KeyboardInterrupt):
        resume(folder)
    assert last_checkpoint(folder).name.startswith("3-")
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.parametrize(
    ("args", "longer", "snapshots"),
    [
        (DQN, ["--total-steps", "4800"], (960, 1_920, 2_880, 4_800)),
        (["td-backup", *TABULAR], ["--games", "2000"], (400, 800, 1_200, 4_500)),
    ],
    ids=["dqn", "td-backup"],
)
def test_a_finished_run_says_so_and_can_be_made_as_long_as_another(
    args: list[str], longer: list[str], snapshots: tuple[int, ...], tmp_path: Path, stopper: Stopper
) -> None:
    in_parts(args, tmp_path / "it", stopper, [])
    before = content_of(tmp_path / "it")
    assert re.search(rf"is finished; {longer[0]} above \d+ continues it$", refused(resume, tmp_path / "it"))
    assert content_of(tmp_path / "it") == before
    resume(tmp_path / "it", *longer)
    in_parts([*args, *longer], tmp_path / "longer", stopper, [])
    extended, whole = results(tmp_path / "it"), results(tmp_path / "longer")
    assert extended["model.safetensors"] == whole["model.safetensors"]
    assert extended["state"] == whole["state"]
    steps, of_whole = ({*snapshot_steps(tmp_path / name)} for name in ("it", "longer"))
    assert steps >= {*snapshots}  # the third evaluation is that of the first end
    assert steps ^ of_whole == {snapshots[2], snapshots[2] // 3 * 4}  # the fourth evaluation of each


def test_a_run_that_has_proved_what_it_should_is_not_made_longer(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "proves", lambda _, stop: stop != "never")
    in_parts([*DQN, "--eval-every", "160"], tmp_path / "it", stopper, [25])  # in the middle of the streak
    assert [line["plies"] for line in metrics(tmp_path / "it")] == [160, 320, 480]
    for longer in ([], ["--total-steps", "4800"]):
        message = refused(resume, tmp_path / "it", *longer)
        assert "is finished: --stop unbeatable is proved; --stop never --force continues it" in message
    resume(tmp_path / "it", "--total-steps", "1600", "--stop", "never", "--force")
    assert metrics(tmp_path / "it")[-1]["plies"] == 1_600


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["--seed", "4"], "--seed was 1000 and now is 4 (--force takes them)"),
        (["--mask", "--gamma", "0.5"], "--mask was False and now is True; --gamma was 0.99 and now is 0.5"),
        (["--total-steps", "1600"], "--total-steps was 2400 and now is 1600"),
        (["--hidden", "8", "8"], "--hidden was (16,) and now is (8, 8)"),
        (["minimax-q"], "is a run of dqn, not of minimax-q"),
        (["--run-dir", "elsewhere"], "--run-dir and --resume both name the run's folder"),
        (["--hidden", "8", "16", "--force"], "is of another board or network than config.json describes: for 3x3"),
        (["--total-steps", "1120", "--force"], "--total-steps must be above what has been played, 1,120, got 1120"),
    ],
)
def test_other_settings_are_refused_with_the_difference(args: list[str], gist: str, folder: Path) -> None:
    before = content_of(folder)
    command = [*args, "--resume", str(folder)] if args == ["minimax-q"] else ["--resume", str(folder), *args]
    assert gist in refused(train.main, command)
    assert content_of(folder) == before


def test_a_run_locks_its_folder(tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = []

    def intrude(*_: object) -> None:
        refusals.append(refused(resume, tmp_path / "it"))

    monkeypatch.setattr(Checkpoints, "write", intrude)
    in_parts(DQN, tmp_path / "it", stopper, [])
    assert set(refusals) == {f"{tmp_path / 'it'}: another process is training in it; wait for it or stop it"}


def test_a_read_only_folder_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and access(path, mode))
    message = refused(resume, folder)
    assert message == f"{folder}: is not writable; copy the run elsewhere and resume it there"


def test_a_run_whose_checkpoints_are_gone_keeps_its_results_unless_by_force(
    folder: Path, tmp_path: Path, stopper: Stopper, capsys: pytest.CaptureFixture[str]
) -> None:
    in_parts(DQN, tmp_path / "whole", stopper, [])
    shutil.rmtree(folder / "checkpoint")
    before = content_of(folder)
    lost = f"{folder}: has results but no checkpoint (the disk was full, or it is gone)"
    assert refused(resume, folder) == f"{lost}; put it back, or begin the run again with --force"
    assert content_of(folder) == before
    resume(folder, "--force")
    assert capsys.readouterr().err == f"{folder}: holds no checkpoint yet; the run begins again\n"
    assert_same(tmp_path / "whole", folder)


def test_a_run_that_diverges_keeps_its_last_good_checkpoint(folder: Path) -> None:
    before = last_checkpoint(folder).read_bytes()
    with pytest.raises(UserError, match="the loss is no longer finite; lower --learning-rate"):
        resume(folder, "--learning-rate", "1e30", "--force")
    assert last_checkpoint(folder).read_bytes() == before
    assert getattr(read_settings(folder)[0], "learning_rate", None) == 1e30


def test_a_run_keeps_its_device_and_takes_another_by_force(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    config = json.loads((folder / "config.json").read_text())
    config["config"]["device"] = "cuda"
    (folder / "config.json").write_text(json.dumps(config))
    assert refused(resume, folder).endswith("has no CUDA; use --device cpu")
    message = refused(resume, folder, "--device", "cpu")
    assert "--device was 'cuda' and now is 'cpu' (--force takes them)" in message
    read = Checkpoints.read

    def read_from_cuda(checkpoints: Checkpoints, expected: Any) -> Any:
        found = read(checkpoints, expected)
        assert found is not None
        found.state.tensors["generator"].fill_(255)  # no state that the generator of a CPU takes
        return found._replace(settings={**found.settings, "device": "cuda"})

    monkeypatch.setattr(Checkpoints, "read", read_from_cuda)
    resume(folder, "--device", "auto", "--force")
    assert getattr(read_settings(folder)[0], "device", "") == "cpu"
    assert metrics(folder)[-1]["plies"] == 2_400


@pytest.mark.parametrize(
    "content",
    ["", '{"plies": 960, "time/training_s": NaN}\n', '{"plies": -1, "time/training_s": 1}\n', '{"plies": 960}\n'],
)
def test_metrics_that_lack_what_the_checkpoint_counts_are_refused(content: str, folder: Path) -> None:
    path = folder / "metrics.jsonl"
    path.write_text(content)
    message = refused(resume, folder)
    assert message.startswith(f"{path}: ")
    assert message.endswith("; restore it")


def test_what_metrics_hold_beyond_the_checkpoint_is_cut_off(folder: Path) -> None:
    path = folder / "metrics.jsonl"
    first = metrics(folder)[0]
    path.write_text(path.read_text() + path.read_text().replace("960", "1111") + '{"plies"')
    resume(folder)
    assert [line["plies"] for line in metrics(folder)] == [960, 1_920, 2_400]
    assert metrics(folder)[0] == first
