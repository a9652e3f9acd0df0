"""What CSV files hold of an exact evaluation."""

from selfplay.evaluation.evaluation import Evaluation

COUNTED = ("first_losses", "second_losses", "first_illegal", "second_illegal", "optimal_states")
"""Their columns."""


def counts(evaluation: Evaluation) -> tuple[int, int, int, int, int]:
    """Return the lost and the illegal game lines by seat, and the states in which the move is optimal."""
    first, second = evaluation.first, evaluation.second
    return first.losses, second.losses, first.illegal, second.illegal, evaluation.optimal_states
