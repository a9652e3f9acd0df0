"""The progress of a sweep: a table on a terminal, redrawn in place, elsewhere a line for each run that has ended."""

import contextlib
import json
import statistics
from collections import Counter
from datetime import timedelta
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from selfplay.sweep.plan import Run
from selfplay.sweep.state import Sweep
from selfplay.training.folder import METRICS

MOST_LINES = 20
"""Settings, and running runs, that are shown; more would not fit on a screen."""
COLUMNS = {"proved": "proved", "done": "no proof", "running": "running", "waiting": "waiting", "failed": "failed"}
STOPPING = "stopping: each run writes a checkpoint first"


class Screen:
    """Show how many runs are proved, running and failed, the exact scores of those that run, and the time left."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self.stopping = False
        console = Console()
        live = Live(get_renderable=self._render, console=console, refresh_per_second=2)
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
        settings = self._sweep.settings()
        table = Table(title=f"{self._sweep.folder.name}: runs by setting", title_justify="left")
        for name in ("setting", *COLUMNS.values()):
            table.add_column(name, justify="left" if name == "setting" else "right", overflow="fold")
        for setting, runs in [*settings.items()][-MOST_LINES:]:
            ends = Counter(run.end for run in runs)
            table.add_row(Text(setting), *(str(ends[end]) for end in COLUMNS))
        running = [run for run in self._sweep.runs if run.state == "running"][:MOST_LINES]
        lines = [f"{run.name}: {last_score(self._sweep.folder / run.name, self._sweep.plan.unit)}" for run in running]
        return Group(table, Text("\n".join([*lines, self._totals()])))


def last_score(folder: Path, unit: str) -> str:
    """Return the exact score at a run's last evaluation."""
    try:
        line = json.loads((folder / METRICS).read_bytes().splitlines()[-1])
        score = f"{line[unit]:,} {unit}"
        if "eval/games_lost" in line:
            score += f", {line['eval/games_lost']:,.0f} lost or illegal games"
        if "eval/optimal_fraction" in line:
            score += f", optimal in {line['eval/optimal_fraction']:.1%} of states"
    except (OSError, ValueError, LookupError):  # there is none yet, or it is being written
        return "no evaluation yet"
    return score
