"""The live score of a run: redrawn in place on a terminal, lines that come ever further apart elsewhere."""

import contextlib
import time
from datetime import timedelta

from rich.console import Console
from rich.live import Live
from rich.text import Text

from selfplay.evaluation.report import live_score
from selfplay.learner import Learner
from selfplay.training.loop import PROOFS_TO_STOP, Callback, Record

GROWTH = 1.1
"""Ratio of the steps of two printed evaluations at least, which makes 24 lines of each tenfold."""


class Screen(Callback):
    """Show how far and how fast a run is, and its last evaluation."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._score = "training until the first evaluation"
        self._started, self._began_at = time.monotonic(), learner.steps
        console = Console()
        self._unprinted, self._next = "", 0.0
        in_place = console.is_terminal and not console.is_jupyter
        self.live = Live(get_renderable=self.text, console=console) if in_place else None
        """None where there is no terminal."""

    def evaluated(self, record: Record) -> None:
        """Show the score of an evaluation."""
        config = self._learner.config
        self._score = live_score(record.evaluation)
        if config.stop != "never":
            self._score += f"; proved {config.stop} {record.proofs} of {PROOFS_TO_STOP} times in a row"
        self._unprinted = f"{record.steps:,} {config.unit}: {self._score}"
        if record.steps >= self._next:
            self._next = record.steps * GROWTH
            self.ended(record)

    def ended(self, record: Record) -> None:
        """Print the last evaluation where there is no terminal, unless it is printed already."""
        del record
        if self.live is None and self._unprinted:
            with contextlib.suppress(BrokenPipeError):  # the reader of our output has left; the run goes on
                print(self._unprinted, flush=True)
        self._unprinted = ""

    def text(self) -> Text:
        """Return what a terminal shows at the moment."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        config, steps = self._learner.config, self._learner.steps
        speed = (steps - self._began_at) / seconds
        passed = timedelta(seconds=int(seconds))
        progress = f"{steps:,} of at most {config.length:,} {config.unit}; {speed:,.0f} {config.unit}/s; {passed}"
        return Text(f"{progress}\n{self._score}")
