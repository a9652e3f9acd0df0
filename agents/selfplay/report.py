"""What a person reads in the terminal about a player: the live score and the table of its proof."""

from rich.table import Table

from selfplay.evaluation import Evaluation


def live_score(evaluation: Evaluation) -> str:
    """Return the exact score in a few words, first + second seat."""
    lost = evaluation.first.losses, evaluation.second.losses
    illegal = evaluation.first.illegal, evaluation.second.illegal
    return (
        f"lost {lost[0]:,}+{lost[1]:,}  illegal {illegal[0]:,}+{illegal[1]:,}  "
        f"optimal {evaluation.optimal_states:,}/{evaluation.decision_states:,}"
    )


def evaluation_table(evaluation: Evaluation) -> Table:
    """Return the exact evaluation of both seats as a table."""
    table = Table(title="Exact evaluation: every legal reply followed, nothing sampled")
    table.add_column("")
    table.add_column("plays X, moves first", justify="right")
    table.add_column("plays O, moves second", justify="right")
    seats = evaluation.first, evaluation.second
    table.add_row("lost game lines", *(f"{seat.losses:,}" for seat in seats))
    table.add_row("illegal game lines", *(f"{seat.illegal:,}" for seat in seats))
    table.add_row("worst possible result", *(_result(seat.best_response) for seat in seats))
    table.add_section()
    table.add_row("wins against random", *(f"{seat.win:.2%}" for seat in seats))
    table.add_row("draws against random", *(f"{seat.draw:.2%}" for seat in seats))
    table.add_row("losses against random", *(f"{seat.loss:.2%}" for seat in seats))
    return table


def verdict(evaluation: Evaluation) -> str:
    """Return what is proved, in one or two sentences."""
    states = (
        f"Its move is optimal in {evaluation.optimal_states:,} of {evaluation.decision_states:,} decision states"
        f" and illegal in {evaluation.illegal_states:,}; exploitability {evaluation.exploitability:g}."
    )
    if evaluation.unbeatable:
        name = "UNBEATABLE AND OPTIMAL" if evaluation.optimal else "UNBEATABLE"
        return f"PROVED {name}: no opponent can beat it, in either seat. {states}"
    if evaluation.unexploitable:
        return (
            "PROVED UNEXPLOITABLE: one seat wins this game with best play, and from that seat it beats every "
            f"opponent; from the other nobody is safe. {states}"
        )
    return f"NOT unbeatable: some opponent beats it. {states}"


def _result(value: int) -> str:
    return {1: "win", 0: "draw", -1: "loss"}[value]
