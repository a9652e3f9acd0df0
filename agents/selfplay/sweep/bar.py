"""The bar of a sweep on a terminal."""

from collections.abc import Iterable

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Column

from selfplay.program import open_console


class Bar:
    """How many runs of a sweep have ended, and which are under way; where there is no terminal it shows nothing.

    A context manager, which redraws the terminal meanwhile. A search, whose number of runs is open, has no `total`.
    """

    def __init__(self, total: int | None) -> None:
        console = open_console()
        names = TextColumn("{task.description}", table_column=Column(ratio=1, no_wrap=True, overflow="ellipsis"))
        self._progress = Progress(
            BarColumn(),
            MofNCompleteColumn(),
            names,
            console=console,
            expand=True,
            transient=True,
            disable=not console.is_terminal,
        )
        self._runs = self._progress.add_task("Ray is starting", total=total)

    def __enter__(self) -> "Bar":
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if not self._progress.disable:  # or it would print an empty line
            self._progress.stop()

    def show(self, ended: int, under_way: Iterable[str]) -> None:
        """Show how many runs have ended, and the names of those that are under way."""
        self._progress.update(self._runs, completed=ended, description=f"under way: {'; '.join(under_way)}")
