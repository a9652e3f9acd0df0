"""The verdict of an exact evaluation: its numbers, and what they prove.

To add a number, write a field of `SeatVerdict` or `Verdict`, which JSON, CSV and `model/evaluation.json` then hold;
`evaluate.py` computes it, `verdict_rows` in `verdict_text.py` prints it, and `SEAT_TAGS` and `UNFINISHED_TAGS` in
`runs/metrics.py` log it. Tests to extend: the slow judges in `judge/hand_made_players.py`, and
`judge/test_shown_agent.py`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from selfplay.verdict_text import exact_score, title, verdict_html, verdict_text
from tictactoe import Rules

COUNTS = ("ways_to_beat", "losses", "illegal")
"""The counts of a seat and of both: all ways to beat an agent, those by a line, those by its own illegal move."""


@dataclass(frozen=True)
class SeatVerdict:
    """An agent's results in one seat, over every legal reply."""

    losses: int
    """Ways to beat it by a line of the opponent; a lower bound where `plies` is given."""
    illegal: int
    """Ways to beat it by its own illegal move, a taken cell; a lower bound where `plies` is given."""
    win: float | None = None
    """Probability of a win against uniformly random replies; None where it is not known."""
    draw: float | None = None
    """Probability of a draw against the same opponent, or None."""
    loss: float | None = None
    """Probability of a loss against the same opponent, by a line or by its own illegal move, or None."""
    illegal_loss: float | None = None
    """The part of `loss` that is by its own illegal move, or None."""
    best_response: float | None = None
    """Result against the worst opponent: +1, 0 or -1, or the mean if moves are sampled; None where it is not known.

    If `plies` is given, it is only known (-1) for an agent that samples no moves and is beaten.
    """
    plies: int | None = None
    """Plies to which every game was followed, if there were too many positions; None if to the end."""
    positions: int | None = None
    """Positions in which it was to move, if there were too many; None if every game was followed to the end."""

    @property
    def complete(self) -> bool:
        """Return whether every game was followed to its end; if not, `losses` and `illegal` are lower bounds."""
        return self.plies is None

    @property
    def ways_to_beat(self) -> int:
        """Return the ways to beat it in this seat: the different sequences of replies after which it has lost.

        It loses by a line or by its own illegal move. The number is a lower bound unless `complete`.
        """
        return self.losses + self.illegal

    @property
    def unbeaten(self) -> bool:
        """Return whether every game was followed to its end and none is lost."""
        return self.complete and self.ways_to_beat == 0


NOT_JUDGED = SeatVerdict(losses=0, illegal=0, plies=0, positions=0)
"""Of a seat in which no game was followed."""


@dataclass(frozen=True)
class Verdict:
    """The result of an exact evaluation; the fields are the same on every board and for every agent.

    `ways_to_beat` is to fall to 0 for a proof, and does not rank agents. What does is the `loss` of each seat, against
    uniformly random play.

    What is not proved is False: `unbeatable`, `unexploitable`, `optimal`. A number that is not known is None. If
    `complete` is False, the agent's play led to too many positions, and these counts are lower bounds: `ways_to_beat`,
    and `losses` and `illegal` of each seat that is not `complete`. All other numbers are exact.
    """

    first: SeatVerdict
    """As X, which moves first."""
    second: SeatVerdict
    """As O."""
    decision_states: int | None = None
    """Positions that can be reached and are not finished, 4,520 on 3,3,3; None on boards that are not solved."""
    optimal_states: int | None = None
    """Decision states in which every move of the agent keeps the game-theoretic value, or None."""
    illegal_states: int | None = None
    """Decision states in which the agent may mark a taken cell, or None."""
    seat: int | None = None
    """The only seat that was judged; None if both were."""
    confirmed: bool = True
    """Whether the agent was asked again about the positions of its own play. Without that nothing is proved."""
    perspective: str | None = field(default=None, compare=False)
    """Planes that a custom agent was shown; None for our players, which understand both."""
    rules: Rules | None = field(default=None, compare=False)
    """The board."""
    hint: str | None = field(default=None, compare=False)
    """A sentence on a likely mistake in how it was judged."""

    @property
    def judged(self) -> Sequence[SeatVerdict]:
        """Return the verdicts on the seats that were judged."""
        both = (self.first, self.second)
        return both if self.seat is None else (both[self.seat],)

    @property
    def complete(self) -> bool:
        """Return whether every game in the judged seats was followed to its end; if not, counts are lower bounds."""
        return all(seat.complete for seat in self.judged)

    @property
    def ways_to_beat(self) -> int:
        """Return the ways to beat it, in both seats; a lower bound unless `complete`."""
        return self.first.ways_to_beat + self.second.ways_to_beat

    @property
    def losses(self) -> int:
        """Return the ways to beat it by a line, in both seats; a lower bound unless `complete`."""
        return self.first.losses + self.second.losses

    @property
    def illegal(self) -> int:
        """Return the ways to beat it by its own illegal move, in both seats; a lower bound unless `complete`."""
        return self.first.illegal + self.second.illegal

    @property
    def exploitability(self) -> float | None:
        """Return how much a best response gains over the value of the game, averaged over both seats, from 0 to 1.

        The values of the game for the two seats cancel out, so the game need not be solved. None if it is not known.
        """
        first, second = self.first.best_response, self.second.best_response
        if first is None or second is None:
            return None
        return 0.0 - (first + second) / 2  # a minus alone would make -0.0 of 0.0

    @property
    def unbeatable(self) -> bool:
        """Return whether it is proved that there is no way to beat it, in either seat."""
        return self.confirmed and self.first.unbeaten and self.second.unbeaten

    @property
    def unexploitable(self) -> bool:
        """Return whether it is proved that no opponent gets more than the game's value, and no game ends illegally.

        If best play on the board is a draw, this is the same as unbeatable. If one seat wins with best play, nobody is
        unbeatable in the other seat, so this is the best possible result.
        """
        return self.confirmed and self.complete and self.exploitability == 0 and self.illegal == 0

    @property
    def optimal(self) -> bool:
        """Return whether its moves are proved to keep the game-theoretic value in every decision state."""
        return self.confirmed and self.optimal_fraction == 1

    @property
    def optimal_fraction(self) -> float | None:
        """Return the fraction of decision states in which every move keeps the value; None if it is not known."""
        if self.decision_states is None or self.optimal_states is None:
            return None
        return self.optimal_states / self.decision_states

    def __repr__(self) -> str:
        shown = f"; perspective={self.perspective!r}" if self.perspective else ""
        return f"Verdict({'; '.join([title(self), *exact_score(self)])}{shown})"

    def __str__(self) -> str:
        return verdict_text(self)

    def _repr_html_(self) -> str:
        return verdict_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and what they prove, ready for JSON; a number that is not known is None.

        The names are those of the attributes and properties. `board` holds the fields of `rules`; `first` and `second`
        hold those of a `SeatVerdict`, with its `ways_to_beat`; `lower_bounds` names the counts that are lower bounds,
        such as "second.losses".

        `selfplay prove --json` adds `player`, its name as typed; `model_sha256`, the checksum of the run's
        model.safetensors, or None; and `versions` of Python and the packages on which the verdict may depend. `--csv`
        prints the same with names such as `first.loss`, and leaves empty what is not known.
        """
        seats = {"first": self.first, "second": self.second}
        lower_bounds = [] if self.complete else [*COUNTS]
        for name, seat in seats.items():
            if not seat.complete:
                lower_bounds += [f"{name}.{count}" for count in COUNTS]
        return {
            "board": None if self.rules is None else asdict(self.rules),
            "perspective": self.perspective,
            "unbeatable": self.unbeatable,
            "unexploitable": self.unexploitable,
            "optimal": self.optimal,
            "exploitability": self.exploitability,
            "complete": self.complete,
            "seat": self.seat,
            "confirmed": self.confirmed,
            "lower_bounds": lower_bounds,
            "ways_to_beat": self.ways_to_beat,
            "losses": self.losses,
            "illegal": self.illegal,
            **{name: {"ways_to_beat": seat.ways_to_beat, **asdict(seat)} for name, seat in seats.items()},
            "decision_states": self.decision_states,
            "optimal_states": self.optimal_states,
            "illegal_states": self.illegal_states,
        }
