"""How a sweep stands, on a terminal redrawn in place, elsewhere a line for each run that has ended."""

import json
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from selfplay.files import open_regular
from selfplay.sweep.record import Row, Sweep
from selfplay.training.folder import METRICS

MOST_SETTINGS, MOST_RUNNING = 20, 20
"""Lines of the table; more would not fit on a screen."""
LAST = 1 << 14
"""Bytes at the end of a run's record, which hold its last line."""


class Screen:
    """Show how many runs are proved, running and failed, the exact scores of those that run, and the time left."""

    def __init__(self, sweep: Sweep, cpus: int) -> None:
        self._sweep = sweep
        self._cpus = cpus
        self._seconds: list[float] = []
        self._stopping = False
        console = Console()
        in_place = console.is_terminal and not console.is_jupyter
        self.live = Live(get_renderable=self._drawn, console=console, refresh_per_second=2) if in_place else None
        self._read = True
        """Somebody reads what is printed."""

    def ended(self, row: Row) -> None:
        """Show that a run has ended, or has stopped for now."""
        if row.state == "waiting":
            return
        self._seconds.append(row.seconds)
        if self.live is None:
            self._say(f"{row.name}: {what_came_of(row, self._sweep.plan.unit)}; {self._totals()}")

    def stopping(self) -> None:
        """Show that the runs were asked to stop."""
        self._stopping = True
        if self.live is None:
            self._say("stopping: each run writes a checkpoint first")

    def _say(self, line: str) -> None:
        if self._read:
            try:
                print(line, flush=True)
            except BrokenPipeError:  # whoever read our output has read enough; the sweep goes on
                self._read = False

    def _totals(self) -> str:
        rows, sweep = self._sweep.rows, self._sweep
        proved = sum(row.proved is not None for row in rows)
        ended = sum(row.state in ("done", "failed", "dropped") for row in rows)
        whole = max(len(rows), sweep.plan.search * len(sweep.plan.seeds))
        text = f"{ended:,} of {whole:,} runs ended: {proved:,} proved, {sweep.count('failed'):,} failed"
        return f"{text}; {self._left(whole - ended)}"

    def _left(self, runs: int) -> str:
        if self._stopping:
            return "stopping: each run writes a checkpoint first"
        if not self._seconds or not runs:
            return "time left not known yet" if runs else "done"
        seconds = sum(self._seconds) / len(self._seconds) * runs / max(self._cpus, 1)
        return f"about {_duration(seconds)} left"

    def _drawn(self) -> Group:
        rows = [*self._sweep.rows]  # which another thread adds to
        table = Table(title=f"{self._sweep.place.name}: runs by setting", title_justify="left")
        for name in ("setting", "proved", "no proof", "running", "waiting", "failed"):
            table.add_column(name, justify="left" if name == "setting" else "right", overflow="fold")
        settings: dict[str, list[Row]] = {}
        for row in rows:
            settings.setdefault(row.setting, []).append(row)
        shown = [*settings.items()][-MOST_SETTINGS:]
        for setting, of_it in shown:
            table.add_row(Text(setting), *map(str, counts(of_it)))
        if len(shown) < len(settings):
            table.add_row(f"and {len(settings) - len(shown):,} more", "", "", "", "", "")
        running = [row for row in rows if row.state == "running"]
        lines = [f"{row.name}: {last_score(self._sweep.place / row.name)}" for row in running[:MOST_RUNNING]]
        return Group(table, Text("\n".join([*lines, self._totals()])))


def counts(rows: Sequence[Row]) -> tuple[int, int, int, int, int]:
    """Return how many runs are proved, ended without a proof, running, waiting, and failed."""
    proved = sum(row.proved is not None for row in rows)
    done, running, waiting, failed = (
        sum(row.state == state for row in rows) for state in ("done", "running", "waiting", "failed")
    )
    return proved, done - proved, running, waiting, failed


def what_came_of(row: Row, unit: str) -> str:
    """Return how a run has ended in a few words."""
    if row.state == "failed":
        return f"failed: {row.why}"
    return "no proof" if row.proved is None else f"proved from {row.proved:,} {unit} on"


def last_score(folder: Path) -> str:
    """Return the exact score at a run's last evaluation; only a few bytes are read, and nothing of it is believed."""
    try:
        with open_regular(folder / METRICS) as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - LAST))
            line = json.loads(file.read(LAST).splitlines()[-1])
        steps = next(f"{line[unit]:,} {unit}" for unit in ("plies", "games") if isinstance(line.get(unit), int))
        score = [f"{line['eval/beaten_lines']:,.0f} lost or illegal game lines"] if "eval/beaten_lines" in line else []
        if "eval/optimal_fraction" in line:
            score.append(f"optimal in {line['eval/optimal_fraction']:.1%} of states")
        return ", ".join([steps, *score])
    except (OSError, ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError):
        return "no evaluation yet"


def _duration(seconds: float) -> str:
    minutes, hours = seconds / 60, seconds / 3600
    return f"{hours:.1f} h" if hours >= 1.5 else f"{minutes:.0f} min" if minutes >= 1.5 else f"{seconds:.0f} s"
