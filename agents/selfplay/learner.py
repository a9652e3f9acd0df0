"""The interface of an algorithm to a run: a learner knows no evaluation, checkpoint, folder or screen."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from selfplay.agent import Player
from selfplay.settings import RunSettings

if TYPE_CHECKING:
    from torch import Tensor

    from tictactoe.tree import IntArray


class State(NamedTuple):
    """Hold everything that a learner needs to continue; names, shapes and types never change in a run."""

    tensors: "Mapping[str, Tensor]"
    counters: Mapping[str, Any]
    """Numbers and more, ready for JSON."""


class Learner(Protocol):
    """Learn, some steps at a time."""

    @property
    def steps(self) -> int:
        """Return the plies or games so far."""

    @property
    def config(self) -> RunSettings:
        """Return its settings."""

    @property
    def updates(self) -> int | None:
        """Return the updates so far; None if every step is an update."""

    def advance(self, most: int) -> None:
        """Play and learn for a moment: at most `most` steps, or as few as it can take."""

    def finish(self) -> bool:
        """Play what follows the last step, and tell whether there was anything."""

    def check_finite(self) -> None:
        """Wait for the device and check the numbers.

        Raises:
            UserError: what was learned is no longer finite.
        """

    def player(self) -> Player:
        """Return the current greedy player."""

    @property
    def takes_counterexamples(self) -> bool:
        """Tell whether it starts games at counterexamples."""

    def teach(self, mover: "IntArray", opponent: "IntArray") -> None:
        """Start some of the games from now on at these positions, bitboards [n]."""

    def metrics(self) -> dict[str, float]:
        """Return what it has measured since the last call, by TensorBoard tag."""

    def state(self) -> State:
        """Return everything that it needs to continue."""

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`, in a run with the settings `written_with`."""

    def notes(self) -> Mapping[str, str]:
        """Return what config.json must say beside the settings."""

    def write_report(self, folder: Path) -> None:
        """Write into the run's folder, at its end, what only this algorithm shows."""
