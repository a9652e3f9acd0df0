"""The forms in which an agent may be asked for its cells, which of them works, and what is no answer."""

import copy
import reprlib
import sys
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium.error import InvalidAction

from selfplay.agent import Array
from selfplay.errors import UserError, what_failed
from tictactoe.actions import checked_cells
from tictactoe.tree import IntArray

INSTEAD = "write a function of one observation that returns int(cell), and name the board with rules="
PLANES_LAST = "the planes are on the last axis: a convolution needs observation.permute(0, 3, 1, 2)"
WITH_MASK = "it must take one observation and return int(cell); if it needs the mask too, write lambda observation: "
WITH_PREDICT = "write lambda observation: int(agent.predict(observation.reshape(1, -1))[0])"

Ask: TypeAlias = Callable[[Array], IntArray]
"""A function that returns the cells [B] of an agent for observations [B, R, C, 3]."""


class Way(NamedTuple):
    """A way in which an agent may be asked."""

    ask: Ask
    together: bool
    """Whether it is shown many boards at once."""


class AnswerError(UserError):
    """An answer of an agent that is not a cell, or probabilities, for each board."""


def way_to_ask(agent: Any, observation: Array) -> Way:
    """Return how an agent is asked for its cells: in the first form that works on the first board.

    An agent is then always asked in the same way. The observations are [B, R, C, 3].

    Raises:
        UserError: it returns no cell for any form of the observation, cannot be called with one alone, or is a model or
            a module and fails for all.
    """
    errors = []
    for way in _ways(agent):
        try:
            way.ask(observation[[0, 0] if way.together else [0]])  # one answer may fit a single board by chance
        except Exception as error:
            errors.append(error)
        else:
            return way
    for each in errors:
        if isinstance(each, AnswerError):  # it says what was returned
            raise UserError(each) from each
    first = errors[0]
    is_model = not hasattr(agent, "act") and (hasattr(agent, "predict") or _is_module(agent))
    began = traceback.extract_tb(first.__traceback__)[-1].filename != __file__
    if began and not is_model:
        raise first  # an error in the user's own program is best seen where it is
    if began:
        advice = f"{PLANES_LAST}; or {INSTEAD}" if _is_module(agent) else INSTEAD
        why = f"{' and '.join(map(what_failed, errors))}; {advice}"
    elif is_model:  # as in scikit-learn, its `predict` is not that of Stable-Baselines3
        why = f"{first}; {WITH_PREDICT}"
    else:  # the call itself failed: it wants more than an observation
        called = "agent.act" if hasattr(agent, "act") else "agent"
        why = f"{first}; {WITH_MASK}{called}(observation, observation[..., 0].ravel())"
    raise UserError(
        f"a {type(agent).__name__} cannot be asked about a board of shape {observation.shape[1:]}: {why}"
    ) from first


def _ways(agent: Any) -> list[Way]:
    """Return the ways in which an agent may be asked for its cells, the likeliest first."""
    if hasattr(agent, "act"):
        return [*_together(agent.act, np.asarray), *_one_by_one(agent.act)]
    if hasattr(agent, "predict"):
        return _together(partial(_predicted, agent), np.asarray, _flat, _with_mask)
    if _is_module(agent):
        module = copy.deepcopy(agent).eval()  # in training it may answer differently, and learn by it
        return _together(partial(_best, module), _flat, np.asarray)
    return _one_by_one(agent)


def _together(function: Callable[[Any], Any], *forms: Callable[[Array], Any]) -> list[Way]:
    return [Way(partial(_ask_all, function, form), together=True) for form in forms]


def _one_by_one(function: Callable[[Any], Any]) -> list[Way]:
    return [Way(partial(_ask_each, function, form), together=False) for form in (np.asarray, _with_mask)]


def _ask_all(function: Callable[[Any], Any], form: Callable[[Array], Any], observation: Array) -> IntArray:
    """Return the cells [B] of an agent that is shown all observations [B, R, C, 3] at once, in some form."""
    return checked(function(form(observation)), observation)


def _ask_each(function: Callable[[Any], Any], form: Callable[[Array], Any], observation: Array) -> IntArray:
    """Return the cells [B] of an agent that is shown one observation after another, in some form."""
    cells = []
    for board in observation:
        try:
            answer = function(form(board))
        except Exception as error:
            if hasattr(error, "add_note"):  # from Python 3.11 on
                error.add_note(f"The agent was asked about the position {position_text(board)}.")
            raise
        cells.append(checked(answer, board[None]))
    return np.concatenate(cells)


def _flat(observation: Array) -> Array:
    return observation.reshape(len(observation), -1)


def _with_mask(observation: Array) -> dict[str, Array]:
    """Return one observation or many as agents of PettingZoo and of environments with dicts see them."""
    return {"observation": observation, "action_mask": observation[..., 0].reshape(*observation.shape[:-3], -1)}


def _is_module(agent: Any) -> bool:
    """Return whether an agent is a module of PyTorch, which then is imported already."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(agent, torch.nn.Module)


def _predicted(model: Any, observation: Any) -> Any:
    """Return the cells of a model as in Stable-Baselines3, whose answer may have a state beside them."""
    answer = model.predict(observation, deterministic=True)
    return answer[0] if isinstance(answer, tuple) else answer


def _best(module: Any, observation: Array) -> Any:
    """Return the cells [B] to which a module of PyTorch gives the highest values [B, A], the first of equals."""
    torch = sys.modules["torch"]
    like = next(module.parameters(), torch.zeros(()))
    with torch.no_grad():
        values = as_numpy(module(torch.as_tensor(observation, dtype=like.dtype, device=like.device)))
    cells = observation[0].size // 3
    got = getattr(values, "shape", type(values).__name__)
    if got == (len(observation), cells):
        if not np.isnan(values).any():
            return values.argmax(axis=1)
        got = "nan"
    raise AnswerError(f"a module must return [boards, {cells}] values, one for each cell, got {got}")


def checked(answer: Any, observation: Array) -> IntArray:
    """Return an answer to observations [B, R, C, 3] as new cells [B]; libraries give one as an array of any shape.

    Raises:
        AnswerError: it is none.
    """
    boards, cells, given = len(observation), observation[0, ..., 0].size, as_numpy(answer)
    try:
        return checked_cells(cells, np.ravel(given) if boards == 1 else given, boards).copy()  # the agent may reuse it
    except (InvalidAction, ValueError) as error:  # the latter for lists in a list, of several lengths
        if boards > 1 and answer is not None:
            raise AnswerError(f"the agent's {error}") from None
        said = f"{reprlib.repr(given)} in the position {position_text(observation[0])}"
        hint = " (is a `return` missing?)" if answer is None else ""
        raise AnswerError(f"the agent returned {said}: wanted int(cell), 0 to {cells - 1}{hint}") from None


def position_text(board: Array) -> str:
    """Return a position [R, C, 3] of either perspective as text, row by row, such as X../.O./...."""
    first, second = board[..., 1:].sum(axis=(0, 1))
    marks = ".XO" if first >= second else ".OX"  # O moves second, so it has no more marks than X
    return "/".join("".join(marks[cell] for cell in row) for row in board.argmax(axis=-1))


def as_numpy(answer: Any) -> Any:
    """Return an answer, a tensor as an array."""
    return answer.detach().cpu().numpy() if hasattr(answer, "detach") else answer
