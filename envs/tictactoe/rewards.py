"""The rewards of a move: their fields and the named presets."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from numbers import Real
from types import MappingProxyType
from typing import Any

from tictactoe.names import unknown


@dataclass(frozen=True)
class Rewards:
    """Hold the rewards of a move. All go to the seat that moved, except `loss`, which goes to the other seat.

    Raises:
        ValueError: a field is not a finite number.
    """

    win: float = 1.0
    """The move completed a line."""
    illegal: float = -10.0
    """The cell was taken: the game ends and the mover loses."""
    allow: float = -1.0
    """The move allows a win: the game goes on, and the opponent can complete a line with its next move."""
    draw: float = 0.0
    """The move filled the board without a line."""
    loss: float = 0.0
    """Reward of the other seat when the mover wins."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = _as_float(value)
            if not math.isfinite(number):
                raise ValueError(f"rewards: {name} must be a finite number, got {value!r}")
            object.__setattr__(self, name, number)


def _as_float(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf


PRESETS: Mapping[str, Rewards] = MappingProxyType(
    {
        "shaped": Rewards(),
        "article": Rewards(draw=1.0),
        "sparse": Rewards(allow=0.0, loss=-1.0),
    }
)


def named_rewards(rewards: str | Rewards | Mapping[str, float]) -> Rewards:
    """Return the rewards of a preset's name, of a dict of fields, or `rewards` itself if it is a `Rewards`.

    Raises:
        ValueError: there is no preset or no field of that name.
        TypeError: `rewards` is none of the three.
    """
    if isinstance(rewards, Rewards):
        return rewards
    if isinstance(rewards, Mapping):
        known = [field.name for field in fields(Rewards)]
        for name in rewards:
            if name not in known:
                raise ValueError(unknown("rewards field", name, known))
        return Rewards(**rewards)
    if not isinstance(rewards, str):
        raise TypeError(f"rewards must be the name of a preset, a Rewards or a dict of its fields, got {rewards!r}")
    if rewards not in PRESETS:
        raise ValueError(unknown("rewards", rewards, PRESETS, ", or pass Rewards(...)"))
    return PRESETS[rewards]
