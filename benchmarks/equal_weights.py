"""Train with two commits and the same seeds: a change that is not about learning keeps each bit of the weights.

    python -m benchmarks.equal_weights CLONE OTHER_CLONE --docs docs

Both clones were set up with the README's commands. Every run ends after some thousand plies, which is enough for a
difference of one bit to spread to all weights. Commit d6ee02c8 had an Adam of its own, which rounds otherwise than
PyTorch's; `git apply` of equal_weights.patch, beside this file, gives it PyTorch's.
"""

import subprocess
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
    "--hard-update 50",
    "--symmetry augment --perspective absolute",
    "--stop optimal",
    "--lines 4 --rule-weight 0.1",
    "--preset article",
)
ROWS = {f"train.py {flags}".strip(): flags.split() for flags in FLAGS}
"""Flags of each row by its name."""
PLIES = 8_000


def train(clone: Path, flags: Sequence[str], seed: int, folder: Path) -> Path:
    """Train in a clone, and return the file with the player's tensors."""
    length = ["--total-steps", str(PLIES), "--device", "cpu", "--seed", str(seed), "--run-dir", str(folder)]
    command = [".venv/bin/python", "train.py", *flags, *length]
    subprocess.run(command, cwd=clone, check=True, stdout=subprocess.DEVNULL)
    return folder / "model.safetensors"


def bits(file: Path) -> list[tuple[str, tuple[int, ...], bytes]]:
    """Return the type, the shape and the bits of each tensor in a file, in an order that no layer's name decides."""
    return sorted((str(tensor.dtype), tensor.shape, tensor.tobytes()) for tensor in load_file(file).values())


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

    def measure(row: str, seed: int) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            file = train(clone, ROWS[row], seed, Path(folder) / "one")
            other_file = train(other, ROWS[row], seed, Path(folder) / "other")
            return {"equal": bits(file) == bits(other_file)}

    of_rows = harness.in_turns(ROWS, seeds, measure)
    pairs = [{"settings": row, **result} for row, of_row in of_rows.items() for result in of_row]
    results = {f"{harness.commit(clone)} and {harness.commit(other)}": pairs}
    harness.present(results, f"{PLIES} plies")
    if docs is not None:
        data.save(docs, TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
