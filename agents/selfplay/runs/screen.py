"""The live score of a run: a block on a terminal, a line in a notebook, elsewhere lines ever further apart."""

import math
import time
from datetime import timedelta
from functools import partial
from typing import Any

from rich.console import RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from selfplay.judge.progress import EvaluationProgress
from selfplay.judge.verdict import Verdict
from selfplay.learner import Learner
from selfplay.program import open_console, say
from selfplay.runs.loop import PROOFS_TO_STOP, Record
from selfplay.runs.result import Run
from selfplay.settings import RunSettings
from selfplay.verdict_text import exact_score, meaning, title

GROWTH = 1.1
"""Least ratio of the steps of two printed evaluations: about 24 lines while the steps grow tenfold."""
LEVELS = "▁▂▃▄▅▆▇█"
"""Characters of a curve of the ways to beat a player, which has the first one only where there is none."""


class Screen:
    """How far and how fast a run is, and its last evaluation. A context manager, which redraws a terminal meanwhile."""

    def __init__(self, learner: Learner, config: RunSettings) -> None:
        self._learner, self._config = learner, config
        self._facts: list[tuple[RenderableType | None, str]] = [(None, "training until the first evaluation")]
        """The facts of the last evaluation, each with the curve or the bar before it."""
        self._ways = list[int]()
        self._towards_proof = 0.0
        """The part of the way to the end of the run that the bar shows, if a proof ends it."""
        self._started, self._began_at = time.monotonic(), learner.steps
        self._unprinted, self._next = "", 0.0
        self._shown: tuple[float, float] | None = None
        """When the last evaluation was shown, and the seconds of learning until then."""
        console = open_console()
        self._width = console.width // 5
        self._bar = partial(ProgressBar, width=self._width, complete_style="green")
        self._live = Live(get_renderable=self.block, console=console) if console.is_terminal else None
        """None where there is no terminal."""
        self._line: Any = None
        """The line of a notebook, which is updated."""
        if console.is_jupyter:
            from IPython.display import display

            self._line = display(self._as_line(), raw=True, display_id=True)

    def __enter__(self) -> "Screen":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live:
            self._live.stop()

    def show(self, record: Record) -> None:
        """Show the score of an evaluation."""
        verdict, stop = record.verdict, self._config.stop
        self._ways.append(verdict.ways_to_beat)
        self._towards_proof = towards_proof(self._ways, record.proofs)
        ways, *known = exact_score(verdict)
        self._facts = [(sparkline(self._ways[-self._width :]), ways)]
        bar = None if verdict.optimal_fraction is None else self._bar(1, verdict.optimal_fraction)
        self._facts += [(bar, fact) for fact in known]
        if record.proofs:
            proved = "unexploitable" if stop == "unbeatable" and not verdict.unbeatable else stop
            self._facts.append((None, f"proved {proved} {record.proofs} of {PROOFS_TO_STOP} times in a row"))
        if record.lapses:
            self._facts.append((None, f"lapses since the first proof: {record.lapses:,}"))
        evaluating = self._evaluating(record)
        if evaluating > 0.5:
            self._facts.append((None, f"evaluations take {100 * evaluating:.0f} % of the time"))
        self._unprinted = f"{record.steps:,} {self._config.unit}: {self._in_words()}"
        if self._line:
            self._line.update(self._as_line(), raw=True)
        elif record.steps >= self._next:
            self._next = record.steps * GROWTH
            self.print_last()

    def _evaluating(self, record: Record) -> float:
        """Return the part of the time since the last evaluation that was not spent in learning.

        It is 0 at the first evaluation of a process, and after less than a second.
        """
        before, self._shown = self._shown, (time.monotonic(), record.metrics["time/training_s"])
        passed, learning = (now - earlier for now, earlier in zip(self._shown, before or self._shown, strict=True))
        return 1 - learning / passed if passed >= 1 else 0.0

    def watch(self) -> EvaluationProgress | None:
        """Return what shows how far the first evaluation is, which nothing else shows yet; None for the others."""
        return None if self._ways else EvaluationProgress(self._show_evaluation)

    def _show_evaluation(self, progress: str) -> None:
        """Show how far an evaluation is."""
        self._facts = [(None, f"first evaluation: {progress}")]
        if self._line:
            self._line.update(self._as_line(), raw=True)
        elif not self._live:
            print(f"{self._learner.steps:,} {self._config.unit}: {self._in_words()}", flush=True)

    def show_end(self, run: Run) -> None:
        """Show what is proved of the player that the run kept; a notebook shows the run that is returned."""
        self.print_last()
        if run.records and not self._line:
            say(f"\n{summary(run)}", verdict_style(run.verdict))

    def print_last(self) -> None:
        """Print the last evaluation where nothing is redrawn, unless it is printed already."""
        if not (self._live or self._line) and self._unprinted:
            print(self._unprinted, flush=True)
        self._unprinted = ""

    def block(self) -> Table:
        """Return what a terminal shows at the moment."""
        block = Table.grid(padding=(0, 2))
        bar = self._bar(1, self._towards_proof)
        if self._config.stop == "never":
            bar = self._bar(self._config.length, self._learner.steps)
        block.add_row(bar, self._progress())
        for figure, fact in self._facts:
            block.add_row(figure, fact)
        return block

    def _in_words(self) -> str:
        """Return the facts of the last evaluation in one line."""
        return "; ".join(fact for _, fact in self._facts)

    def _progress(self) -> str:
        """Return how far and how fast the run is."""
        seconds = max(time.monotonic() - self._started, 1e-9)
        config, steps = self._config, self._learner.steps
        speed = (steps - self._began_at) / seconds
        played = f"{steps:,}"
        if config.stop == "never":
            played += f" of {max(config.length, steps):,}"  # some play more games at their end
        passed = timedelta(seconds=int(seconds))
        return f"{played} {config.unit}; {speed:,.0f} {config.unit}/s; {passed}"

    def _as_line(self) -> dict[str, str]:
        """Return what a notebook shows at the moment, by its media type."""
        return {"text/plain": f"{self._progress()}; {self._in_words()}"}


def towards_proof(ways: list[int], proofs: int) -> float:
    """Return how near a run is to its last proof, from 0 to 1, by its ways to beat the player and proofs in a row.

    The first step is that there are no ways left, on the scale of their logarithm; each proof in a row is another.
    """
    gone = 1 - math.log1p(ways[-1]) / math.log1p(max(*ways, 1))
    return ((1 if proofs else gone) + proofs) / (1 + PROOFS_TO_STOP)


def sparkline(ways: list[int]) -> Text:
    """Return a character for each number of ways to beat a player, on the scale of its logarithm."""
    scale = (len(LEVELS) - 1.01) / math.log1p(max(*ways, 1))
    return Text().join(Text(LEVELS[math.ceil(scale * math.log1p(n))], "red" if n else "green") for n in ways)


def verdict_style(verdict: Verdict) -> str:
    """Return the style in which `say` prints what is proved."""
    return "bold green" if verdict.unexploitable else "bold red"


def summary(run: Run) -> str:
    """Return in three lines what is proved of the player that a run kept, the ways to beat it, and since when."""
    verdict, proved_from, last = run.verdict, run.proved_from, run.records[-1]
    ways, *facts = exact_score(verdict)
    if run.lapses:
        ways += f"; lapses: {run.lapses:,}"
    if run.kept.steps != last.steps:
        facts.append(f"kept from {run.kept.steps:,} {run.config.unit}: later players were proved less")
    elif run.interrupted:
        facts.append(f"evaluated after {last.steps:,} {run.config.unit}")
    elif proved_from is not None:
        seconds = proved_from.metrics["time/training_s"]
        facts.append(f"proved from {proved_from.steps:,} {run.config.unit} ({seconds:.1f} s) on")
    found = "; ".join(facts)
    lines = [f"{title(verdict)}: {meaning(verdict)}", f"{ways}."]
    if found:
        lines.append(f"{found[:1].upper()}{found[1:]}.")
    return "\n".join(lines)
