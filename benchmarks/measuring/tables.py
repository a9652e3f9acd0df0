"""Tables of results, for the terminal and for the README."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

NAME_WIDTH = 20
"""Columns at least for a row's name: its longest word."""


def terminal(header: Sequence[str], rows: Iterable[Sequence[str]], name_width: int = NAME_WIDTH) -> Table:
    """Return a table for the terminal; a row whose first cell is not empty begins a new section.

    The cells are those for `markdown`; their backquotes are left out. The first column has `name_width` at least.
    """
    table = Table(padding=(0, 0, 0, 1))
    for name in header:
        table.add_column(name.replace("`", ""), overflow="fold")
    table.columns[0].min_width = name_width
    for row in rows:
        if row[0]:
            table.add_section()
        table.add_row(*(cell.replace("`", "") for cell in row))
    return table


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return the same table in Markdown."""
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def present(
    console: Console, header: Sequence[str], rows: Iterable[Sequence[str]], note: str, markdown_file: Path | None = None
) -> None:
    """Print the table with a note below it, and write it in Markdown if a file for it was named."""
    rows = list(rows)
    console.print(terminal(header, rows))
    console.print(note, soft_wrap=True)
    if markdown_file is not None:
        markdown_file.write_text(markdown(header, rows))
