"""What a person is shown of a player: the live score, the table of its proof, and what a cell is worth to it."""

from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from selfplay.evaluation.evaluation import Evaluation, Proof, SeatEvaluation
from selfplay.evaluation.reach import Unfinished, Unproved

LARGEST_DRAWN = 1e100
"""So that no difference of two values overflows."""


def live_score(evaluation: Proof | Unproved) -> str:
    """Return the exact score in a few words."""
    seats = evaluation.first, evaluation.second
    lost, illegal = ([_count(getattr(seat, kind), seat) for seat in seats] for kind in ("losses", "illegal"))
    score = f"lost game lines {lost[0]} as X, {lost[1]} as O; illegal game lines {illegal[0]} as X, {illegal[1]} as O"
    if isinstance(evaluation, Unproved):
        return score
    if isinstance(evaluation, Evaluation):
        return f"{score}; optimal in {evaluation.optimal_states:,} of {evaluation.decision_states:,} states"
    return f"{score}; exploitability {evaluation.exploitability:g}"


def value_text(value: float) -> str:
    """Return what a cell is worth to a player in a few characters, also where its weights are beyond all measure."""
    return f"{value:+.2f}" if abs(value) < 1e6 else f"{value:+.0e}"


def drawn_values(values: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Return values as colours can show them: 0 for what is no number, and none beyond 1e100."""
    numbers = np.nan_to_num(values.astype(np.float64), nan=0.0)
    return np.clip(numbers, -LARGEST_DRAWN, LARGEST_DRAWN)


def evaluation_table(evaluation: Proof | Unproved) -> Table:
    """Return the exact evaluation of both seats as a table."""
    table = Table(title="Exact evaluation: every legal reply followed, nothing sampled")
    table.add_column("")
    table.add_column("plays X, moves first", justify="right")
    table.add_column("plays O, moves second", justify="right")
    seats = evaluation.first, evaluation.second
    if isinstance(evaluation, Unproved):
        table.add_row("plies followed", *(_extent(seat) for seat in seats))
    table.add_row("lost game lines", *(_count(seat.losses, seat) for seat in seats))
    table.add_row("illegal game lines", *(_count(seat.illegal, seat) for seat in seats))
    finished = [seat if isinstance(seat, SeatEvaluation) else None for seat in seats]
    if any(finished):
        table.add_row("worst possible result", *(_result(seat.best_response) if seat else "?" for seat in finished))
        table.add_section()
        for kind, name in (("wins", "win"), ("draws", "draw"), ("losses", "loss")):
            table.add_row(f"{kind} against random", *(_share(getattr(seat, name, nan)) for seat in finished))
    return table


def verdict(evaluation: Proof | Unproved) -> str:
    """Return what is proved, in one or two sentences."""
    if isinstance(evaluation, Unproved):
        found = "NOT unbeatable: some opponent beats it" if evaluation.beatable else "NOT PROVED: no lost line was met"
        return f"{found}. Its play leads to too many positions to follow to the end."
    states = f"Its exploitability is {evaluation.exploitability:g}."
    name = "UNBEATABLE"
    if isinstance(evaluation, Evaluation):
        states = (
            f"Its move is optimal in {evaluation.optimal_states:,} of {evaluation.decision_states:,} decision states"
            f" and illegal in {evaluation.illegal_states:,}; exploitability {evaluation.exploitability:g}."
        )
        name = "UNBEATABLE AND OPTIMAL" if evaluation.optimal else "UNBEATABLE"
    if evaluation.unbeatable:
        return f"PROVED {name}: no opponent can beat it, in either seat. {states}"
    if evaluation.unexploitable:
        return (
            "PROVED UNEXPLOITABLE: one seat wins this game with best play, and from that seat it beats every "
            f"opponent; from the other nobody is safe. {states}"
        )
    return f"NOT unbeatable: some opponent beats it. {states}"


def _count(lines: int, seat: SeatEvaluation | Unfinished) -> str:
    """Return a number of game lines, marked where there may be more."""
    return f"{'≥' if isinstance(seat, Unfinished) else ''}{lines:,}"


def _extent(seat: SeatEvaluation | Unfinished) -> str:
    return f"{seat.plies} ({seat.positions:,} positions)" if isinstance(seat, Unfinished) else "all"


def _share(share: float) -> str:
    return "?" if isnan(share) else f"{share:.2%}"


def _result(value: float) -> str:
    names: dict[float, str] = {1: "win", 0: "draw", -1: "loss"}
    return names.get(value, f"{value:+.3f} on average")
