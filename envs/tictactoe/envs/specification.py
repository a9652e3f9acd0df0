"""The specification of an environment, kept such that it survives a JSON file."""

from typing import Any

import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.vector import AutoresetMode


def _plain(value: Any) -> Any:
    if isinstance(value, AutoresetMode):
        return value.value
    return value.item() if isinstance(value, np.generic) else value


def _spec(env: Any) -> EnvSpec | None:
    """Return what made the environment; None if it was not made by Gymnasium."""
    spec: EnvSpec | None = getattr(env, "_json_spec", None)
    return spec


def _set_spec(env: Any, spec: EnvSpec | None) -> None:
    # Gymnasium keeps the settings as they were given, and its JSON knows neither its own modes nor NumPy's numbers.
    if spec is not None:
        spec.kwargs = {name: _plain(value) for name, value in spec.kwargs.items()}
    # As an attribute: once somebody has asked for its `__dict__`, Python finds all that an object holds more slowly.
    env._json_spec = spec


json_spec = property(_spec, _set_spec)
"""The attribute `spec` of an environment, with plain values for the modes and numbers in its settings."""
