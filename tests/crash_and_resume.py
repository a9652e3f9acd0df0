"""Kill runs at random, resume each until it ends, and compare its results with those of a run left alone.

    python -m tests.crash_and_resume --kills 200

A killed process leaves what it wrote before its next operation on a file, wherever it was in between. So each kill
comes before an operation, drawn at random from all those of the run. Runs write a checkpoint after every few steps.
"""

import argparse
import logging
import math
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

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


def main() -> None:
    """Kill runs of each setting, print their faults, and exit with 1 if there are any."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--kills", type=int, default=200, help="at least, two in each run, spread over eight settings")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    flags = parser.parse_args()
    logging.getLogger("tensorboard").setLevel(logging.ERROR)  # it reports everything that a resumed run takes back
    chance, faulty = random.Random(flags.seed), 0
    for name, setting in SETTINGS.items():
        with tempfile.TemporaryDirectory() as place:
            crashes = Crashes(setting, Path(place))
            print(f"{name}: a run of {crashes.calls} operations on files", flush=True)
            for _ in range(math.ceil(flags.kills / 2 / len(SETTINGS))):
                moments = [chance.randint(1, crashes.calls) for _ in range(2)]
                if faults := crashes.faults(*moments):
                    faulty += 1
                    print(f"{name}, killed before {moments}: {'; '.join(faults)}", flush=True)
    print(f"{faulty} runs with faults")
    sys.exit(faulty > 0)


if __name__ == "__main__":
    main()
