"""The progress of a sweep: a table on a terminal, redrawn in place, elsewhere a line for each run that has ended."""

import contextlib
import statistics
from collections import Counter
from datetime import timedelta

from rich.console import Group
from rich.live import Live
from rich.table import Column, Table
from rich.text import Text

from selfplay.judging.verdict import live_score
from selfplay.learning.folder import METRICS
from selfplay.learning.metrics import metrics_evaluation, read_metrics
from selfplay.program import open_console
from selfplay.sweep.plan import Run, config_of
from selfplay.sweep.state import Sweep

COLUMNS = {"proved": "proved", "done": "no proof", "running": "running", "waiting": "waiting", "failed": "failed"}
STOPPING = "stopping: each run writes a checkpoint first"


class Screen:
    """Show how many runs are proved, running and failed, the exact scores of those that run, and the time left."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self.stopping = False
        console = open_console()
        live = Live(get_renderable=self._render, console=console, refresh_per_second=1)
        self.live = live if console.is_terminal else None

    def ended(self, run: Run) -> None:
        """Show that a run has ended."""
        how = "no proof" if run.proved is None else f"proved from {run.proved:,} {self._sweep.plan.unit} on"
        self._print(f"{run.name}: {f'failed: {run.why}' if run.state == 'failed' else how}; {self._totals()}")

    def stop(self) -> None:
        """Show that the runs were asked to stop."""
        self.stopping = True
        self._print(STOPPING)

    def _print(self, line: str) -> None:
        if self.live is None:
            with contextlib.suppress(BrokenPipeError):  # nobody reads on; the sweep goes on
                print(line, flush=True)

    def _totals(self) -> str:
        """Return how many runs have ended, and how long the others may take."""
        sweep, ends = self._sweep, self._sweep.ends()
        ended = len(sweep.runs) - ends["waiting"] - ends["running"]
        planned = max(len(sweep.runs), sweep.plan.search * len(sweep.plan.seeds))
        text = f"{ended:,} of {planned:,} runs ended: {ends['proved']:,} proved, {ends['failed']:,} failed"
        if self.stopping:
            return f"{text}; {STOPPING}"
        if ended == planned:
            return f"{text}; done"
        if not (seconds := [run.seconds for run in sweep.runs if run.state in {"done", "failed"}]):
            return f"{text}; time left not known yet"
        left = timedelta(seconds=round(statistics.mean(seconds) * (planned - ended) / max(ends["running"], 1)))
        return f"{text}; about {left} left"

    def _render(self) -> Group:
        """Return the table of the settings and the scores of the runs that are at work."""
        title = Text(f"{self._sweep.folder.name}: runs by setting")
        table = Table(Column("setting", overflow="fold"), title=title, title_justify="left")
        for name in COLUMNS.values():
            table.add_column(name, justify="right", overflow="fold")
        for setting, runs in self._sweep.settings().items():
            ends = Counter(run.end for run in runs)
            table.add_row(Text(setting), *(str(ends[end]) for end in COLUMNS))
        lines = [f"{run.name}: {self._score(run)}" for run in self._sweep.runs if run.state == "running"]
        return Group(Text("\n".join([self._totals(), *lines])), table)  # a small screen shows the top of it

    def _score(self, run: Run) -> str:
        """Return the exact score at a run's last evaluation."""
        config = config_of(self._sweep.plan, run.values, run.seed)
        try:
            *_, last = read_metrics(self._sweep.folder / run.name / METRICS, config.unit)
        except ValueError:  # there is none yet
            return "no evaluation yet"
        return f"{last[config.unit]:,} {config.unit}; {live_score(metrics_evaluation(last, config.rules))}"
