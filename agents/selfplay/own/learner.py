"""Have a run train, save and load a learner of the user."""

import copy
import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from types import FunctionType
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor

from selfplay.agent import Array, Player
from selfplay.errors import UserError
from selfplay.judging.agents import AgentPolicy
from selfplay.learner import RunLearner, State
from selfplay.own.config import OwnConfig
from selfplay.tensor_file import read_tensors
from tictactoe import Rules
from tictactoe.tree import IntArray

NEEDED = ("rules", "steps", "advance", "player", "state", "restore")
"""The members that a learner must have."""
VALUES = "values.json"
"""Name of the tensor that holds, as the bytes of a JSON text, what is no array in a learner's state."""


class OwnPlayer:
    """Show a player of the user to a run."""

    def __init__(self, agent: Any, learner: "OwnLearner") -> None:
        self.rules = learner.config.rules
        self.policy = AgentPolicy(agent, self.rules, learner.perspective)
        self._learner = learner

    def q_values(self, observation: Array) -> Array:
        """Return NaN for each cell, [B, A]: what the values of a player of the user mean is not known."""
        return np.full((len(observation), self.rules.cells), np.nan)

    def tensors(self) -> dict[str, Tensor]:
        """Return the state of its learner, from which the player can be made again."""
        return dict(self._learner.state().tensors)


class OwnLearner(RunLearner):
    """Have a run train a learner of the user."""

    config: OwnConfig
    fixed_state = False

    def __init__(self, own: Any, config: OwnConfig) -> None:
        self.own, self.config = own, config
        self.perspective = getattr(own, "perspective", "absolute")
        self.takes_counterexamples = hasattr(own, "teach")

    @property
    def steps(self) -> int:
        """Return what the learner counts."""
        return int(self.own.steps)

    def advance(self, most: int) -> None:
        """Learn for a moment.

        Raises:
            UserError: the learner took no step, so that the run would never end.
        """
        before = self.steps
        self.own.advance(most)
        if self.steps <= before:
            raise UserError(f"{self.config.learner}: advance({most}) must increase steps, but left them at {before:,}")

    def player(self) -> Player:
        """Return the current player as the run sees it."""
        return cast("Player", OwnPlayer(self.own.player(), self))

    def copied_player(self) -> Any:
        """Return a copy of the user's player, which stays as it is when the learner goes on.

        Raises:
            UserError: it cannot be copied.
        """
        player = self.own.player()
        try:
            # A function looks at what its learner changes.
            return copy.deepcopy(self.own).player() if isinstance(player, FunctionType) else copy.deepcopy(player)
        except Exception as error:
            wanted = "return from player() what copy.deepcopy can copy"
            raise UserError(f"{self.config.learner}: its player cannot be copied ({error}); {wanted}") from error

    def teach(self, mover: IntArray, opponent: IntArray) -> None:
        """Tell the learner where its player was beaten."""
        self.own.teach(mover, opponent)

    def metrics(self) -> dict[str, float]:
        """Return the learner's own metrics."""
        metrics = self.own.metrics() if hasattr(self.own, "metrics") else {}
        return {name: float(value) for name, value in metrics.items()}

    def state(self) -> State:
        """Return the learner's state as tensors."""
        return State(packed(self.own.state()), {})

    def restore(self, state: State, _written_with: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""
        self.own.restore(unpacked(state.tensors))


def made(learner: Any, options: Mapping[str, Any]) -> Any:
    """Return a learner of the user; a class or a function is called with its settings.

    Raises:
        UserError: it is none, and makes none.
    """
    if isinstance(learner, type) or (callable(learner) and not hasattr(learner, "advance")):
        learner = learner(**options)
    if missing := ", ".join(name for name in NEEDED if not hasattr(learner, name)):
        raise UserError(f"a {type(learner).__name__} is not a learner: it has no {missing} (see selfplay.Learner)")
    if not isinstance(learner.rules, Rules):
        raise UserError(f"rules of a learner must be a tictactoe.Rules, got {learner.rules!r}")
    return learner


def described(own: Any, config: OwnConfig) -> OwnConfig:
    """Return settings of a run with the name, settings and board of the learner.

    Raises:
        UserError: JSON cannot hold its settings.
    """
    name = f"{type(own).__module__}:{type(own).__qualname__}"
    try:
        options = json.loads(json.dumps(dict(getattr(own, "settings", {}))))
    except (TypeError, ValueError) as error:
        raise UserError(f"{name}: its settings must be values that JSON holds: {error}") from None
    return replace(config, learner=name, options=options, **asdict(own.rules))


def restored(learner: Any, config: OwnConfig, path: Path) -> Any:
    """Return a learner with the state that a file of its run holds; one that is given is left as it is.

    Raises:
        UserError: it is not a learner, or the file holds no state.
    """
    own = made(learner, config.options)
    own = copy.deepcopy(own) if own is learner else own
    own.restore(unpacked(read_tensors(path, None, config.rules)[0]))
    return own


def packed(state: Mapping[str, Any]) -> dict[str, Tensor]:
    """Return a learner's state as tensors; what is no array is packed as a JSON text.

    Raises:
        UserError: neither a file of tensors nor JSON can hold a value.
    """
    arrays = [name for name, value in state.items() if isinstance(value, np.ndarray)]
    try:
        tensors = {name: torch.from_numpy(np.array(state[name], order="C")) for name in arrays}
        tensors |= {name: value.detach().cpu().clone() for name, value in state.items() if isinstance(value, Tensor)}
        values = {name: value for name, value in state.items() if name not in tensors}
        text = json.dumps({"values": values, "arrays": arrays}, default=lambda number: number.item())
    except (TypeError, ValueError, AttributeError) as error:
        raise UserError(f"state() of a learner must hold arrays, tensors, and what JSON holds: {error}") from None
    return {**tensors, VALUES: torch.frombuffer(bytearray(text.encode()), dtype=torch.uint8)}


def unpacked(tensors: Mapping[str, Tensor]) -> dict[str, Any]:
    """Return the state of a learner from which `packed` made these tensors.

    Raises:
        UserError: they are none.
    """
    try:
        content = json.loads(tensors[VALUES].numpy().tobytes())
        state = {name: tensor.clone() for name, tensor in tensors.items() if name != VALUES}
        return {**content["values"], **state, **{name: state[name].numpy() for name in content["arrays"]}}
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"the file holds no state of a learner ({error})") from None
