"""The sentences and tables about a verdict, for terminals and notebooks.

A verdict is a `judge.verdict.Verdict`. It prints itself with these functions, so this module is below it and does not
import it.
"""

from collections.abc import Sequence
from html import escape
from typing import Any

from tictactoe.rendering.text import MARKS

NAMES: dict[float, str] = {1: "win", 0: "draw", -1: "loss"}
"""The results of a game to the mover."""
COLUMNS = ("", "plays X, moves first", "plays O, moves second")
"""The heads of the columns of `verdict_rows`."""


def title(verdict: Any) -> str:
    """Return what is proved, in a few words."""
    if verdict.optimal and verdict.unbeatable:
        return "PROVED UNBEATABLE AND OPTIMAL"
    if verdict.unexploitable and not verdict.unbeatable:
        return "PROVED UNEXPLOITABLE"
    where = "" if verdict.seat is None else f" as {MARKS[verdict.seat]}"
    if all(seat.unbeaten for seat in verdict.judged):
        return f"PROVED UNBEATABLE{where.upper()}" if verdict.confirmed else f"NOT CONFIRMED{where}"
    if verdict.ways_to_beat or verdict.complete:
        return f"NOT unbeatable{where}"
    return f"NOT PROVED{where}"


def meaning(verdict: Any) -> str:
    """Return what is proved, or else how often an agent loses to uniformly random play, as a sentence."""
    if verdict.unbeatable:
        return "no opponent can beat it, in either seat."
    if verdict.unexploitable:
        return (
            "one seat wins this game with best play, and from that seat it beats every opponent; from the other nobody "
            "is safe."
        )
    if verdict.ways_to_beat:
        return _losses_to_random(verdict)
    if not verdict.confirmed:
        return "no way to beat it was met, but it was not asked again about its own play, so nothing is proved."
    if verdict.complete:
        return "no opponent can beat it in this seat."
    return "no way to beat it was met."


def verdict_text(verdict: Any) -> str:
    """Return what is proved, in a few sentences, and for a custom agent which planes it was shown."""
    sentences = [f"{title(verdict)}: {meaning(verdict)}"]
    if verdict.ways_to_beat:
        verb = "is" if verdict.ways_to_beat == 1 else "are"
        sentences.append(f"There {verb} {ways(verdict)}, and a proof needs 0: {_kinds(verdict)}.")
    if not verdict.complete:
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


def perspective_hint(verdict: Any, other: Any) -> str:
    """Return why an agent may be bad as O; `other` is the verdict on it there in the other perspective, or None."""
    loss = None if other is None else other.loss
    if loss is not None and loss < verdict.second.loss:
        perspective = "mover" if verdict.perspective == "absolute" else "absolute"
        return f"With perspective {perspective} it loses {100 * loss:.3g} % as O: if it learned with that, pass it."
    return "It is good as X and bad as O, as after training as X alone."


def exact_score(verdict: Any) -> list[str]:
    """Return the number of ways to beat an agent in words, and then what else is known."""
    facts = [f"{ways(verdict)}: {_kinds(verdict)}"]
    if verdict.decision_states is not None:
        facts.append(f"optimal in {verdict.optimal_states:,} of {verdict.decision_states:,} states")
    elif verdict.exploitability is not None:
        facts.append(f"exploitability {verdict.exploitability:g}")
    return facts


def verdict_rows(verdict: Any) -> list[Sequence[str]]:
    """Return the numbers of both seats as the rows of a table, whose columns are `COLUMNS`."""
    seats = verdict.first, verdict.second
    rows: list[Sequence[str]] = []
    if not verdict.complete:
        rows.append(("plies followed", *map(_extent, seats)))
    rows.append(("ways to beat it", *_counts(verdict, "ways_to_beat")))
    rows.append(("by a line", *_counts(verdict, "losses")))
    rows.append(("by its own illegal move", *_counts(verdict, "illegal")))
    if any(seat.complete for seat in seats):
        rows.append(("worst possible result", *(_result(seat.best_response) for seat in seats)))
        rows.append(("wins against random", *(_share(seat.win) for seat in seats)))
        rows.append(("draws against random", *(_share(seat.draw) for seat in seats)))
        rows.append(("losses against random", *(_share(seat.loss) for seat in seats)))
    if any(seat.illegal_loss for seat in seats):
        rows.append(("of these by its own illegal move", *(_share(seat.illegal_loss) for seat in seats)))
    return rows


def verdict_html(verdict: Any) -> str:
    """Return what is proved and the table of both seats as HTML, for notebooks."""
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in [COLUMNS, *verdict_rows(verdict)]]
    return f"<p>{escape(verdict_text(verdict))}</p><table><tr>{'</tr><tr>'.join(rows)}</tr></table>"


def _losses_to_random(verdict: Any) -> str:
    """Return how often an agent that can be beaten loses to uniformly random play, which ranks agents."""
    losses = [seat.loss for seat in verdict.judged]
    if all(loss is None for loss in losses):
        return "some opponent beats it."
    shares = ["an unknown share" if loss is None else f"{100 * loss:.3g} %" for loss in losses]
    seats = MARKS if verdict.seat is None else MARKS[verdict.seat]
    as_seats = " and ".join(f"{share} as {mark}" for share, mark in zip(shares, seats, strict=True))
    return f"of its games against uniformly random play it loses {as_seats}."


def ways(verdict: Any) -> str:
    """Return the number of ways to beat an agent in words."""
    noun = "way" if verdict.ways_to_beat == 1 else "ways"
    return f"{_count(verdict.ways_to_beat, verdict.complete)} {noun} to beat it"


def _kinds(verdict: Any) -> str:
    lines, illegal = _count(verdict.losses, verdict.complete), _count(verdict.illegal, verdict.complete)
    return f"{lines} by a line, {illegal} by its own illegal move"


def _count(number: int, whole: bool) -> str:
    """Return a number of ways to beat an agent, marked if it is a lower bound."""
    return f"{number:,}" if whole else f"≥{number:,}"


def _counts(verdict: Any, name: str) -> list[str]:
    """Return one of the numbers of both seats; "-" for a seat that was not judged."""
    seats = enumerate((verdict.first, verdict.second))
    return [
        _count(getattr(seat, name), seat.complete) if verdict.seat in (None, number) else "-" for number, seat in seats
    ]


def _extent(seat: Any) -> str:
    """Return how far the games of a seat were followed."""
    return "all" if seat.complete else f"{seat.plies} ({seat.positions:,} positions)"


def _result(worst: float | None) -> str:
    if worst is None:
        return "?"
    return NAMES.get(worst, f"{worst:+.3f} on average")


def _share(share: float | None) -> str:
    return "?" if share is None else f"{share:.2%}"
