"""Kill runs in a process that has nothing else to do and can be forked, with pixels for pictures and an idle disk.

python -m tests.benchmarks.kills_apart all ARGS    the benchmark with these flags
python -m tests.benchmarks.kills_apart faults      what it finds of planted faults, as JSON
"""

import contextlib
import json
import logging
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch

from benchmarks.training import kills
from benchmarks.training.lives import live, unkilled
from selfplay.command_line import run_command
from selfplay.dqn import standing
from selfplay.training import checkpoint_file, folder
from tests.runs import SMALL, without_pictures

ARGS = [*SMALL, "--total-steps", "960", "--eval-every", "320", "--seed", "1000", "--device", "cpu", "--stop", "never"]
OFTEN = ["--checkpoint-interval", "1e-9"]


def die_once(place: Path) -> None:
    """Kill this process, unless one has been killed here before."""
    if not (place / "died").exists():
        (place / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)


def in_place(place: Path, dies_at: str) -> Callable[[Path, bytes], None]:
    """Return what writes a file over the one of before, and dies in the middle of one of this name."""

    def write(path: Path, content: bytes) -> None:
        path.write_bytes(content[: len(content) // 2])
        if path.name == dies_at:
            die_once(place)
        path.write_bytes(content)

    return write


@contextlib.contextmanager
def killed_after(place: Path, number: int) -> Iterator[None]:
    """Have a process die once, when it has written the checkpoint of this number."""
    write = checkpoint_file.CheckpointFile.write

    def write_and_die(file: checkpoint_file.CheckpointFile, *content: Any) -> None:
        write(file, *content)
        if file.number == number:
            die_once(place)

    with patch.object(checkpoint_file.CheckpointFile, "write", write_and_die):
        yield


@contextlib.contextmanager
def generator_not_restored(place: Path) -> Iterator[None]:
    unpacked: Any = standing.unpacked

    def otherwise(*args: Any) -> Any:
        return unpacked(*args[:-1], False)

    with killed_after(place, 30), patch.object(standing, "unpacked", otherwise):
        yield


FAULTS: Mapping[str, Callable[[Path], contextlib.AbstractContextManager[Any]]] = {
    "none": lambda place: killed_after(place, 30),
    "generator not restored": generator_not_restored,
    "settings in place": lambda place: patch.object(folder, "write_whole", in_place(place, "config.json")),
    "first checkpoint in place": lambda place: patch.object(checkpoint_file, "write_whole", in_place(place, "1.json")),
    "checkpoint in place": lambda place: patch.object(checkpoint_file, "write_whole", in_place(place, "30.json")),
}


def faults() -> None:
    """Print what is found of a run that is killed once, by fault."""
    found = {}
    for name, plant in FAULTS.items():
        with tempfile.TemporaryDirectory() as place:
            whole = unkilled(ARGS, OFTEN, Path(place), times=1)
            with plant(Path(place)):
                found[name] = live(whole, Path(place), repeat(60.0), 1)._asdict()
    print(json.dumps(found))


if __name__ == "__main__":
    torch.set_num_threads(1)
    logging.getLogger("tensorboard").setLevel(logging.ERROR)
    without_pictures(setattr)
    os.fsync = os.fstat  # type: ignore[assignment]
    what, *args = sys.argv[1:]
    if what == "faults":
        faults()
    else:
        kills.TIMED = 1
        run_command(kills.main, kills.PROG, args)
