"""The protocol of an algorithm that a run can train: ours and yours are the same. It imports no torch."""

import copy
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, Protocol, TypeAlias

from selfplay.errors import UserError
from selfplay.protocols import AnyAgent
from tictactoe import Rules

NEEDED = ("rules", "steps", "advance", "player", "state", "restore")
"""The members that every learner has."""


class Learner(Protocol):
    """An algorithm that learns to play. It knows nothing of evaluations, checkpoints, folders or screens.

    These members are optional:

    - `metrics()`: numbers by name, which are recorded at each evaluation;
    - `teach(mover, opponent, move)`: take the positions in which the player was found beaten, bitboards [n] int64, and
      the cell that beats it there, or -1 where it is to move itself;
    - `updates`: how many updates it has made;
    - `plies`: how many moves it has learned from, if its steps are not plies: TensorBoard's horizontal axis;
    - `perspective`: "mover" if its player is to see its own marks first, and not X;
    - `settings`: a mapping with which `type(learner)(**settings)` makes it again;
    - `finish()`: play what belongs after the last step, and return whether there was anything to play;
    - `write_report(folder)`: write files of its own to the run's folder, at the end of the run.
    """

    @property
    def rules(self) -> Rules:
        """Return the rules of the board that it plays on."""

    @property
    def steps(self) -> int:
        """Return the steps so far: plies, games, or a unit of its own."""

    def advance(self, most: int) -> None:
        """Learn for a moment: at least one step, and at most `most`, or as few as it can take."""

    def player(self) -> AnyAgent:
        """Return the current player, anything that `selfplay.evaluate` takes. It may change as the learner advances."""

    def state(self) -> Mapping[str, Any]:
        """Return all that it needs to continue: arrays, tensors, and values that JSON holds, by name.

        No two of the tensors may share memory.
        """

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state that `state` returned."""


LearnerFactory: TypeAlias = Learner | Callable[..., Learner]
"""A learner, or what makes one from its `settings`, such as its class."""


def make_learner(learner: LearnerFactory, options: Mapping[str, Any]) -> Learner:
    """Return a learner; a class or a function is called with the options.

    Raises:
        UserError: what was given or made is no learner.
    """
    made: Any = learner
    if isinstance(learner, type) or (callable(learner) and not hasattr(learner, "advance")):
        made = learner(**options)
    checked: Learner = made
    missing = [name for name in NEEDED if not hasattr(made, name)]
    if missing:
        raise UserError(f"a {type(made).__name__} is not a learner: it has no {', '.join(missing)}")
    if not isinstance(made.rules, Rules):
        raise UserError(f"rules of a learner must be a tictactoe.Rules, got {made.rules!r}")
    return checked


def restore(learner: Learner, state: Mapping[str, Any]) -> None:
    """Restore a state that the learner returned, or that an older version of it did.

    Raises:
        UserError: it lacks something that the learner's state has now.
    """
    missing = sorted(learner.state().keys() - state.keys())
    if missing:
        raise UserError(f"holds no {', '.join(missing)}, which the state of a {type(learner).__name__} has")
    learner.restore(state)


def code_name(code: Any) -> str:
    """Return the name of a custom learner, network or agent in messages and files, which never hold code."""
    return f"{getattr(code, '__module__', '?')}:{getattr(code, '__qualname__', type(code).__name__)}"


def copied_player(learner: Learner) -> Any:
    """Return a copy of the current player, which stays as it is while the learner advances.

    Raises:
        UserError: it cannot be copied.
    """
    player = learner.player()
    try:
        if isinstance(player, FunctionType):  # it looks at what its learner changes
            return copy.deepcopy(learner).player()
        return copy.deepcopy(player)
    except (TypeError, RuntimeError, NotImplementedError, copy.Error) as error:
        name = type(learner).__name__
        raise UserError(f"the player of a {name} cannot be copied: {error}; copy.deepcopy must copy it") from error
