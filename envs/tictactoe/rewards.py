"""The rewards of a ply: their fields, the named presets, and which seat gets what.

To add a reward, write a field of `Rewards` and its events in `of_event`: it is a flag, a keyword argument and part of
every file. One that depends on more than the event is paid by `batch.reward` and the modules of `gym/` that make plies.
The page reads values by `worth` in `web/player_data.py`, and has `heat_map.js` and `playground_game.js`. Tests to
extend: `tictactoe/test_rewards.py`, `tictactoe/test_environments.py`, `tictactoe/rule_book.py` and
`web/test_player_data.py`.
"""

import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from numbers import Real
from types import MappingProxyType

from tictactoe.names import unknown
from tictactoe.rules import Event


@dataclass(frozen=True)
class Rewards:
    """The rewards of a ply, to the seat that made it, or to the other seat where a field says so.

    Raises:
        ValueError: a field is not a finite number.
    """

    win: float = 1.0
    """The ply won the game."""
    illegal: float = -10.0
    """The cell was taken: the game ends and the mover loses."""
    allow: float = -1.0
    """The ply allows a win: the game continues, and the opponent can win with its next ply."""
    draw: float = 0.0
    """The ply filled the board without a line."""
    loss: float = 0.0
    """Reward of the other seat when the mover wins."""

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            number = isinstance(value, Real) and not isinstance(value, bool)
            if not number or not abs(value) <= sys.float_info.max:
                raise ValueError(f"rewards: {name} must be a finite number, got {value!r}")
            object.__setattr__(self, name, float(value))

    @cached_property
    def of_event(self) -> Mapping[int, tuple[float, float]]:
        """Return the rewards of the seat that made a ply and of the other seat, by its event."""
        return {
            Event.ONGOING: (0.0, 0.0),
            Event.ALLOW: (self.allow, 0.0),
            Event.DRAW: (self.draw, 0.0),
            Event.WIN: (self.win, self.loss),
            Event.ILLEGAL: (self.illegal, 0.0),
        }


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
