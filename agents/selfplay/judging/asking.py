"""The ways to ask an agent for its cells: it has `act` or `predict`, is a module of PyTorch, or is a function.

The forms in which agents take an observation are tried in order. The first to which an agent answers with a cell for
each board is kept, so that an agent is always asked in the same way.
"""

import copy
import reprlib
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from gymnasium.error import InvalidAction

from selfplay.agent import Array
from selfplay.errors import UserError, what_failed
from tictactoe.actions import checked_cells
from tictactoe.tree import IntArray

INSTEAD = "write a function of one observation that returns int(cell), and name the board with rules="
WITH_MASK = "it must take one observation and return int(cell); if it needs the mask too, write lambda observation: "


class Way(NamedTuple):
    """Ask an agent for its cells."""

    ask: Callable[[Any], Any]
    shown: Callable[[Array], Any]
    """Returns observations in the form that the agent takes."""
    many: bool
    """Whether it is shown many boards at once."""

    def cells(self, observation: Array) -> IntArray:
        """Return the cells [B] that the agent answers to observations [B, R, C, 3]."""
        if self.many:
            return checked(self.ask(self.shown(observation)), observation)
        cells = []
        for board in observation:
            try:
                answer = self.ask(self.shown(board))
            except Exception as error:
                if hasattr(error, "add_note"):  # from Python 3.11 on
                    error.add_note(f"The agent was asked about the position {position_text(board)}.")
                raise
            cells.append(checked(answer, board[None]))
        return np.concatenate(cells)


def way_to_ask(agent: Any, observation: Array) -> Way:
    """Return the way to ask an agent, found on two copies of the first of the observations [B, R, C, 3].

    Raises:
        UserError: it returns no cell for any form of the observation, cannot be called with one alone, or is a model or
            a module and fails for all.
    """
    errors = []
    for way in _ways(agent):
        try:
            way.cells(observation[[0, 0]])
        except Exception as error:  # noqa: PERF203 (two or three times, and the agent is somebody's own program)
            errors.append(error)
        else:
            return way
    for each in errors:
        if isinstance(each, InvalidAction):  # it says what was returned
            raise UserError(each) from each
    first = errors[0]
    called = (
        traceback.extract_tb(first.__traceback__)[-1].filename != __file__
    )  # else it wants more than an observation
    if called and not isinstance(way.ask, partial):
        raise first  # an error of the user's own program is best seen where it is
    with_mask = f"{WITH_MASK}agent{'.act' * hasattr(agent, 'act')}(observation, observation[..., 0].ravel())"
    said = f"{' and '.join(map(what_failed, errors))}; {INSTEAD}" if called else f"{first}; {with_mask}"
    raise UserError(
        f"a {type(agent).__name__} cannot be asked about a board of shape {observation.shape[1:]}: {said}"
    ) from first


def _ways(agent: Any) -> list[Way]:
    """Return the ways in which an agent may be asked, the likeliest first."""
    ask = getattr(agent, "act", agent)
    one_by_one = [Way(ask, shown, many=False) for shown in (np.asarray, _with_mask)]
    if hasattr(agent, "act"):
        return [Way(ask, np.asarray, many=True), *one_by_one]
    if hasattr(agent, "predict"):
        return [Way(partial(_predicted, agent), shown, many=True) for shown in (np.asarray, _flat, _with_mask)]
    if "torch" in sys.modules and isinstance(agent, sys.modules["torch"].nn.Module):
        module = copy.deepcopy(agent).eval()  # in training it may answer differently, and learn by it
        return [Way(partial(_best, module), shown, many=True) for shown in (_flat, np.asarray)]
    return one_by_one


def _flat(observation: Array) -> Array:
    return observation.reshape(len(observation), -1)


def _with_mask(observation: Array) -> dict[str, Array]:
    """Return one observation or many as agents of PettingZoo and of environments with dicts see them."""
    return {"observation": observation, "action_mask": observation[..., 0].reshape(*observation.shape[:-3], -1)}


def _predicted(model: Any, observation: Any) -> Any:
    answer = model.predict(observation, deterministic=True)
    return answer[0] if isinstance(answer, tuple) else answer


def _best(module: Any, observation: Array) -> Any:
    """Return the cells [B] to which a module of PyTorch gives the highest values [B, A], the first of equals."""
    torch = sys.modules["torch"]
    like = next(module.parameters(), torch.zeros(()))
    with torch.no_grad():
        values = numbers(module(torch.as_tensor(observation, dtype=like.dtype, device=like.device)))
    cells = observation[0].size // 3
    got = getattr(values, "shape", type(values).__name__)
    if got == (len(observation), cells):
        if not np.isnan(values).any():
            return values.argmax(axis=1)
        got = "nan"
    raise InvalidAction(f"a module must return [boards, {cells}] values, one for each cell, got {got}")


def checked(answer: Any, observation: Array) -> IntArray:
    """Return an answer to observations [B, R, C, 3] as cells [B]; libraries like to give one as an array of any shape.

    Raises:
        gymnasium.error.InvalidAction: it is none.
    """
    boards, cells, given = len(observation), observation[0, ..., 0].size, numbers(answer)
    try:
        return checked_cells(cells, np.ravel(given) if boards == 1 else given, boards)
    except (InvalidAction, ValueError) as error:  # the latter for lists in a list, of several lengths
        if boards > 1 and answer is not None:
            raise InvalidAction(f"the agent's {error}") from None
        said = f"{reprlib.repr(given)} in the position {position_text(observation[0])}"
        hint = " (is a `return` missing?)" if answer is None else ""
        raise InvalidAction(f"the agent returned {said}: wanted int(cell), 0 to {cells - 1}{hint}") from None


def position_text(board: Array) -> str:
    """Return a position [R, C, 3] of either perspective as text, row by row, such as X../.O./...."""
    first, second = board[..., 1:].sum(axis=(0, 1))
    marks = ".XO" if first >= second else ".OX"  # O moves second, so it has no more marks than X
    return "/".join("".join(marks[cell] for cell in row) for row in board.argmax(axis=-1))


def numbers(answer: Any) -> Any:
    """Return an answer, a tensor as an array."""
    return answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer
