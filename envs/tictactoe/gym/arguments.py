"""Arguments of constructors that are passed on, so that each is written down once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

Constructor = TypeVar("Constructor", bound=Callable[..., None])


def passes_on_to(source: Callable[..., Any]) -> Callable[[Constructor], Constructor]:
    """Return a decorator that lists the arguments of `source` in the signature of a constructor.

    The constructor takes them as `*sizes` and `**settings` and passes them on. With this signature `help()`, notebooks
    and our pages name them.
    """

    def with_signature(constructor: Constructor) -> Constructor:
        own = inspect.signature(constructor).parameters
        named = [each for each in own.values() if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]
        named += [each for each in inspect.signature(source).parameters.values() if each.name not in own]
        signature = inspect.Signature(sorted(named, key=lambda each: each.kind))
        constructor.__signature__ = signature  # type: ignore[attr-defined]
        return constructor

    return with_signature
