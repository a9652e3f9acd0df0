"""Save how the runs of a sweep ended and how long they took, for the page of evidence.

    python -m benchmarks.sweeps.evidence sweeps/proof --docs docs

The sweep is made by `selfplay sweep benchmarks/sweeps/proof.toml` before; the CSV file has the name of its folder.
Steps, updates and seconds are those up to the first evaluation from which the proof held to the end of the run, or to
the end without one. Seconds are those of training, on a machine that does other runs at the same time. Past the first
proof the file counts evaluations: all, those at which the player was beaten again, and those at which its move was
optimal in every state. Collect them on the machine of the sweep: what it is goes into data/evidence.json.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from benchmarks import data, harness
from selfplay.cli.flags import run_command
from selfplay.files import write_csv
from selfplay.sweep import results, state

PROG = "python -m benchmarks.sweeps.evidence"


@dataclass(frozen=True)
class Flags:
    """Save how the runs of a sweep ended and how long they took."""

    sweep: str = field(metadata={"positional": "SWEEP"})
    """Folder of a sweep of DQNs."""
    docs: Path = Path("docs")
    """Folder of the pages, in which evidence/NAME.csv is written."""


class Past(NamedTuple):
    """Count the evaluations of one run from its first proof on; all are 0 without one."""

    since_proof: int = 0
    not_proved: int = 0
    all_optimal: int = 0


def past_proof(lines: Sequence[Mapping[str, float]]) -> Past:
    """Count the evaluations of a run from its first proof on."""
    proved = [line["eval/unbeatable"] == 1 for line in lines]
    if not any(proved):
        return Past()
    first = proved.index(True)
    optimal = sum(line.get("eval/optimal_fraction") == 1 for line in lines[first:])
    return Past(len(lines) - first, proved[first:].count(False), optimal)


def main(args: Sequence[str]) -> None:
    """Write a line for each run."""
    flags = harness.read_flags(Flags, args, PROG)
    folder = Path(flags.sweep).resolve()
    header = ("setting", "seed", "end", "why", "steps", "updates", "seconds", "worker_seconds", *Past._fields)
    lines: list[Sequence[object]] = [(*header, "model_sha256")]
    for setting, of_setting in results.read(state.read(folder)).items():
        for run, end, why, outcome, model in of_setting:
            amounts = (int(outcome.amount("steps")), int(outcome.amount("updates")), f"{outcome.amount('seconds'):.3f}")
            times = (*amounts, f"{run.seconds:.1f}")
            lines.append((setting, run.seed, end, why, *times, *past_proof(outcome.lines), model))
    write_csv(flags.docs / "evidence" / f"{folder.name}.csv", lines)
    data.save(flags.docs, "evidence", {folder.name: []}, harness.machine(["ray"]))


if __name__ == "__main__":
    run_command(main, PROG)
