"""Short runs: their settings, how they are stopped, and their results."""

import csv
import json
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from selfplay import plot_style
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.runs import folder as run_folder, run_plots
from selfplay.runs.checkpoint import read_checkpoint
from selfplay.runs.loop import Counters
from selfplay.runs.run import RunFolder
from selfplay.tabular import learners as tabular
from selfplay.tensor_file import write_tensors
from tests.selfplay.dqn.scripted import config_with, make

ROOT = Path(__file__).parents[1]
SHORT: Mapping[str, Any] = {
    "hidden": (16,),
    "num_envs": 16,
    "batch_size": 32,
    "memory_size": 700,
    "warmup": 64,
    "total_steps": 2_400,
    "eval_every": 960,
    "seed": 1_000,
}
"""Settings of a DQN with three evaluations, which takes a second."""
PIXEL = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sIIBBBBB", 13, b"IHDR", 1, 1, 8, 6, 0, 0, 0)
"""The head of a PNG file, which is all that is read of it."""


def without_plots(replace: Callable[[object, str, object], object]) -> None:
    """Let every plot of a run, slower than all the rest, be a pixel; `replace` is `setattr`, or a test's own."""
    for name in ("run_figure", "value_figure"):
        replace(run_plots, name, lambda *_: None)
    for name in ("cumulative_figure", "groups_figure", "density_figure"):
        replace(tabular, name, lambda *_: None)
    for module in (plot_style, tabular):
        replace(module, "png", lambda _: PIXEL)


class Stopper:
    """Press Ctrl-C, or send other signals, when a run asks for the nth time for a checkpoint if it is time."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.signals = [signal.SIGINT]
        checkpoint = RunFolder.checkpoint

        def count(folder: RunFolder, progress: Counters, now: bool) -> None:
            if not now:
                self.left -= 1
                if self.left == 0:
                    for number in self.signals:
                        signal.raise_signal(number)
            checkpoint(folder, progress, now)

        monkeypatch.setattr(RunFolder, "checkpoint", count)


def content_of(folder: Path) -> dict[Path, bytes]:
    """Return every file of a folder with its content."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def refused(call: Callable[..., object], *args: Any, **settings: Any) -> str:
    """Return the message with which a mistake is refused."""
    with pytest.raises(UserError) as caught:
        call(*args, **settings)
    return str(caught.value)


def python(*args: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


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
    from selfplay.verdicts import evaluate

    config = config_with(**changes)
    player = make(config, separate=config.networks == "separate").player()
    save(folder, config, player)
    run_folder.write_evaluation(folder, evaluate(player, config.rules))
    return config


def results(folder: Path) -> dict[str, Any]:
    """Return what a run has written, times left out."""
    checkpoint = read_checkpoint(folder)
    assert checkpoint is not None
    state = {name: value.tolist() if hasattr(value, "tolist") else value for name, value in checkpoint.state.items()}
    checkpoint.progress.seconds = 0.0
    whole = ("model.safetensors", "evaluation.json")
    return {
        "state": state,
        "progress": checkpoint.progress,
        "kept": checkpoint.kept and checkpoint.kept.steps,
        "settings": checkpoint.settings,
        "metrics": [
            {name: value for name, value in line.items() if name == "time/updates" or not name.startswith("time/")}
            for line in metrics(folder)
        ],
        **{name: (folder / name).read_bytes() for name in whole},
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
