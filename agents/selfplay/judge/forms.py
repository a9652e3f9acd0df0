"""The one way in which an agent is asked, decided by what it has, and what is no answer."""

import contextlib
import inspect
import reprlib
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from gymnasium.error import InvalidAction

from selfplay.errors import UserError
from selfplay.protocols import Array
from tictactoe import Rules, planes
from tictactoe.actions import checked_cells
from tictactoe.masks import mask_parameter, taking_mask
from tictactoe.tree import FloatArray, IntArray

INSTEAD = "write a function of one observation that returns int(cell), and name the board with rules="
LARGEST_ERROR = 1e-3
"""Largest distance of a sum of probabilities from 1, as 32-bit numbers of many moves have it."""

Form: TypeAlias = Callable[[Array], Any]
"""A function that turns observations [B, R, C, 3] into what an agent takes."""


class AnswerError(UserError):
    """An agent that fails, or whose answer is not a cell, or probabilities, for each board."""


class AgentCall(NamedTuple):
    """The way in which an agent is asked."""

    answer: Callable[[Array], Any]
    """Returns what the agent answers to observations [B, R, C, 3], or to one if it is not asked `together`."""
    together: bool
    """Whether it is shown many boards at once."""
    samples: bool = False
    """Whether it answers with the probability of each move, and not with its move."""
    advice: str = ""
    """The way out if it fails."""
    state: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext
    """Makes the state in which it is asked, which ends after some questions."""


def agent_call(agent: Any, rules: Rules) -> AgentCall:
    """Return how an agent is asked: the first that it has of `probabilities`, `act`, a module, `predict`, a call.

    Raises:
        UserError: it is not an agent, or cannot be asked about an observation alone.
    """
    if isinstance(agent, type):
        raise UserError("a class is not an agent: make an object of it first")
    if hasattr(agent, "probabilities"):
        return AgentCall(_asked(agent.probabilities, "agent.probabilities", rules), together=True, samples=True)
    if hasattr(agent, "act"):
        advice = "act is given observations [B, R, C, 3]; if yours takes one at a time, pass agent.act"
        return AgentCall(_asked(agent.act, "agent.act", rules), together=True, advice=advice)
    if is_module(agent):
        return _module_call(agent, rules)
    if hasattr(agent, "predict"):
        return _model_call(agent, rules)
    if callable(agent):
        return AgentCall(_asked(agent, "agent", rules), together=False)
    raise UserError(f"an object of type {type(agent).__name__} is not an agent: {INSTEAD}")


def _asked(function: Callable[..., Any], name: str, rules: Rules) -> Callable[[Array], Any]:
    """Return a function of observations that asks an agent; it is given the mask only if it cannot do without.

    Raises:
        UserError: it needs more than an observation and the mask.
    """
    parameter = mask_parameter(function)
    masked: dict[str, None] = {}
    if parameter is not None and parameter.default is parameter.empty:
        masked[parameter.name] = None
    try:
        inspect.signature(function).bind(None, **masked)
    except TypeError as error:
        raise UserError(
            f"{name} cannot be called with an observation and the mask alone ({error}): it must take one observation "
            "and return int(cell)"
        ) from None
    except ValueError:  # Python does not know the arguments of a compiled function
        pass
    return partial(_ask_with_mask, taking_mask(function), rules) if masked else function


def _ask_with_mask(ask: Callable[[Array, Array], Any], rules: Rules, observation: Array) -> Any:
    if observation.ndim == 3:
        return ask(observation, legal_mask(rules, observation[None])[0])
    return ask(observation, legal_mask(rules, observation))


def legal_mask(rules: Rules, observation: Array) -> Array:
    """Return 1 for each cell that may be marked, [B, A] int8, on boards [B, R, C, 3] seen from either perspective."""
    first, second = (planes.words(flat(observation[..., plane])) for plane in (1, 2))
    return planes.bits(rules.cells, rules.legal_cells(first, second)).view(np.int8)  # whose marks they are is the same


# Models with `predict`, as in Stable-Baselines3


def _model_call(model: Any, rules: Rules) -> AgentCall:
    """Return how a model is asked: in the form of its `observation_space`, behind the normalization it learned with.

    Raises:
        UserError: it predicts something else than moves, or learned from other observations than the board's.
    """
    if "deterministic" not in inspect.signature(model.predict).parameters:
        raise UserError(
            f"the predict of a {type(model).__name__} does not choose moves as that of Stable-Baselines3 does; "
            "write lambda observation: int(agent.predict(observation.reshape(1, -1))[0]), or the arg max of its values"
        )
    form = _model_form(model, rules)
    normalization = getattr(model, "get_vec_normalize_env", lambda: None)()
    if normalization is None or not normalization.norm_obs:
        return AgentCall(partial(_predicted, model, form), together=True)
    return AgentCall(
        lambda observation: _predicted(model, normalization.normalize_obs, form(observation)), together=True
    )


def _model_form(model: Any, rules: Rules) -> Form:
    """Return the form of observations that a model has learned from.

    Raises:
        UserError: it has learned from others, such as those of a wrapper.
    """
    space = getattr(model, "observation_space", None)
    if hasattr(space, "spaces"):
        return partial(with_mask, rules)
    shape = getattr(space, "shape", None)
    if space is None or shape == (rules.rows, rules.cols, 3):
        form: Form = np.asarray
    elif shape == (3 * rules.cells,):
        form = flat
    else:
        raise UserError(
            f"a {type(model).__name__} has learned from observations of shape {shape}, and the board's are "
            f"{(rules.rows, rules.cols, 3)}; name its board with rules=, or put its wrapper around it: {INSTEAD}"
        )
    if space is not None and not (np.all(space.low >= 0) and np.all(space.high <= 1)):
        raise UserError(
            f"a {type(model).__name__} has learned behind a wrapper whose observations are not 0 or 1; "
            f"put the wrapper around it: {INSTEAD}"
        )
    return form


def _predicted(model: Any, form: Form, observation: Any) -> Any:
    """Return the cells of a model as in Stable-Baselines3, whose answer has a state next to them."""
    answer = model.predict(form(observation), deterministic=True)
    return answer[0] if isinstance(answer, tuple) else answer


def flat(observation: Array) -> Array:
    """Return observations [B, R, C, 3] as [B, 3A]."""
    return observation.reshape(len(observation), -1)


def with_mask(rules: Rules, observation: Array) -> dict[str, Array]:
    """Return observations [B, R, C, 3] as environments with dicts show them."""
    return {"observation": observation, "action_mask": legal_mask(rules, observation)}


# Modules of PyTorch


def is_module(agent: Any) -> bool:
    """Return whether an agent is a module of PyTorch, which then is imported already."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(agent, torch.nn.Module)


def _module_call(module: Any, rules: Rules) -> AgentCall:
    """Return how a module is asked: flat, [B, 3A], if its first layer takes 3A numbers; else with planes [B, R, C, 3].

    Raises:
        UserError: its first layer takes one number a cell, or is a convolution that takes rows for planes.
    """
    layer = _first_layer(module)
    inputs = getattr(layer, "in_features", None)
    if inputs == rules.cells:
        raise UserError(
            f"the first layer of a {type(module).__name__} takes {inputs} numbers, and an observation has "
            f"{3 * rules.cells}; show it signs: selfplay.agent(lambda board: int(module(torch.tensor(board, "
            "dtype=torch.float32)).argmax()), cells=(0, 1, -1))"
        )
    if getattr(layer, "in_channels", None) == 3 == rules.rows:  # rows fit where planes belong
        _check_convolution(module, layer, rules)
    if inputs == 3 * rules.cells:
        form: Form = flat
        advice = f"it was given [B, {inputs}], which is what its first layer takes; or {INSTEAD}"
    else:
        form = np.asarray
        advice = (
            f"it was given [B, {rules.rows}, {rules.cols}, 3]: the planes are on the last axis, so a convolution needs "
            f"observation.permute(0, 3, 1, 2); or {INSTEAD}"
        )
    answer = partial(_best_cells, module, _like(module), form)
    return AgentCall(answer, together=True, advice=advice, state=partial(_evaluation_mode, module))


def _like(module: Any) -> Any:
    """Return a tensor with the type and device of a module's weights."""
    floating = (weights for weights in module.parameters() if weights.is_floating_point())
    return next(floating, sys.modules["torch"].zeros(()))


@contextlib.contextmanager
def _evaluation_mode(module: Any) -> Iterator[None]:
    """Have a module in evaluation mode, without gradients; its modes are as before afterwards."""
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with sys.modules["torch"].no_grad():
            yield
    finally:
        for part in training:
            part.training = True


def _first_layer(module: Any) -> Any:
    """Return the first layer of a module that says what it takes; None if none does."""
    for layer in module.modules():
        if hasattr(layer, "in_features") or hasattr(layer, "in_channels"):
            return layer
    return None


def _check_convolution(module: Any, layer: Any, rules: Rules) -> None:
    """Refuse a module that gives observations to its convolution as they are, with the planes on the last axis.

    Raises:
        UserError: it does.
    """
    seen: list[Any] = []
    hook = layer.register_forward_pre_hook(lambda _layer, inputs: seen.append(inputs[0]))
    empty = np.zeros((1, rules.rows, rules.cols, 3), np.int8)
    empty[..., 0] = 1
    try:
        with _evaluation_mode(module):
            _values(module, _like(module), np.asarray, empty)
    finally:
        hook.remove()
    if seen and np.array_equal(as_numpy(seen[0]), empty):
        raise UserError(
            f"the convolution of a {type(module).__name__} takes rows for planes: the planes are on the last axis, so "
            "it needs observation.permute(0, 3, 1, 2)"
        )


def _values(module: Any, like: Any, form: Form, observation: Array) -> Any:
    """Return what a module answers to observations of the type and on the device of a tensor."""
    inputs = sys.modules["torch"].as_tensor(form(observation), dtype=like.dtype, device=like.device)
    return as_numpy(module(inputs))


def _best_cells(module: Any, like: Any, form: Form, observation: Array) -> Any:
    """Return the cells [B] to which a module gives the highest values [B, A], the first of equals."""
    values = _values(module, like, form, observation)
    cells = observation[0].size // 3
    got = getattr(values, "shape", type(values).__name__)
    if got == (len(observation), cells):
        if not np.isnan(values).any():
            return values.argmax(axis=1)
        got = "nan"
    raise AnswerError(f"a module must return [boards, {cells}] values, one for each cell, got {got}")


# Answers


def checked_answer(answer: Any, observation: Array) -> IntArray:
    """Return an answer to observations [B, R, C, 3] as new cells [B]; libraries give one as an array of any shape.

    Raises:
        AnswerError: it is none.
    """
    boards, cells, given = len(observation), observation[0, ..., 0].size, as_numpy(answer)
    if isinstance(given, tuple) and not all(isinstance(part, int | np.integer) for part in given):
        raise AnswerError(f"the agent returned a tuple, {reprlib.repr(given)}; take its first part, with [0]")
    try:
        return checked_cells(cells, np.ravel(given) if boards == 1 else given, boards).copy()  # the agent may reuse it
    except (InvalidAction, ValueError) as error:  # the latter for lists in a list, of several lengths
        if boards > 1 and answer is not None:
            raise AnswerError(f"the agent's {error}") from None
        said = f"{reprlib.repr(given)} in the position {position_text(observation[0])}"
        hint = " (is a `return` missing?)" if answer is None else ""
        raise AnswerError(f"the agent returned {said}: wanted int(cell), 0 to {cells - 1}{hint}") from None


def checked_probabilities(answer: Any, observation: Array) -> FloatArray:
    """Return an answer to observations [B, R, C, 3] as probabilities [B, A] with the sum 1.

    Raises:
        AnswerError: it is none.
    """
    given = np.asarray(as_numpy(answer))
    probabilities: FloatArray = given.astype(np.float64)
    shape = (len(observation), observation[0, ..., 0].size)
    if probabilities.shape != shape:
        raise AnswerError(f"the agent's probabilities must be of shape {shape}, got {probabilities.shape}")
    sums = probabilities.sum(axis=1, keepdims=True)
    if not (probabilities >= 0).all() or not (abs(sums - 1) <= LARGEST_ERROR).all():
        raise AnswerError("the agent's probabilities must be 0 or more and have the sum 1 on each board")
    if ((given > 0) != (probabilities > 0)).any():
        raise AnswerError("the agent has a probability that is too small for 64 bits")
    probabilities /= sums
    return probabilities


def position_text(board: Array) -> str:
    """Return a position [R, C, 3] of either perspective as text, row by row, such as X../.O./...."""
    first, second = board[..., 1:].sum(axis=(0, 1))
    marks = ".XO" if first >= second else ".OX"  # O moves second, so it has no more marks than X
    return "/".join("".join(marks[cell] for cell in row) for row in board.argmax(axis=-1))


def as_numpy(answer: Any) -> Any:
    """Return an answer, a tensor as an array; NumPy knows no bfloat16, and 64 bits hold every other float."""
    if not hasattr(answer, "detach"):
        return answer
    tensor = answer.detach().cpu()
    return (tensor.double() if tensor.is_floating_point() else tensor).numpy()
