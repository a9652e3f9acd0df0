"""What every algorithm is to a run: a learner that knows no evaluation, checkpoint, folder or screen."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from selfplay.agent import Player
from selfplay.settings import RunSettings

if TYPE_CHECKING:
    from torch import Tensor

    from tictactoe.tree import IntArray


class State(NamedTuple):
    """Hold all that a learner needs to go on; names, shapes and types are the same at any moment of a run."""

    tensors: "Mapping[str, Tensor]"
    counters: Mapping[str, Any]
    """Ready for JSON."""


class Learner(Protocol):
    """Learn, by some steps at a time."""

    @property
    def steps(self) -> int:
        """Return the plies or games so far."""

    @property
    def config(self) -> RunSettings:
        """Return its settings."""

    @property
    def stride(self) -> int:
        """Return the steps that it cannot divide."""

    @property
    def updates(self) -> int | None:
        """Return the updates so far; None if that says nothing, because each step has its own."""

    def advance(self, most: int) -> None:
        """Play and learn for a moment: at most so many steps, rounded up to whole strides."""

    def finish(self) -> bool:
        """Play what comes after the last step, if anything does, and tell whether it did."""

    def check_finite(self) -> None:
        """Wait until what was begun is done.

        Raises:
            UserError: what it has learned is no longer finite.
        """

    def player(self) -> Player:
        """Return the greedy player of the moment."""

    @property
    def takes_counterexamples(self) -> bool:
        """Tell whether it begins games at what an evaluation finds wrong."""

    def teach(self, mover: "IntArray", opponent: "IntArray") -> None:
        """Begin some of the games from now on at these positions, bitboards [n]."""

    def metrics(self) -> dict[str, float]:
        """Return what it measures of itself since it was last asked, by TensorBoard tag."""

    def state(self) -> State:
        """Return all that it needs to go on."""

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Become what `state` said earlier, in a run with the settings `written_with`.

        Raises:
            UserError: no such run can have stood so.
        """

    def notes(self) -> Mapping[str, str]:
        """Return what config.json is to say beside the settings."""

    def write_report(self, folder: Path) -> None:
        """Write into the run's folder, at its end, what the algorithm shows beside every run's results."""
