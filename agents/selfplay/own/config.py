"""What an algorithm of the user must have, and what can be set for its runs. It imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol

from selfplay.agent import AnyAgent
from selfplay.settings import Count, RunSettings
from tictactoe import Rules


class Learner(Protocol):
    """Describe an algorithm of the user's own, for `selfplay.train(learner=...)` and `selfplay.training(learner=...)`.

    A learner may also have `settings`, a mapping with which `type(learner)(**settings)` makes it again;
    `metrics()`, numbers by name, shown at each evaluation; `teach(mover, opponent)`, which is given positions in which
    the player was beaten, bitboards [n]; and `perspective`, "mover" if its player is to see its own marks first.
    """

    @property
    def rules(self) -> Rules:
        """Return the rules of the board it plays on."""

    @property
    def steps(self) -> int:
        """Return the steps so far, in a unit of its own."""

    def advance(self, most: int) -> None:
        """Learn for a moment: at least one step, and at most `most`."""

    def player(self) -> AnyAgent:
        """Return the current player, anything that `selfplay.evaluate` takes."""

    def state(self) -> Mapping[str, Any]:
        """Return all that it needs to continue: arrays, tensors, and values that JSON holds, by name."""

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""


@dataclass(frozen=True)
class OwnConfig(RunSettings):
    """Train your own learner, from Python."""

    algorithm: ClassVar[str] = "own"
    unit: ClassVar[str] = "steps"
    length_setting: ClassVar[str] = "total_steps"

    learner: str = ""
    """Its class, as module:name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Its `settings`."""
    rows: int = 3
    """Board height, cells."""
    cols: int = 3
    """Board width, cells."""
    k: int = 3
    """Marks in a row that win."""
    total_steps: Count = 100_000
    """Steps after which the run ends at the latest."""
    eval_every: Count = 5_000
    """Steps between exact evaluations."""
    stop: Literal["unbeatable", "optimal", "never"] = "unbeatable"
    """What must be proved by three evaluations running to end the run early."""
