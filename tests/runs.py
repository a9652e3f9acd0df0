"""Short runs of `train.py`: their flags, how they are stopped, and their results."""

import csv
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file

from selfplay.cli import train
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.learning import callbacks, checkpoint, folder as run_folder
from selfplay.learning.checkpoint import Checkpoints
from selfplay.tabular import learners as training
from selfplay.tensor_file import write_tensors
from selfplay.verdicts import evaluate
from tests.selfplay.dqn.scripted import config_with, make

ROOT = Path(__file__).parents[1]
SMALL = ["--hidden", "16", "--num-envs", "16", "--batch-size", "32", "--memory-size", "700", "--warmup", "64"]
DQN = [*SMALL, "--total-steps", "2400", "--eval-every", "960", "--seed", "1000", "--device", "cpu"]
TABULAR = ["--games", "1000", "--eval-every", "400", "--seed", "1000"]
PIXEL = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 6, 0, 0, 0)
"""The head of a PNG file, which is all that is read of it."""
OFTEN = ["--checkpoint-interval", "1e-9"]
"""With these a run, in a process in which `often` was called, writes a checkpoint whenever it can."""


def without_plots(replace: Callable[[object, str, object], object]) -> None:
    """Let every plot of a run, slower than all the rest, be a pixel; `replace` is `setattr`, or a test's own."""
    replace(callbacks, "run_figure", lambda *_: None)
    replace(callbacks, "value_figure", lambda *_: None)
    for name in ("cumulative_figure", "groups_figure", "density_figure"):
        replace(training, name, lambda *_: None)
    for module in (callbacks, training):
        replace(module, "png", lambda _: PIXEL)


def often() -> None:
    """Write a checkpoint after every step and every few games, and the latest state at every evaluation."""
    checkpoint.LARGEST_SHARE = float("inf")
    callbacks.SECONDS = 0.0
    training.SLICE = 20


class Stopper:
    """Press Ctrl-C, or send other signals, when a run asks for the nth time whether a checkpoint is due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.signals = [signal.SIGINT]
        due_before = Checkpoints.due

        def due(checkpoints: Checkpoints) -> bool:
            self.left -= 1
            if self.left == 0:
                for number in self.signals:
                    signal.raise_signal(number)
            return due_before(checkpoints)

        monkeypatch.setattr(Checkpoints, "due", due)


def in_parts(args: Sequence[str], folder: Path, stopper: Stopper, stops: Sequence[int]) -> None:
    """Train in this process, stopped at some of the moments when a checkpoint may be due."""
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


def last_checkpoint(folder: Path) -> Path:
    """Return the file of a run's last checkpoint."""
    return max((folder / "checkpoint").glob("*.safetensors"), key=lambda path: int(path.name.split("-")[0]))


def content_of(folder: Path) -> dict[Path, bytes]:
    """Return every file of a folder with its content."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(call: Callable[..., object], *args: Any, **settings: Any) -> str:
    """Return the one line with which a mistake is refused."""
    with pytest.raises(UserError) as caught:
        call(*args, **settings)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def python(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


def unread(*args: str | Path, cwd: Path) -> tuple[int, str]:
    """Run Python with nobody to read what it prints; return its exit status and what it complains of."""
    nobody, output = os.pipe()
    os.close(nobody)
    command = [sys.executable, *args]
    ended = subprocess.run(command, cwd=cwd, stdout=output, stderr=subprocess.PIPE, text=True, check=False)
    os.close(output)
    return ended.returncode, ended.stderr


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def metrics(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def save(folder: Path, config: Any, player: Any) -> None:
    """Write the folder of a player from which it can be loaded."""
    run_folder.create(folder)
    run_folder.write_config(folder, config, {})
    write_tensors(folder / run_folder.MODEL, player.tensors())


def saved(folder: Path, **changes: Any) -> DQNConfig:
    """Leave the folder of a run that has learned nothing, and return its settings."""
    config = config_with(**changes)
    player = make(config, separate=config.networks == "separate").player()
    save(folder, config, player)
    run_folder.write_evaluation(folder, evaluate(player, config.rules))
    return config


def results(folder: Path) -> dict[str, Any]:
    """Return what a run has written, times left out."""
    state, run = read_checkpoint(folder)
    del run["progress"]["seconds"]
    return {
        "state": {name: tensor.tolist() for name, tensor in state.items()},
        "run": run,
        "metrics": [
            {name: value for name, value in line.items() if name == "time/updates" or not name.startswith("time/")}
            for line in metrics(folder)
        ],
        **{name: (folder / name).read_bytes() for name in ("model.safetensors", "evaluation.json", "latest.json")},
        **{path.name: path.read_bytes() for path in (*folder.glob("*.csv"), *(folder / "snapshots").iterdir())},
    }


def difference(one: Path, other: Path) -> list[str]:
    """Return the names of the results in which two runs differ, without megabytes of numbers."""
    first, second = results(one), results(other)
    return sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name))


def assert_same(one: Path, other: Path) -> None:
    """Assert that two runs have the same results."""
    assert difference(one, other) == []
    assert metrics(one)


def read_checkpoint(folder: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Return the tensors of a run's last checkpoint, and its JSON."""
    path = last_checkpoint(folder)
    with safe_open(path, framework="pt") as file:
        run = json.loads(file.metadata()["run"])
    return load_file(path), run
