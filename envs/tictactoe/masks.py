"""Which agents are given the action mask next to an observation."""

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

NAMES = ("action_mask", "mask", "legal_mask")
"""Names of a parameter that takes the mask even if it has a default."""


def mask_parameter(ask: Callable[..., Any]) -> inspect.Parameter | None:
    """Return the parameter of an agent's function that takes the mask: one of `NAMES`, or else a required second one.

    None if there is no such parameter, as in `act(state, eps=0.0)`, or if Python does not know the parameters of a
    compiled function.
    """
    try:
        parameters = list(inspect.signature(ask).parameters.values())
    except (TypeError, ValueError):
        return None
    for parameter in parameters[1:]:
        if parameter.name in NAMES:
            return parameter
    for parameter in parameters[1:2]:
        if parameter.kind <= parameter.POSITIONAL_OR_KEYWORD and parameter.default is parameter.empty:
            return parameter
    return None


def taking_mask(ask: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    """Return a function of observation and mask that asks an agent, with the mask if its function takes it.

    It can be pickled if `ask` can be.
    """
    parameter = mask_parameter(ask)
    if parameter is None:
        return partial(_without_mask, ask)
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return ask
    return partial(_by_name, ask, parameter.name)


def _without_mask(ask: Callable[..., Any], observation: Any, _mask: Any) -> Any:
    return ask(observation)


def _by_name(ask: Callable[..., Any], name: str, observation: Any, mask: Any) -> Any:
    return ask(observation, **{name: mask})
