"""What a run has come to by its record: when its proof began to hold, or how far it got without."""

from pathlib import Path
from typing import NamedTuple

from selfplay.algorithms import Config
from selfplay.checks import LARGEST
from selfplay.training.folder import METRICS
from selfplay.training.loop import first_of_final_streak, proves
from selfplay.training.record import metrics_evaluation, read_lines

UNPROVED = float(LARGEST)
"""Added to the objective of a run without a proof, beside its full length: it counts for more than any with one."""


class Outcome(NamedTuple):
    """Hold the evaluations of a run, and which of them is the first from which the proof held to the end."""

    unit: str
    """What steps are, plies or games."""
    lines: list[dict[str, float]]
    """Of metrics.jsonl."""
    first: int | None

    @property
    def proved(self) -> bool:
        """Tell whether the proof held at the end."""
        return self.first is not None

    @property
    def steps(self) -> int:
        """Return the steps to the proof, or those played without one."""
        return int(self._at(self.unit))

    @property
    def updates(self) -> int | None:
        """Return the updates to the proof, or those made without one; None where nothing counts them."""
        return int(self._at("time/updates")) if not self.lines or "time/updates" in self.lines[0] else None

    @property
    def seconds(self) -> float:
        """Return the seconds of training to the proof, or those without one."""
        return self._at("time/training_s")

    def _at(self, tag: str) -> float:
        return self.lines[-1 if self.first is None else self.first].get(tag, 0) if self.lines else 0


def read(folder: Path, config: Config) -> Outcome:
    """Return what a run has come to; one that has recorded nothing has no lines.

    Raises:
        UserError: its record cannot be read.
    """
    lines = read_lines(folder, config.unit, config.rules) if (folder / METRICS).exists() else []
    stop = "unbeatable" if config.stop == "never" else config.stop
    proofs = [proves(metrics_evaluation(line, config.rules), stop) for line in lines]
    return Outcome(config.unit, lines, first_of_final_streak(proofs))


def objective(outcome: Outcome | None, kind: str) -> float:
    """Return what a search is to make small; `kind` is steps or updates, None a run that has failed.

    Any run with a proof is less than any without; those without are ordered by how far they got, and failed ones last.
    """
    if outcome is None:
        return 2 * UNPROVED
    amount = outcome.updates if kind == "updates" else outcome.steps
    return float(amount or 0) + (0 if outcome.proved else UNPROVED)
