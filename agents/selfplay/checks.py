"""How settings are checked: each mistake is one line that names the flag, what is wanted and the value."""

import dataclasses
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfplay.errors import UserError

LARGEST = 10**12
"""Of every number that counts something."""
LONGEST_TIME = 1e9
"""Seconds."""
GIGABYTE = 10**9
LARGEST_FLOAT = 3.4e38
"""That PyTorch's 32-bit numbers hold."""


def require(condition: bool, name: str, wanted: str, value: Any) -> None:
    """Raise a UserError that says what the setting must be, unless the condition holds."""
    if not condition:
        raise UserError(f"--{name.replace('_', '-')} must be {wanted}, got {value!r}")


def check_types(config: Any) -> None:
    """Refuse values of another type or choice than the dataclass declares, as a hand-edited config.json may hold."""
    hints = get_type_hints(type(config))
    for field in dataclasses.fields(config):
        value, hint = getattr(config, field.name), hints[field.name]
        if get_origin(hint) is Literal:
            choices = get_args(hint)
            known = any(value == choice and type(value) is type(choice) for choice in choices)
            require(known, field.name, f"one of {', '.join(map(str, choices))}", value)
        else:
            _check_type(field.name, value, field.default)


def _check_type(name: str, value: Any, default: Any) -> None:
    expected: tuple[type, ...] = (type(default),)
    if default is None:
        expected = (Path, type(None))
    elif isinstance(default, float):
        expected = (float, int)
    right = isinstance(value, expected) and (isinstance(value, bool) == isinstance(default, bool))
    if isinstance(default, float) and right:
        right = not isinstance(value, int) or abs(value) <= LARGEST  # JSON has integers that no float can hold
    if isinstance(default, tuple) and right:
        right = all(isinstance(item, int) and not isinstance(item, bool) for item in value)
    require(right, name, f"of type {expected[0].__name__}", value)


def check_seed(config: Any) -> None:
    """Refuse a seed that not every generator takes."""
    require(config.seed >= 0, "seed", "0 or more", config.seed)
    require(config.seed < 2**63, "seed", "below 2^63", config.seed)


def check_counts(config: Any, *names: str) -> None:
    """Refuse counts below 1 or beyond all measure."""
    for name in names:
        value = getattr(config, name)
        require(value >= 1, name, "at least 1", value)
        require(value <= LARGEST, name, f"at most {LARGEST:,}", value)


def check_some(config: Any, *names: str) -> None:
    """Refuse lists with nothing in them."""
    for name in names:
        require(len(getattr(config, name)) > 0, name, "at least one", getattr(config, name))


def check_times(config: Any, *names: str) -> None:
    """Refuse times that are none, or have no end."""
    for name in names:
        require(0 < getattr(config, name) < math.inf, name, "above 0 and finite", getattr(config, name))


def check_fractions(config: Any, *names: str) -> None:
    """Refuse numbers outside 0 to 1, both ends included."""
    for name in names:
        require(0 <= getattr(config, name) <= 1, name, "between 0 and 1", getattr(config, name))


def machine_bytes() -> int | None:
    """Return how much memory this machine has, in use or not, if the system says so."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None


def check_changes(before: Mapping[str, Any], now: Mapping[str, Any], length: str, force: bool, place: str) -> None:
    """Refuse settings other than those of before, unless by force; the one called `length` may grow.

    Nothing before the end of a run depends on its length.

    Raises:
        UserError: some differ; all differences are shown.
    """
    before, now = (json.loads(json.dumps(dict(side))) for side in (before, now))  # which makes tuples lists
    differences = [
        f"--{name.replace('_', '-')} was {before.get(name)!r} and now is {now.get(name)!r}"
        for name in sorted(before.keys() | now.keys())
        if before.get(name) != now.get(name) and not (name == length and _grows(before.get(name), now.get(name)))
    ]
    if differences and not force:
        raise UserError(f"{place}: other settings than the run has: {'; '.join(differences)} (--force takes them)")


def _grows(before: object, now: object) -> bool:
    return isinstance(before, int) and isinstance(now, int) and before < now
