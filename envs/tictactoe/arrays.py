"""Helpers for NumPy arrays, torch tensors and compilation, which import neither torch nor Numba by themselves."""

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
    """Return the module of the array, `numpy` or `torch`; a tensor exists only if torch is imported."""
    return sys.modules[type(array).__module__]


def device(array: Array) -> Any:
    """Return the torch device of a tensor, or None for a NumPy array."""
    # NumPy 2 arrays have a device too, the string "cpu", which NumPy 1.26 does not take back.
    return None if type(array).__module__ == "numpy" else array.device


def on_device(place: Any) -> dict[str, Any]:
    """Return the arguments of a function that makes an array there; none if `place` is None."""
    return {} if place is None else {"device": place}


def rows_at(table: Array, index: Array) -> Array:
    """Return the rows of a table at `index` [B]; torch's general indexing takes four times as long as this."""
    if library(index) is np:
        return table[index]
    return table.index_select(0, index)


def read_only(array: NDArray[AnyScalar]) -> NDArray[AnyScalar]:
    """Make an array read-only, because callers share it, and return it."""
    array.flags.writeable = False
    return array


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile a function with Numba at its first call, and cache the result on disk if a folder can be written.

    Numba's cache notices changes only in the file of the function that is called, so functions that call each other
    belong in one file.

    Raises:
        ImportError: Numba is not installed.
    """
    from numba import njit

    try:
        cached: Any = njit(cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        cached = njit(function)
    return cast("AnyFunction", cached)
