"""Train with two commits and the same seeds: a change that is not about learning keeps each bit of the weights.

    python -m benchmarks.equal_weights CLONE OTHER_CLONE --docs docs

Each clone has one of the commits checked out. Its programs run with the Python and the libraries of this script.

Commit d6ee02c8 had an Adam of its own, which rounds otherwise than PyTorch's, and another name for a layer. This gives
its clone PyTorch's Adam and today's name:

    git -C CLONE apply "$PWD/benchmarks/equal_weights.patch"
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import tyro
from safetensors.numpy import load_file

from benchmarks import data, harness
from benchmarks.data import Result

TITLE = "Equal weights"
FLAGS = (
    "",
    "--mask",
    "--networks separate",
    "--target independent",
    "--double --loss mse",
    "--hard-update 50 --learning-rate-hold 100",
    "--symmetry augment --perspective absolute",
    "--stop optimal",
    "--message-rounds 1",
    "--preset article",
)
SETTINGS = {f"train.py {flags}".strip(): flags.split() for flags in FLAGS}
"""Flags by the command that has them."""
PLIES = 40_000
"""Enough for the target network to be copied, the learning rate to fall, memories to be overwritten, and proofs."""


def train(clone: Path, flags: Sequence[str], seed: int, folder: Path) -> Path:
    """Train with the programs of a clone, and return the file with the player's tensors."""
    length = ["--total-steps", str(PLIES), "--device", "cpu", "--seed", str(seed), "--run-dir", str(folder)]
    packages = os.pathsep.join(str(clone / name) for name in ("envs", "agents"))
    subprocess.run(
        [sys.executable, "train.py", *flags, *length],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": packages, "OMP_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder / "model.safetensors"


def bits(file: Path) -> dict[str, tuple[str, tuple[int, ...], bytes]]:
    """Return the type, the shape and the bits of each tensor in a file, by name."""
    return {name: (str(tensor.dtype), tensor.shape, tensor.tobytes()) for name, tensor in load_file(file).items()}


def main(
    clone: tyro.conf.Positional[Path],
    other: tyro.conf.Positional[Path],
    seeds: tuple[int, ...] = (0, 1, 2),
    docs: Path | None = None,
) -> None:
    """Train in two clones of this repository, and compare the weights.

    Args:
        clone: Folder of the clone of one commit.
        other: Folder of the other's.
        seeds: Seeds of the runs.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    clone, other = clone.resolve(), other.resolve()
    measured_on = harness.start(TITLE, seeds=seeds)

    def measure(command: str, seed: int) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            file = train(clone, SETTINGS[command], seed, Path(folder) / "one")
            other_file = train(other, SETTINGS[command], seed, Path(folder) / "other")
            return {"equal": bits(file) == bits(other_file)}

    measured = harness.in_turns(SETTINGS, seeds, measure)
    pairs = [{"settings": command, **pair} for command, of_seeds in measured.items() for pair in of_seeds]
    results = {f"{harness.commit(clone)} and {harness.commit(other)}": pairs}
    harness.present(results, f"{PLIES} plies")
    if docs is not None:
        data.save(docs, TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
