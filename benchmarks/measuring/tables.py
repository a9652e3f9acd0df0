"""Tables of results, for the terminal and for the README."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.measuring.spread import Spread, number
from selfplay.errors import UserError

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


def brief(spread: Spread, digits: int = 0) -> str:
    """Return "median (least to most)", or the number alone where every measurement shows the same."""
    texts = {number(value, digits) for value in spread}
    return texts.pop() if len(texts) == 1 else spread.text(digits)


def check_folder(folder: Path) -> None:
    """Refuse a folder that is not there, before hours of work are lost for it.

    Raises:
        UserError: the folder does not exist.
    """
    if not folder.is_dir():
        raise UserError(f"{folder}: is not a folder; make it first, or name another")


def check_markdown(path: Path | None) -> None:
    """Refuse a file that the Markdown table could not be written to, as early.

    Raises:
        UserError: its folder does not exist, or it is a folder itself.
    """
    if path is None:
        return
    check_folder(path.parent)
    if path.is_dir():
        raise UserError(f"--markdown {path}: is a folder; name a file in it")


def present(
    console: Console, header: Sequence[str], rows: Sequence[Sequence[str]], note: str, markdown_file: Path | None
) -> None:
    """Print the table with a note below it, and write it in Markdown if a file for it was named."""
    console.print(terminal(header, rows))
    console.print(note)
    if markdown_file is not None:
        markdown_file.write_text(markdown(header, rows))
