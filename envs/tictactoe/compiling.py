"""How functions are compiled by Numba, which is no dependency of the environment: only compiled modules import this."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def compiled(function: AnyFunction) -> AnyFunction:
    """Compile a function at its first call, and keep that on disk where there is a folder to write to.

    Numba's cache looks for changes in the file of the function that is called and in no other, so functions that call
    each other stand in one file.
    """
    try:
        kept: Any = njit(cache=True)(function)
    except RuntimeError:  # neither the package's folder nor the user's cache can be written
        kept = njit(function)
    return cast("AnyFunction", kept)
