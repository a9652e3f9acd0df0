"""Train with two commits and the same seeds: a change that is not about learning keeps each bit of the weights.

    python -m benchmarks.equal_weights CLONE OTHER_CLONE --docs docs

Both clones were set up with the README's commands. Every run ends after some thousand plies, which is enough for a
difference of one bit to spread to all weights.
"""

import subprocess
import tempfile
from pathlib import Path

import tyro
from safetensors.numpy import load_file

from benchmarks import data, harness
from benchmarks.data import Result

TITLE = "Equal weights"
SETTINGS = (
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
"""Flags of each row."""
PLIES = 8_000


def train(clone: Path, flags: str, seed: int, folder: Path) -> Path:
    """Train in a clone, and return the file with the player's tensors."""
    length = ["--total-steps", str(PLIES), "--device", "cpu", "--seed", str(seed), "--run-dir", str(folder)]
    subprocess.run(
        [".venv/bin/python", "train.py", *flags.split(), *length], cwd=clone, check=True, stdout=subprocess.DEVNULL
    )
    return folder / "model.safetensors"


def equal(file: Path, other: Path) -> bool:
    """Return whether two files hold the same tensors, by name and bit for bit."""
    tensors, others = load_file(file), load_file(other)
    return tensors.keys() == others.keys() and all(
        tensor.dtype == others[name].dtype
        and tensor.shape == others[name].shape
        and tensor.tobytes() == others[name].tobytes()
        for name, tensor in tensors.items()
    )


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
    measured_on["compared"] = f"{harness.commit(clone)} and {harness.commit(other)}"

    def measure(row: str, seed: int) -> Result:
        with tempfile.TemporaryDirectory() as folder:
            flags = row.removeprefix("train.py")
            file = train(clone, flags, seed, Path(folder) / "one")
            return {"equal": equal(file, train(other, flags, seed, Path(folder) / "other"))}

    results = harness.in_turns([f"train.py {flags}".strip() for flags in SETTINGS], seeds, measure)
    harness.present(results, f"{PLIES} plies")
    if docs is not None:
        data.save(docs, TITLE, results, measured_on)


if __name__ == "__main__":
    tyro.cli(main)
