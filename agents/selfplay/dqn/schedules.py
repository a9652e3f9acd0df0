"""Schedules: pure functions of the number of plies played."""


def linear(start: float, end: float, duration: int, plies: int) -> float:
    """Go from `start` to `end` in a straight line over `duration` plies, and stay at `end`.

    A `duration` of 0 is constant at `end`.
    """
    if plies >= duration:
        return end
    return start + (end - start) * plies / duration
