"""The verdict of an exact evaluation: the same fields on every board and for every agent."""

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class SeatVerdict:
    """Hold what an agent does in one seat, over every legal reply of its opponent."""

    losses: int
    """Distinct games that it loses by a line of the opponent; a lower bound where `plies` is given."""
    illegal: int
    """Distinct games that it ends by marking a taken cell; a lower bound where `plies` is given."""
    win: float | None = None
    """Probability of a win against uniformly random replies; None where it is not known."""
    draw: float | None = None
    """Probability of a draw against the same opponent, or None."""
    loss: float | None = None
    """Probability of a lost or an illegal game against the same opponent, or None."""
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
        """Tell whether every game was followed to its end; if not, `losses` and `illegal` are lower bounds."""
        return self.plies is None


@dataclass(frozen=True)
class Verdict:
    """Hold the result of an exact evaluation; the fields are the same on every board and for every agent.

    What is not proved is False: `unbeatable`, `unexploitable`, `optimal`. A number that is not known is None. If
    `complete` is False, the agent's play led to too many positions, and these counts are lower bounds: `games_lost`,
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
    perspective: str | None = field(default=None, compare=False)
    """Planes that an agent of the user was shown; None for our players, which understand both."""

    @property
    def complete(self) -> bool:
        """Tell whether every game was followed to its end, in both seats; if not, numbers of games are lower bounds."""
        return self.first.complete and self.second.complete

    @property
    def games_lost(self) -> int:
        """Return the games that it loses or ends by a taken cell, in both seats; a lower bound unless `complete`."""
        return sum(seat.losses + seat.illegal for seat in (self.first, self.second))

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
        """Tell whether it is proved never to lose and never to mark a taken cell, in both seats."""
        return self.complete and self.games_lost == 0

    @property
    def unexploitable(self) -> bool:
        """Tell whether it is proved that no opponent gets more than the value of the game, and no game ends illegally.

        If best play on the board is a draw, this is the same as unbeatable. If one seat wins with best play, nobody is
        unbeatable in the other seat, so this is the best possible result.
        """
        return self.complete and self.exploitability == 0 and self.first.illegal == self.second.illegal == 0

    @property
    def optimal(self) -> bool:
        """Tell whether its moves are proved to keep the game-theoretic value in every decision state."""
        return self.optimal_fraction == 1

    @property
    def optimal_fraction(self) -> float | None:
        """Return the fraction of decision states in which every move keeps the value; None if it is not known."""
        if self.decision_states is None or self.optimal_states is None:
            return None
        return self.optimal_states / self.decision_states

    def __repr__(self) -> str:
        from selfplay.judging.report import live_score, verdict_text  # noqa: PLC0415 (it imports this class)

        proved = verdict_text(self).partition(":")[0]
        shown = f"; perspective={self.perspective!r}" if self.perspective else ""
        return f"Verdict({proved}; {live_score(self)}{shown})"

    def _repr_html_(self) -> str:
        """Return the table of both seats, for a notebook."""
        from selfplay.judging.report import verdict_html  # noqa: PLC0415 (it imports this class)

        return verdict_html(self)

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers and what they prove, ready for JSON."""
        return asdict(self) | {
            name: getattr(self, name)
            for name in ("complete", "unbeatable", "unexploitable", "optimal", "exploitability")
        }
