"""The interface between a run and an algorithm: a learner knows no evaluation, checkpoint, folder or screen."""

import copy
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from selfplay.agent import Player
from selfplay.settings import RunSettings

if TYPE_CHECKING:
    from torch import Tensor

    from tictactoe.tree import IntArray


class State(NamedTuple):
    """Hold everything that a learner needs to continue."""

    tensors: "Mapping[str, Tensor]"
    counters: Mapping[str, Any]
    """Numbers and more, ready for JSON."""


class RunLearner:
    """Learn, some steps at a time; a subclass overrides at least what raises NotImplementedError here."""

    config: RunSettings
    """Its settings."""
    takes_counterexamples: bool = False
    """Whether it starts games at counterexamples."""
    fixed_state: bool = True
    """Whether names, shapes and types of the tensors in its state never change in a run."""

    @property
    def steps(self) -> int:
        """Return the steps so far: plies, games, or what a learner of the user counts."""
        raise NotImplementedError

    @property
    def updates(self) -> int | None:
        """Return the updates so far; None if the learner does not count them."""
        return None

    def advance(self, most: int) -> None:
        """Play and learn for a moment: at most `most` steps, or as few as it can take."""
        raise NotImplementedError

    def finish(self) -> bool:
        """Play the games that follow the last step, and tell whether there were any."""
        return False

    def check_finite(self) -> None:
        """Wait for the device and check the numbers.

        Raises:
            UserError: what was learned is no longer finite.
        """

    def player(self) -> Player:
        """Return the current greedy player, which may go on learning."""
        raise NotImplementedError

    def copied_player(self) -> Any:
        """Return a copy of the current player, which does not learn on; a learner of the user copies it itself."""
        return copy.deepcopy(self.player())

    def teach(self, mover: "IntArray", opponent: "IntArray") -> None:
        """Start some of the games from now on at these positions, bitboards [n]."""

    def metrics(self) -> dict[str, float]:
        """Return what it has measured since the last call, by TensorBoard tag."""
        return {}

    def state(self) -> State:
        """Return everything that it needs to continue."""
        raise NotImplementedError

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`, in a run with the settings `written_with`."""
        raise NotImplementedError

    def notes(self) -> Mapping[str, str]:
        """Return what config.json must say beside the settings."""
        return {}

    def write_report(self, folder: Path) -> None:
        """Write the files that only this algorithm has to the run's folder, at the end of the run."""
