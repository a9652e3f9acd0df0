"""What a trial has come to, as one number that is the same for every contestant."""

import math
import statistics
from collections.abc import Sequence

from benchmarks.peers.judging import Judged
from selfplay.training.loop import first_of_final_streak

LAST_PART = 4
"""The mean is over the last of so many parts."""


def score(history: Sequence[Judged]) -> float:
    """Return what the evaluations of a trial at equal moments come to; less is better.

    A proof that holds to the end comes first: the number of the moment from which it holds over the number of all, less
    1, which is 0 or below. Without one it is the mean of the lost and illegal lines of both seats over the last quarter
    of the moments, because they swing by dozens from one to the next, and the fewest ever would reward luck. A trial
    that failed, and has none, comes last.
    """
    if not history:
        return math.inf
    first = first_of_final_streak([line.unbeatable for line in history])
    if first is not None:
        return (first + 1) / len(history) - 1
    return statistics.mean(line.bad_lines for line in history[-math.ceil(len(history) / LAST_PART) :])


def text(history: Sequence[Judged]) -> str:
    """Return the same in words."""
    if not history:
        return "failed"
    first = first_of_final_streak([line.unbeatable for line in history])
    return f"{score(history):.1f} lines" if first is None else f"proved from {history[first].seconds:.1f} s on"
