"""What CSV files hold of an exact evaluation."""

from selfplay.evaluation.verdict import Verdict

COUNTED = ("first_losses", "second_losses", "first_illegal", "second_illegal", "optimal_states")
"""Their columns."""


def counts(evaluation: Verdict) -> tuple[int, int, int, int, int]:
    """Return the lost and the illegal game lines by seat, and the states in which the move is optimal."""
    first, second = evaluation.first, evaluation.second
    return first.losses, second.losses, first.illegal, second.illegal, int(known(evaluation.optimal_states))


def known(number: float | None) -> float:
    """Return a number of a verdict that is known on 3,3,3."""
    assert number is not None
    return number
