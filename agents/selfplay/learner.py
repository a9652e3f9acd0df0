"""What every algorithm is to a run: settings, and a learner that knows no evaluation, checkpoint, folder or screen."""

from collections.abc import Mapping
from dataclasses import Field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from selfplay.agent import Player
from tictactoe import Rules

if TYPE_CHECKING:
    from torch import Tensor


class Settings(Protocol):
    """Name what a run needs to know of the settings of any algorithm, which are frozen dataclasses."""

    __dataclass_fields__: "ClassVar[dict[str, Field[Any]]]"

    @property
    def algorithm(self) -> str:
        """Return its name on the command line and in config.json."""
        ...

    @property
    def unit(self) -> str:
        """Return what its steps are: plies or games."""
        ...

    @property
    def length_setting(self) -> str:
        """Return the name of the setting that says how many steps there are."""
        ...

    @property
    def added(self) -> Mapping[str, Any]:
        """Return the settings that older runs do not have, and what they did."""
        ...

    @property
    def defaults(self) -> "Settings":
        """Return the settings that these are compared with."""
        ...

    @property
    def length(self) -> int:
        """Return the steps after which a run ends at the latest."""
        ...

    @property
    def stop(self) -> str:
        """Return what must be proved to end it early: unbeatable, optimal or never."""
        ...

    @property
    def rules(self) -> Rules:
        """Return the rules of its board."""
        ...

    @property
    def seed(self) -> int:
        """Return the seed of every random draw."""
        ...

    @property
    def eval_every(self) -> int:
        """Return the steps between evaluations."""
        ...

    @property
    def run_dir(self) -> Path | None:
        """Return the folder that was asked for."""
        ...


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
        ...

    @property
    def config(self) -> Settings:
        """Return its settings."""
        ...

    @property
    def stride(self) -> int:
        """Return the steps that it cannot divide."""
        ...

    @property
    def updates(self) -> int | None:
        """Return the updates so far; None if that says nothing, because each step has its own."""
        ...

    def advance(self, most: int) -> None:
        """Play and learn for a moment: at most so many steps, rounded up to whole strides."""
        ...

    def finish(self) -> bool:
        """Play what comes after the last step, if anything does, and tell whether it did."""
        ...

    def settle(self) -> None:
        """Wait until what was begun is done.

        Raises:
            UserError: what it has learned is no longer finite.
        """
        ...

    def player(self) -> Player:
        """Return the greedy player of the moment."""
        ...

    def metrics(self) -> dict[str, float]:
        """Return what it measures of itself since it was last asked, by TensorBoard tag."""
        ...

    def state(self) -> State:
        """Return all that it needs to go on."""
        ...

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Become what `state` said earlier, in a run with the settings `written_with`.

        Raises:
            UserError: no such run can have stood so.
        """
        ...

    def notes(self) -> Mapping[str, str]:
        """Return what config.json is to say beside the settings."""
        ...

    def write_report(self, folder: Path) -> None:
        """Write into the run's folder, at its end, what the algorithm shows beside every run's results."""
        ...
