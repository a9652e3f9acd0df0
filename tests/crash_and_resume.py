"""Kill runs at random, resume each until it ends, and compare its results with those of a run left alone.

    python -m tests.crash_and_resume --kills 200

A killed process leaves what it wrote before its next operation on a file, wherever it was in between. So each kill
comes before an operation, drawn at random from all those of the run. Runs write a checkpoint after every few steps.
"""

import argparse
import logging
import math
import os
import random
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tensorboard.backend.event_processing.plugin_event_accumulator import TENSORS, EventAccumulator

from tests.children import run
from tests.runs import OFTEN, SMALL, difference, often

DQN = f"{' '.join(SMALL)} --warmup 32 --total-steps 128 --eval-every 48 --device cpu --stop never"
SHORT = "--total-steps 60 --eval-every 25 --device cpu"
TABULAR = "--games 100 --eval-every 40"
SETTINGS = {
    "default": DQN,
    "mask": f"{DQN} --mask --counterexamples 0.9 --convolution 4 --dueling --double --symmetry none",
    "separate": f"{DQN} --networks separate --target independent --lines 2 --hard-update 3 --symmetry augment",
    "article": f"--preset article --warmup 20 --batch-size 16 --memory-size 50 {SHORT}",
    "minimax-q": f"minimax-q {TABULAR}",
    "afterstate-q": f"afterstate-q {TABULAR}",
    "td-value": f"td-value {TABULAR}",
    "td-backup": f"td-backup {TABULAR} --greedy-games 10",
}
"""Flags by the name of a setting."""
BEGINNING = "holds no checkpoint yet; the run begins again"


def often_and_quickly() -> None:
    """Write checkpoints as often as possible, and do not wait for the disk: kills lose nothing that was written.

    The call that replaces `fsync` comes at the same place, and the process can be killed there.
    """
    often()
    os.fsync = os.fstat  # type: ignore[assignment]


class Crashes:
    """Kill and resume runs with these flags, whose files lie below `place`."""

    def __init__(self, flags: str, place: Path, before: Callable[[], object] = often_and_quickly) -> None:
        self._args, self._place, self._before = [*flags.split(), "--seed", "1000"], place, before
        self.whole = place / "whole" / "it"
        """The folder of the run that is left alone; all have the same name, which plots show."""
        self.whole.parent.mkdir()
        done = run("train", [*self._args, *OFTEN, "--run-dir", str(self.whole)], before, 0)
        if done.status or done.complaint:
            raise AssertionError(f"{flags} fails without being killed: {done.complaint}")
        self.calls = done.calls
        """Operations on files in the whole run."""

    def faults(self, *moments: int) -> list[str]:
        """Start a run, kill its processes before these operations, resume it to its end, and return its faults."""
        folder = self._place / "killed" / "it"
        folder.parent.mkdir()
        faults = []
        for moment in (*moments, 0):
            begun = (folder / "config.json").exists()
            start = ["--resume", str(folder)] if begun else [*self._args, "--run-dir", str(folder)]
            ended = run("train", [*start, *OFTEN], self._before, moment)
            lines = [line for line in ended.complaint.splitlines() if not line.endswith(BEGINNING)]
            if ended.status == 2 and "is finished; " in ended.complaint:
                break
            faults += lines
            if ended.status not in (0, -signal.SIGKILL):
                faults.append(f"cannot continue: exit status {ended.status}")
            if ended.status != -signal.SIGKILL:
                break
        if not faults:
            faults = difference(self.whole, folder)
            faults += ["events"] if shown(self.whole) != shown(folder) else []
            faults += [str(path) for path in folder.rglob("*.partial")]
        shutil.rmtree(folder.parent)
        return faults


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
    for name, args in SETTINGS.items():
        with tempfile.TemporaryDirectory() as place:
            crashes = Crashes(args, Path(place))
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
