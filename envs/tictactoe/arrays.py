"""NumPy arrays and torch tensors alike, without importing torch, and compilation by Numba, without importing it."""

import sys
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = Any
"""A NumPy array or a torch tensor."""

AnyScalar = TypeVar("AnyScalar", bound=np.generic)
AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def library(array: Array) -> Any:
    """Return the module that made the array; a program with a tensor has imported torch."""
    return sys.modules[type(array).__module__]


def device(array: Array) -> Any:
    """Return the torch device that the array is on, or None for NumPy's."""
    # NumPy 2 arrays have a device too, the string "cpu", which NumPy 1.26 does not take back.
    return None if type(array).__module__ == "numpy" else array.device


def read_only(array: NDArray[AnyScalar]) -> NDArray[AnyScalar]:
    """Make an array that callers share unwritable and return it."""
    array.flags.writeable = False
    return array


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile a function by Numba at its first call, and cache that on disk if there is a folder to write to.

    Numba's cache notices changes only in the file of the function that is called, so functions that call each other
    belong in one file.

    Raises:
        ImportError: Numba, which the environment itself does not depend on, is not installed.
    """
    from numba import njit  # noqa: PLC0415

    try:
        cached: Any = njit(cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        cached = njit(function)
    return cast("AnyFunction", cached)
