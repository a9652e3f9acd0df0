"""The verdict of an exact evaluation: its numbers, what they prove, and what that is called.

The texts need no library. The tables that need rich are in `report`.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any

from selfplay.judge.move_values import NAMES
from tictactoe import Rules
from tictactoe.rendering.text import MARKS

COUNTS = ("ways_to_beat", "losses", "illegal")
"""What is counted, in a seat and in both: all ways to beat an agent, those by a line, those by its own illegal move."""


@dataclass(frozen=True)
class SeatVerdict:
    """What an agent does in one seat, over every legal reply of its opponent."""

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

    `ways_to_beat` is the distance to a proof and does not rank agents. What does is the `loss` of each seat, against
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
    def judged(self) -> "Sequence[SeatVerdict]":
        """Return the verdicts on the seats that were judged."""
        both = (self.first, self.second)
        return both if self.seat is None else (both[self.seat],)

    @property
    def complete(self) -> bool:
        """Return whether every game was followed to its end; if not, numbers of games are lower bounds."""
        return self.first.complete and self.second.complete

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
        """Return all numbers and what they prove, ready for JSON.

        `docs/proofs.md` describes each.
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


GOOD, BAD = 0.05, 0.1
"""Losses against random play: below the first an agent is good as X, and above the second it is bad as O."""
COLUMNS = ("", "plays X, moves first", "plays O, moves second")
"""The heads of the columns of `verdict_rows`."""


def title(verdict: Verdict) -> str:
    """Return what is proved, in a few words."""
    if verdict.optimal and verdict.unbeatable:
        return "PROVED UNBEATABLE AND OPTIMAL"
    if verdict.unexploitable and not verdict.unbeatable:
        return "PROVED UNEXPLOITABLE"
    where = "" if verdict.seat is None else f" as {MARKS[verdict.seat]}"
    if all(seat.unbeaten for seat in verdict.judged):
        return f"PROVED UNBEATABLE{where.upper()}" if verdict.confirmed else f"NOT CONFIRMED{where}"
    if verdict.ways_to_beat or all(seat.complete for seat in verdict.judged):
        return f"NOT unbeatable{where}"
    return f"NOT PROVED{where}"


def verdict_text(verdict: Verdict) -> str:
    """Return what is proved, in a few sentences, and for a custom agent which planes it was shown."""
    if verdict.unbeatable:
        meaning = "no opponent can beat it, in either seat."
    elif verdict.unexploitable:
        meaning = (
            "one seat wins this game with best play, and from that seat it beats every opponent; from the other nobody "
            "is safe."
        )
    elif verdict.ways_to_beat:
        meaning = f"{_losses_to_random(verdict)} {_distance_to_a_proof(verdict)}"
    elif not verdict.confirmed:
        meaning = "no way to beat it was met, but it was not asked again about its own play, so nothing is proved."
    elif all(seat.complete for seat in verdict.judged):
        meaning = "no opponent can beat it in this seat."
    else:
        meaning = "no way to beat it was met."
    sentences = [f"{title(verdict)}: {meaning}"]
    if not all(seat.complete for seat in verdict.judged):
        sentences.append("Its play leads to too many positions to follow to the end.")
    elif verdict.decision_states is not None:
        sentences.append(
            f"Its move is optimal in {verdict.optimal_states:,} of {verdict.decision_states:,} decision states "
            f"and illegal in {verdict.illegal_states:,}; exploitability {verdict.exploitability:g}."
        )
    elif verdict.exploitability is not None:
        sentences.append(f"Its exploitability is {verdict.exploitability:g}.")
    if verdict.perspective:
        seen = "mine and theirs" if verdict.perspective == "mover" else "X and O"
        sentences.append(f"It was shown the planes empty, {seen} on the last axis (perspective {verdict.perspective}).")
    if verdict.hint:
        sentences.append(verdict.hint)
    return " ".join(sentences)


def is_blind_as_o(verdict: Verdict) -> bool:
    """Return whether an agent is good as X and bad as O, as if it saw the wrong marks there."""
    first, second = verdict.first.loss, verdict.second.loss
    return first is not None and second is not None and first < GOOD and second > BAD


def perspective_hint(verdict: Verdict, other: SeatVerdict, perspective: str | None) -> str:
    """Return why an agent may be bad as O; `other` is the verdict on it there if it is shown another perspective."""
    if other.loss is not None and verdict.second.loss is not None and other.loss < verdict.second.loss:
        return (
            f"With perspective {perspective} it loses {100 * other.loss:.3g} % as O: if it learned with that, pass it."
        )
    return "It is good as X and bad as O, as after training as X alone."


def exact_score(verdict: Verdict) -> list[str]:
    """Return the number of ways to beat an agent in words, and then what else is known."""
    facts = [f"{_ways(verdict)}: {_kinds_of_ways(verdict)}"]
    if verdict.decision_states is not None:
        facts.append(f"optimal in {verdict.optimal_states:,} of {verdict.decision_states:,} states")
    elif verdict.exploitability is not None:
        facts.append(f"exploitability {verdict.exploitability:g}")
    return facts


def verdict_rows(verdict: Verdict) -> list[Sequence[str]]:
    """Return the numbers of both seats as the rows of a table, whose columns are `COLUMNS`."""
    seats = verdict.first, verdict.second
    rows: list[Sequence[str]] = []
    if not all(seat.complete for seat in verdict.judged):
        rows.append(("plies followed", *map(_extent, seats)))
    rows.append(("ways to beat it", *(_count(seat.ways_to_beat, seat) for seat in seats)))
    rows.append(("by a line", *(_count(seat.losses, seat) for seat in seats)))
    rows.append(("by its own illegal move", *(_count(seat.illegal, seat) for seat in seats)))
    if any(seat.complete for seat in seats):
        rows.append(("worst possible result", *(_result(seat.best_response) for seat in seats)))
        rows.append(("wins against random", *(_share(seat.win) for seat in seats)))
        rows.append(("draws against random", *(_share(seat.draw) for seat in seats)))
        rows.append(("losses against random", *(_share(seat.loss) for seat in seats)))
    if any(seat.illegal_loss for seat in seats):
        rows.append(("of these by its own illegal move", *(_share(seat.illegal_loss) for seat in seats)))
    return rows


def verdict_html(verdict: Verdict) -> str:
    """Return what is proved and the table of both seats as HTML, for notebooks."""
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in [COLUMNS, *verdict_rows(verdict)]]
    return f"<p>{escape(verdict_text(verdict))}</p><table><tr>{'</tr><tr>'.join(rows)}</tr></table>"


def _losses_to_random(verdict: Verdict) -> str:
    """Return how often an agent that can be beaten loses to uniformly random play, which ranks agents."""
    losses = [seat.loss for seat in verdict.judged]
    if all(loss is None for loss in losses):
        return "some opponent beats it."
    shares = ["an unknown share" if loss is None else f"{100 * loss:.3g} %" for loss in losses]
    seats = MARKS if verdict.seat is None else MARKS[verdict.seat]
    as_seats = " and ".join(f"{share} as {mark}" for share, mark in zip(shares, seats, strict=True))
    return f"of its games against uniformly random play it loses {as_seats}."


def _distance_to_a_proof(verdict: Verdict) -> str:
    """Return the number of ways to beat an agent as a sentence; it does not rank agents."""
    verb = "is" if verdict.ways_to_beat == 1 else "are"
    return f"There {verb} {_ways(verdict)}, its distance to a proof: {_kinds_of_ways(verdict)}."


def _ways(verdict: Verdict) -> str:
    noun = "way" if verdict.ways_to_beat == 1 else "ways"
    return f"{_count(verdict.ways_to_beat, verdict)} {noun} to beat it"


def _kinds_of_ways(verdict: Verdict) -> str:
    lines = _count(verdict.losses, verdict)
    illegal = _count(verdict.illegal, verdict)
    return f"{lines} by a line, {illegal} by its own illegal move"


def _count(ways: int, verdict: SeatVerdict | Verdict) -> str:
    """Return a number of ways to beat an agent, marked if it is a lower bound."""
    if verdict == NOT_JUDGED:
        return "-"
    whole = verdict.complete if isinstance(verdict, SeatVerdict) else all(seat.complete for seat in verdict.judged)
    return f"{ways:,}" if whole else f"≥{ways:,}"


def _extent(seat: SeatVerdict) -> str:
    """Return how far the games of a seat were followed."""
    return "all" if seat.complete else f"{seat.plies} ({seat.positions:,} positions)"


def _result(worst: float | None) -> str:
    if worst is None:
        return "?"
    return NAMES.get(worst, f"{worst:+.3f} on average")


def _share(share: float | None) -> str:
    return "?" if share is None else f"{share:.2%}"
