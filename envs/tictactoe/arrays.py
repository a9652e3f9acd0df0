"""What NumPy arrays and torch tensors have in common, without ever importing torch."""

import sys
from typing import Any, TypeAlias

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""


def library(array: Array) -> Any:
    """Return the module that made the array; whoever holds a tensor has imported torch."""
    return sys.modules[type(array).__module__]


def device(array: Array) -> Any:
    """Return the torch device that the array is on, or None for NumPy's."""
    # NumPy 2 arrays have a device too, the string "cpu", which NumPy 1.26 does not take back.
    return None if type(array).__module__ == "numpy" else array.device
