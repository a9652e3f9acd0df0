"""The live score of a run: redrawn in place on a terminal, a line for each evaluation elsewhere."""

import time
from datetime import timedelta

from rich.console import Console
from rich.live import Live
from rich.text import Text

from selfplay.evaluation.report import live_score
from selfplay.learner import Learner
from selfplay.training.loop import PROOFS_TO_STOP, Callback, Record


class Screen(Callback):
    """Show how far and how fast a run is, and its last evaluation."""

    def __init__(self, learner: Learner) -> None:
        self._learner = learner
        self._score = "training until the first evaluation"
        self._started, self._began_at = time.monotonic(), learner.steps
        console = Console()
        self._printing = True
        """Whether somebody reads what is printed."""
        in_place = console.is_terminal and not console.is_jupyter
        self.live = Live(get_renderable=self.text, console=console) if in_place else None
        """None where there is no terminal."""

    def evaluated(self, record: Record) -> None:
        """Show the score of an evaluation."""
        config = self._learner.config
        self._score = live_score(record.evaluation)
        if config.stop != "never":
            self._score += f"; proved {config.stop} {record.proofs} of {PROOFS_TO_STOP} times in a row"
        if self.live is None and self._printing:
            try:
                print(f"{record.steps:,} {config.unit}: {self._score}", flush=True)
            except BrokenPipeError:  # the reader of our output has left; the run goes on
                self._printing = False

    def text(self) -> Text:
        """Return what a terminal shows at the moment."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        config, steps = self._learner.config, self._learner.steps
        speed = (steps - self._began_at) / seconds
        passed = timedelta(seconds=int(seconds))
        progress = f"{steps:,} of at most {config.length:,} {config.unit}; {speed:,.0f} {config.unit}/s; {passed}"
        return Text(f"{progress}\n{self._score}")
