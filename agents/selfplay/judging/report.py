"""Texts and tables about an agent: the live score, its verdict, and the value of a cell."""

from html import escape

import numpy as np
from rich.table import Column, Table

from selfplay.agent import Array, Player
from selfplay.judging.agents import player_policy
from selfplay.judging.evaluate import ALL_STATES_CELLS, evaluate_policy
from selfplay.judging.exact import NAMES
from selfplay.judging.verdict import SeatVerdict, Verdict

LARGEST_SHOWN = 1e100
"""Largest value that is shown, so that no difference of two values overflows."""


def live_score(verdict: Verdict) -> str:
    """Return the exact score in a few words."""
    seats = verdict.first, verdict.second
    lost, illegal = ([_count(getattr(seat, kind), seat) for seat in seats] for kind in ("losses", "illegal"))
    score = f"games lost {lost[0]} as X, {lost[1]} as O; illegal games {illegal[0]} as X, {illegal[1]} as O"
    if verdict.decision_states is not None:
        return f"{score}; optimal in {verdict.optimal_states:,} of {verdict.decision_states:,} states"
    return score if verdict.exploitability is None else f"{score}; exploitability {verdict.exploitability:g}"


def value_text(value: float) -> str:
    """Return the value of a cell in a few characters, however large it is."""
    return f"{value:+.2f}" if abs(value) < 1e6 else f"{value:+.0e}"


def finite_values(values: Array) -> Array:
    """Return values that colours can show: 0 instead of NaN, and nothing beyond 1e100."""
    return np.nan_to_num(np.clip(values.astype(np.float64), -LARGEST_SHOWN, LARGEST_SHOWN))


def verdict_table(verdict: Verdict) -> Table:
    """Return the verdict of both seats as a table."""
    seat_columns = (Column(name, justify="right") for name in ("plays X, moves first", "plays O, moves second"))
    table = Table("", *seat_columns, title="Exact evaluation: every legal reply followed, nothing sampled")
    seats = verdict.first, verdict.second
    if not verdict.complete:
        extents = ("all" if seat.complete else f"{seat.plies} ({seat.positions:,} positions)" for seat in seats)
        table.add_row("plies followed", *extents)
    table.add_row("games lost", *(_count(seat.losses, seat) for seat in seats))
    table.add_row("illegal games", *(_count(seat.illegal, seat) for seat in seats))
    if any(seat.complete for seat in seats):
        worst = (seat.best_response for seat in seats)
        names = ("?" if each is None else NAMES.get(each, f"{each:+.3f} on average") for each in worst)
        table.add_row("worst possible result", *names)
        table.add_section()
        for kind, name in (("wins", "win"), ("draws", "draw"), ("losses", "loss")):
            shares = (getattr(seat, name) for seat in seats)
            table.add_row(f"{kind} against random", *("?" if share is None else f"{share:.2%}" for share in shares))
    return table


def verdict_html(verdict: Verdict) -> str:
    """Return what is proved and the table of both seats as HTML, for notebooks."""
    columns = [[str(column.header), *map(str, column.cells)] for column in verdict_table(verdict).columns]
    rows = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in zip(*columns, strict=True)]
    return f"<p>{escape(verdict_text(verdict))}</p><table><tr>{'</tr><tr>'.join(rows)}</tr></table>"


def player_html(player: Player) -> str | None:
    """Return the verdict of a player as HTML, for notebooks, on a board that takes less than a second, else None."""
    return verdict_html(evaluate_policy(player_policy(player))) if player.rules.cells <= ALL_STATES_CELLS else None


def verdict_text(verdict: Verdict) -> str:
    """Return what is proved, in a few sentences, and for an agent of the user which planes it was shown."""
    shown = f" It was shown the planes of perspective {verdict.perspective}." if verdict.perspective else ""
    if not verdict.complete:
        beaten = "NOT unbeatable: some opponent beats it" if verdict.games_lost else "NOT PROVED: no lost game was met"
        return f"{beaten}. Its play leads to too many positions to follow to the end.{shown}"
    states = f"Its exploitability is {verdict.exploitability:g}."
    if verdict.decision_states is not None:
        states = (
            f"Its move is optimal in {verdict.optimal_states:,} of {verdict.decision_states:,} decision states"
            f" and illegal in {verdict.illegal_states:,}; exploitability {verdict.exploitability:g}."
        )
    states += shown
    if verdict.unbeatable:
        name = "UNBEATABLE AND OPTIMAL" if verdict.optimal else "UNBEATABLE"
        return f"PROVED {name}: no opponent can beat it, in either seat. {states}"
    if verdict.unexploitable:
        return (
            "PROVED UNEXPLOITABLE: one seat wins this game with best play, and from that seat it beats every "
            f"opponent; from the other nobody is safe. {states}"
        )
    return f"NOT unbeatable: some opponent beats it. {states}"


def _count(games: int, seat: SeatVerdict) -> str:
    """Return a number of games, with a mark if it is a lower bound."""
    return f"{'' if seat.complete else '≥'}{games:,}"
