"""Runs that are killed at random, and resumed until they end, have the same results as a run left alone.

A killed process leaves what it wrote before its next operation on a file, wherever it was in between. So each kill
comes before an operation, drawn at random from all those of the run. Runs write a checkpoint after every few steps.
"""

import random
import shutil
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tensorboard.backend.event_processing.plugin_event_accumulator import TENSORS, EventAccumulator

from selfplay.errors import UserError
from selfplay.runs.load import read_settings
from tests.killed import train
from tests.runs import SHORT, difference


class Setting(NamedTuple):
    """A kind of run that is killed."""

    algorithm: str | None
    settings: Mapping[str, Any]


DQN: Mapping[str, Any] = {**SHORT, "warmup": 32, "total_steps": 128, "eval_every": 48, "stop": "never"}
ARTICLE: Mapping[str, Any] = {"preset": "article", "warmup": 20, "batch_size": 16, "memory_size": 50, "seed": 1_000}
TABULAR: Mapping[str, Any] = {"games": 100, "eval_every": 40, "seed": 1_000}
SEPARATE: Mapping[str, Any] = {"networks": "separate", "target": "independent", "symmetry": "augment"}
SETTINGS: Mapping[str, Setting] = {
    "default": Setting(None, DQN),
    "mask": Setting(None, {**DQN, "mask": True, "counterexamples": 0.9, "double": True, "symmetry": "none"}),
    "separate": Setting(None, {**DQN, **SEPARATE, "hard_update": 3, "opponents": "snapshots"}),
    "article": Setting(None, {**ARTICLE, "total_steps": 60, "eval_every": 25}),
    "minimax-q": Setting("minimax-q", TABULAR),
    "afterstate-q": Setting("afterstate-q", TABULAR),
    "td-value": Setting("td-value", TABULAR),
    "td-backup": Setting("td-backup", {**TABULAR, "greedy_games": 10}),
}


class Crashes:
    """Kill and resume runs of a setting, whose files lie below `place`.

    Raises:
        AssertionError: a run that is not killed fails.
    """

    def __init__(self, setting: Setting, place: Path) -> None:
        self._setting, self._place = setting, place
        self.whole = place / "whole" / "it"
        """The folder of the run that is left alone; all have the same name, which plots show."""
        self.whole.parent.mkdir()
        done = self._train({**setting.settings, "run_dir": self.whole}, 0)
        if done.status:
            raise AssertionError(f"{setting} fails without being killed: {done.complaint}")
        self.calls = done.calls
        """Operations on files in the whole run."""

    def _train(self, settings: Mapping[str, Any], moment: int) -> Any:
        return train(self._setting.algorithm, settings, moment)

    def faults(self, *moments: int) -> list[str]:
        """Start a run, kill its processes before these operations, resume it to its end, and return its faults."""
        folder = self._place / "killed" / "it"
        folder.parent.mkdir()
        faults: list[str] = []
        for moment in (*moments, 0):
            begun = (folder / "config.json").exists()
            settings = {"resume": folder} if begun else {**self._setting.settings, "run_dir": folder}
            ended = self._train(settings, moment)
            if ended.status not in (0, -signal.SIGKILL):
                faults = [f"cannot continue: {ended.complaint}"]
            if ended.status != -signal.SIGKILL or finished(folder):
                break
        if not faults:
            faults = difference(self.whole, folder)
            faults += ["events"] if shown(self.whole) != shown(folder) else []
            faults += [str(path) for path in folder.rglob("*.partial")]
        shutil.rmtree(folder.parent)
        return faults


def finished(folder: Path) -> bool:
    """Return whether a killed run had reached its very end, after which it cannot be resumed."""
    try:
        return read_settings(folder).finished
    except UserError:  # there is no config.json yet
        return False


def shown(folder: Path) -> dict[str, object]:
    """Return what TensorBoard shows of a folder by tag: steps with numbers, pictures and texts, times left out."""
    events = EventAccumulator(str(folder), {TENSORS: 0})  # 0: all of them, no sample
    events.Reload()
    settings = events.PluginTagToContent("hparams")
    tags = [tag for tag in events.Tags()[TENSORS] if not tag.startswith(("_hparams_/", "time/"))]
    tensors = {
        tag: [(each.step, each.tensor_proto.SerializeToString()) for each in events.Tensors(tag)] for tag in tags
    }
    return {"settings": settings, **tensors}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_run_killed_twice_ends_with_the_same_bits(name: str, tmp_path: Path) -> None:
    crashes, chance = Crashes(SETTINGS[name], tmp_path), random.Random(f"0 {name}")
    assert crashes.faults(*(chance.randint(1, crashes.calls) for _ in range(2))) == []
