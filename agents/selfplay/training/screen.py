"""The live score of a run: redrawn in place on a terminal, a line for each evaluation elsewhere."""

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from selfplay.evaluation.report import live_score
from selfplay.settings import RunSettings
from selfplay.training.checkpoints import Checkpoints
from selfplay.training.loop import EVALUATIONS_TO_STOP, Record, proves


class Drawn(Protocol):
    """What is drawn anew in one place."""

    live: Live | None
    """None where there is no terminal."""


Shown = TypeVar("Shown", bound=Drawn)


@contextlib.contextmanager
def shown(screen: Shown) -> Iterator[Shown]:
    """Draw what a screen shows, as long as it is shown."""
    if screen.live:
        screen.live.start(refresh=True)
    try:
        yield screen
    finally:
        if screen.live:
            screen.live.stop()


class Screen:
    """Show what a run knows of its end: how fast it is, what its last evaluation has found, and its limit."""

    def __init__(self, config: RunSettings, kept: Checkpoints, proofs: int) -> None:
        self._config = config
        self._kept = kept
        self.proofs = proofs
        """Evaluations running that have proved what the run is to stop at."""
        self._score = "training until the first evaluation"
        self._started, self._began_at = time.monotonic(), kept.steps
        console = Console()
        self._read = True
        """Somebody reads what is printed."""
        in_place = console.is_terminal and not console.is_jupyter
        self.live = Live(get_renderable=self._drawn, console=console) if in_place else None

    def show(self, record: Record) -> None:
        """Show what an evaluation has found."""
        self._kept.steps = record.steps
        self._score = live_score(record.evaluation)
        if self._config.stop != "never":
            self.proofs = self.proofs + 1 if proves(record.evaluation, self._config.stop) else 0
            self._score += f"; proved {self._config.stop} {self.proofs} of {EVALUATIONS_TO_STOP} times in a row"
        if self.live is None and self._read:
            try:
                print(f"{record.steps:,} {self._config.unit}: {self._score}", flush=True)
            except BrokenPipeError:  # whoever read our output has read enough; the run goes on
                self._read = False

    def _drawn(self) -> Text:
        seconds = time.monotonic() - self._started
        steps, unit = self._kept.steps, self._config.unit
        speed = (steps - self._began_at) / max(seconds, 1e-9)
        minutes, whole = divmod(int(seconds), 60)
        passed = f"{minutes // 60}:{minutes % 60:02}:{whole:02}"
        progress = f"{steps:,} of at most {self._config.length:,} {unit}; {speed:,.0f} {unit}/s; {passed}"
        return Text(f"{progress}\n{self._score}")
