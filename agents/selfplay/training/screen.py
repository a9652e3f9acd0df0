"""The live score of a run: redrawn in place on a terminal or in a notebook, elsewhere lines ever further apart."""

import contextlib
import time
from datetime import timedelta
from typing import Any

from rich.live import Live
from rich.text import Text

from selfplay.evaluation.report import live_score
from selfplay.learner import RunLearner
from selfplay.program import open_console
from selfplay.training.loop import PROOFS_TO_STOP, Callback, Record

GROWTH = 1.1
"""Least ratio of the steps of two printed evaluations: about 24 lines while the steps grow tenfold."""


class Screen(Callback):
    """Show how far and how fast a run is, and its last evaluation."""

    def __init__(self, learner: RunLearner) -> None:
        self._learner = learner
        self._score = "training until the first evaluation"
        self._started, self._began_at = time.monotonic(), learner.steps
        self._unprinted, self._next = "", 0.0
        console = open_console()
        self.live = Live(get_renderable=self.text, console=console) if console.is_terminal else None
        """None where there is no terminal."""
        self._line: Any = None
        """The line of a notebook, which is updated."""
        if console.is_jupyter:
            from IPython.display import display  # noqa: PLC0415 (only a notebook has it)

            self._line = display(self._as_line(), raw=True, display_id=True)

    def evaluated(self, record: Record) -> None:
        """Show the score of an evaluation."""
        config, evaluation = self._learner.config, record.evaluation
        self._score = live_score(evaluation)
        if record.proofs:
            only_unexploitable = config.stop == "unbeatable" and not evaluation.unbeatable
            proved = "unexploitable" if only_unexploitable else config.stop
            self._score += f"; proved {proved} {record.proofs} of {PROOFS_TO_STOP} times in a row"
        self._unprinted = f"{record.steps:,} {config.unit}: {self._score}"
        if self._line:
            self._line.update(self._as_line(), raw=True)
        elif record.steps >= self._next:
            self._next = record.steps * GROWTH
            self.ended(record)

    def ended(self, record: Record) -> None:
        """Print the last evaluation where nothing is redrawn, unless it is printed already."""
        del record
        if not (self.live or self._line) and self._unprinted:
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

    def _as_line(self) -> dict[str, str]:
        """Return what a notebook shows at the moment, by its media type."""
        return {"text/plain": self.text().plain.replace("\n", "; ")}
