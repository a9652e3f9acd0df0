"""Short runs of `train.py`: their flags, how they are stopped, and what they have come to."""

import hashlib
import json
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from selfplay.commands import train
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.proof.evaluation import evaluate
from selfplay.runs import checkpoints as checkpoint
from selfplay.runs import folder as run_folder
from selfplay.runs.checkpoints import Checkpoints
from selfplay.tabular import learner as training
from selfplay.tensor_file import write_tensors
from tests.selfplay.dqn.scripted import config_with, make

ROOT = Path(__file__).parents[1]
SMALL = ["--hidden", "16", "--num-envs", "16", "--batch-size", "32", "--memory-size", "700", "--warmup", "64"]
DQN = [*SMALL, "--total-steps", "2400", "--eval-every", "960", "--seed", "1000", "--device", "cpu"]
TABULAR = ["--games", "1000", "--eval-every", "400", "--seed", "1000"]
OFTEN = ["--checkpoint-interval", "1e-9"]
"""With these a run, in a process in which `often` was called, writes a checkpoint whenever it can."""


def often() -> None:
    """Write a checkpoint after every step and every few games."""
    checkpoint.LARGEST_SHARE = float("inf")
    training.SLICE = 20


def interrupt(flags: Sequence[str], place: Path, evaluations: int) -> Path:
    """Press Ctrl-C in `train.py`, in its own process, after so many evaluations; return the folder of its run."""
    program = [sys.executable, str(ROOT / "train.py")]
    command = [*program, *flags, "--run-dir", "it"]
    # A shell that runs the tests in its background has them ignore the signal, which a child would inherit.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    training = subprocess.Popen(command, cwd=place, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, handler)
    metrics = place / "it" / "metrics.jsonl"
    while not (metrics.exists() and metrics.read_text().count("\n") >= evaluations):
        assert training.poll() is None
        time.sleep(0.05)
    try:
        training.send_signal(signal.SIGINT)
        output, errors = training.communicate(timeout=60)
    finally:
        training.kill()
    assert training.returncode == 130
    assert errors == "python train.py: interrupted; the player so far is in it\n"
    assert output.endswith(f"Play against it:\n  {sys.executable} -m selfplay play it\n")
    assert f"Go on with the run:\n  {shlex.join(program)} --resume it\n" in output
    assert "NOT unbeatable: some opponent beats it" in output or "PROVED" in output
    assert not (place / "it" / "evaluation.json").exists()
    return place / "it"


def check_tensorboard(folder: Path, unit: str) -> None:
    """Check that TensorBoard shows what metrics.jsonl says, over plies or games, and that its page explains it."""
    events = EventAccumulator(str(folder))
    events.Reload()
    tags = events.Tags()
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for tag in lines[-1].keys() - {unit}:
        shown = {event.step: event.value for event in events.Scalars(tag)}
        assert shown == {line[unit]: pytest.approx(line[tag], rel=1e-6) for line in lines if tag in line}
    assert tags["images"] == ["q/opening"]
    assert tags["tensors"] == ["game/self_play/text_summary"]
    hparams = {name for name in events.summary_metadata if name.startswith("_hparams_/")}
    assert hparams == {"_hparams_/session_start_info", "_hparams_/session_end_info"}  # see Events.hparams
    page = (ROOT / "docs" / "runs-and-tensorboard.md").read_text()
    for tag in {*tags["scalars"], *tags["images"], "game/self_play"}:
        documented = tag.replace("/second/", "/first/")
        assert f"`{documented}`" in page, documented


class Stopper:
    """Press Ctrl-C, or send other signals, when a run asks for the nth time whether a checkpoint is due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.signals = [signal.SIGINT]
        asked = Checkpoints.due

        def due(kept: Checkpoints, steps: int) -> bool:
            self.left -= 1
            if self.left == 0:
                for number in self.signals:
                    signal.raise_signal(number)
            return asked(kept, steps)

        monkeypatch.setattr(Checkpoints, "due", due)


def in_parts(args: Sequence[str], folder: Path, stopper: Stopper, stops: Sequence[int]) -> None:
    """Train in this process, stopped so often."""
    start = [*args, "--run-dir", str(folder)]
    for stop in stops:
        stopper.left = stop
        with pytest.raises(KeyboardInterrupt, match=f"interrupted; the player so far is in {folder}$"):
            train.main(start)
        start = ["--resume", str(folder)]
    stopper.left = -1
    train.main(start)


def stopped(folder: Path, stopper: Stopper, args: Sequence[str] = DQN, stop: int = 70) -> Path:
    """Return the folder of a run that was stopped on its way, after its first evaluation."""
    stopper.left = stop
    with pytest.raises(KeyboardInterrupt):
        train.main([*args, "--run-dir", str(folder)])
    return folder


def newest(folder: Path) -> int:
    """Return the number of a run's last checkpoint, 0 before the first."""
    return max((int(path.stem) for path in (folder / "checkpoint").glob("*.json")), default=0)


def content_of(folder: Path) -> dict[Path, bytes]:
    """Return every file of a folder with its content."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(args: Sequence[str]) -> str:
    """Return the one line with which a command line is refused."""
    with pytest.raises(UserError) as caught:
        train.main(args)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def saved(folder: Path, **changes: Any) -> DQNConfig:
    """Leave the folder of a run that has learned nothing, and return its settings."""
    config = config_with(**changes)
    player = make(config, separate=config.networks == "separate").player()
    run_folder.create(folder)
    run_folder.write_config(folder, config, {})
    write_tensors(folder / run_folder.MODEL, player.tensors())
    run_folder.write_evaluation(folder, evaluate(player, config.rules))
    return config


def left_behind(folder: Path) -> dict[str, Any]:
    """Return what a run has come to, times left out."""
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    tensors = load_file(folder / "checkpoint" / f"{newest(folder)}.safetensors")
    return {
        "model": (folder / "model.safetensors").read_bytes(),
        "state": {name: tensor.tolist() for name, tensor in tensors.items()},
        "evaluation": (folder / "evaluation.json").read_bytes(),
        "metrics": [
            {name: value for name, value in line.items() if name == "time/updates" or not name.startswith("time/")}
            for line in lines
        ],
    }


def same(one: Path, other: Path) -> None:
    """Assert that two runs have come to the same, without a difference of megabytes in the report."""
    first, second = left_behind(one), left_behind(other)
    assert [name for name in first if first[name] != second[name]] == []
    assert first["metrics"]


def forge(folder: Path, tensors: Mapping[str, torch.Tensor] | None = None, **changes: Any) -> None:
    """Change a run's last checkpoint as another program would, with the right checksums."""
    path = folder / "checkpoint" / f"{newest(folder)}.json"
    content = json.loads(path.read_text())
    for name, value in changes.items():
        content[name] = content[name] | value if isinstance(value, dict) else value
    if tensors:
        packed = path.with_suffix(".safetensors")
        save_file(load_file(packed) | dict(tensors), packed)
        content["tensors_sha256"] = hashlib.sha256(packed.read_bytes()).hexdigest()
    del content["sha256"]
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content | {"sha256": checksum}))
