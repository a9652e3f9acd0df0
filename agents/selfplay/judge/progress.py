"""The progress of an evaluation, which shows that one that takes long is at work."""

import time
from collections.abc import Callable, Iterator

from tictactoe.rendering.text import MARKS

FIRST_SECONDS = 5.0
"""Seconds before the first line."""
SECONDS = 30.0
"""Seconds between two lines."""


class EvaluationProgress:
    """The progress of an evaluation, told in one line now and then."""

    def __init__(
        self,
        show: Callable[[str], None],
        first_seconds: float = FIRST_SECONDS,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._show, self._seconds, self._clock = show, seconds, clock
        self._next = clock() + first_seconds
        self._asked = self._followed = 0
        self._seat = self._ply = 0

    def ask(self, positions: int) -> None:
        """Add positions in which the agent was asked; one that is asked about twice counts twice."""
        self._asked += positions
        self._show_if_due()

    def follow(self, seat: int, ply: int, positions: int) -> None:
        """Add the boards of one ply from which the agent's play in a seat is followed."""
        self._followed += positions
        self._seat, self._ply = seat, ply
        self._show_if_due()

    def _show_if_due(self) -> None:
        now = self._clock()
        if now >= self._next:
            self._next = now + self._seconds
            self._show("; ".join(self._parts()))

    def _parts(self) -> Iterator[str]:
        if self._asked:  # built-in opponents are not asked
            yield f"positions asked so far: {self._asked:,}"
        if self._followed:
            yield f"boards followed: {self._followed:,}, now at ply {self._ply + 1} as {MARKS[self._seat]}"
