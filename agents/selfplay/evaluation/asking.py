"""The ways to ask an agent for its cells: it has `act` or `predict`, is a module of PyTorch, or is a function.

The forms in which agents take an observation are tried in order. The first to which an agent answers with a cell for
each board is kept, so that an agent is always asked in the same way.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from gymnasium.error import InvalidAction
from numpy.typing import NDArray

from selfplay.agent import Array
from selfplay.errors import UserError, what_failed
from tictactoe import Rules
from tictactoe.actions import checked_cells

Cells: TypeAlias = NDArray[np.int64]

FUNCTION = "write a function of one observation that returns a cell"


@dataclass(frozen=True)
class Way:
    """Ask an agent for its cells in one way."""

    call: str
    """What is called, as a person writes it."""
    ask: Callable[[Any], Any]
    shown: Callable[[Array], Any] = lambda observation: observation
    """Returns the form in which the agent takes an observation."""
    one_by_one: bool = False
    """Whether it is shown one observation [R, C, 3] at a time."""

    def cells(self, observation: Array) -> Cells:
        """Return the cell [B] for each observation [B, R, C, 3].

        Raises:
            gymnasium.error.InvalidAction: the agent answers something else.
        """
        if not self.one_by_one:
            return self._checked(self.ask(self.shown(observation)), observation, len(observation))
        return np.concatenate([self._checked(self.ask(self.shown(board)), board, 1) for board in observation])

    def _checked(self, answer: Any, observation: Array, boards: int) -> Cells:
        cells = observation[..., 0].size // boards
        given = numbers(answer)
        if self.one_by_one:
            given = given.reshape(-1)  # libraries like to give one number as an array
        try:
            return checked_cells(cells, given, boards)
        except InvalidAction as error:
            if given.dtype.kind in "iu" and given.shape == (boards,):
                raise InvalidAction(f"the agent's {error}") from None
        wanted = "one cell, an integer" if self.one_by_one else f"{boards} cells, integers"
        raise InvalidAction(
            f"the agent's {self.call} returned {described(answer)} for an observation of shape {observation.shape}; "
            f"it must return {wanted} from 0 to {cells - 1}{_instead(answer, given, cells)}"
        )


def way_to_ask(agent: Any, rules: Rules, observation: Array) -> tuple[Way, Cells]:
    """Return the way to ask an agent, and the cells [B] that it answers to observations [B, R, C, 3].

    Raises:
        UserError: it is a model or a module that fails in every form of the observation, or takes two arguments.
        gymnasium.error.InvalidAction: it answers something else than a cell for each board.
    """
    errors: list[Exception] = []
    for way in _ways(agent, rules):
        answer = _tried(way, observation)
        if not isinstance(answer, Exception):
            return way, answer
        errors.append(answer)
    answered = [error for error in errors if isinstance(error, InvalidAction)]
    if not answered and not hasattr(agent, "act") and (hasattr(agent, "predict") or is_module(agent)):
        kind, first = type(agent).__name__, errors[0]
        raise UserError(
            f"a {kind} cannot be asked on {rules}: {what_failed(first)}; rules= says on which board it plays, "
            f"or {FUNCTION}"
        ) from first
    raise (answered or errors)[0]


def _tried(way: Way, observation: Array) -> Cells | Exception:
    try:
        return way.cells(observation)
    except Exception as error:  # the agent is somebody's own program
        return error


def _ways(agent: Any, rules: Rules) -> list[Way]:
    """Return the ways in which an agent may be asked, the likeliest first."""
    if not hasattr(agent, "act") and hasattr(agent, "predict"):

        def predicted(observation: Any) -> Any:
            answer = agent.predict(observation, deterministic=True)
            return answer[0] if isinstance(answer, tuple) else answer

        call = "predict(observation, deterministic=True)"
        return [Way(call, predicted, shown) for shown in (_planes, _flat, _with_mask)]
    if not hasattr(agent, "act") and is_module(agent):

        def best(planes: Array) -> Any:
            return best_cells(agent, planes, rules)

        return [Way("forward(planes)", best, shown) for shown in (_flat, _planes)]
    ask = getattr(agent, "act", agent)
    call = f"{getattr(ask, '__name__', type(ask).__name__)}(observation)"
    _check_one_argument(ask, call)
    alone = [Way(call, ask, shown, one_by_one=True) for shown in (_planes, _with_mask)]
    return [Way(call, ask), *alone] if ask is not agent else alone


def _planes(observation: Array) -> Array:
    return observation


def _flat(observation: Array) -> Array:
    return observation.reshape(len(observation), -1)


def _with_mask(observation: Array) -> dict[str, Array]:
    """Return one observation or many as PettingZoo's agents and environments of dicts have them."""
    mask = observation[..., 0].reshape(*observation.shape[:-3], -1)
    return {"observation": observation, "action_mask": mask}


def is_module(agent: Any) -> bool:
    """Tell whether an agent is a module of PyTorch, without an import of PyTorch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(agent, torch.nn.Module)


def best_cells(module: Any, planes: Array, rules: Rules) -> Cells:
    """Return the cells [B] to which a module, as it is for use, gives the highest value; the first of equals."""
    torch = sys.modules["torch"]
    like = next(module.parameters(), torch.zeros(()))
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            values = module(torch.as_tensor(planes, dtype=like.dtype, device=like.device))
    finally:
        for part in training:
            part.training = True
    if numbers(values).shape != (len(planes), rules.cells):
        raise InvalidAction(
            f"the agent's {type(module).__name__} returned {described(values)} for planes of shape {planes.shape}; it "
            f"must return the value of each cell, of shape {(len(planes), rules.cells)}, or {FUNCTION}"
        )
    cells: Cells = numbers(values).argmax(axis=1)
    return cells


def _check_one_argument(ask: Callable[..., Any], call: str) -> None:
    try:
        inspect.signature(ask).bind(None)
    except TypeError:
        raise UserError(
            f"the agent's {call} must take the observation alone; where it wants the mask as well, write "
            "lambda observation: agent(observation, observation[..., 0].ravel())"
        ) from None
    except ValueError:  # Python does not know what something compiled takes
        pass


def numbers(answer: Any) -> NDArray[Any]:
    """Return an answer as an array, which is empty if it is none."""
    try:
        return np.asarray(answer.detach().cpu() if hasattr(answer, "detach") else answer)
    except (ValueError, TypeError, RuntimeError):  # ragged lists
        return np.empty(0, object)


def described(answer: Any) -> str:
    """Return the type and the shape of an answer."""
    kind = type(answer).__name__
    if hasattr(answer, "shape"):
        return f"{kind} of shape {tuple(answer.shape)} and type {answer.dtype}"
    if isinstance(answer, list | tuple):
        return f"{kind} of {len(answer)} ({', '.join(type(part).__name__ for part in answer[:3])})"
    return f"{kind} {str(answer)[:40]}"


def _instead(answer: Any, given: NDArray[Any], cells: int) -> str:
    """Return what to write instead, as the end of a message."""
    if answer is None:
        return " (is a return missing?)"
    if isinstance(answer, tuple):
        return ", which may be the first part: write lambda observation: agent(observation)[0]"
    if given.size and given.size % cells == 0:
        return ": return the argmax of values; to sample its moves, an agent has probabilities(observation)"
    return ", such as int(cell)"
