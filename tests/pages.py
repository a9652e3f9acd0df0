"""What the tests of documents read off the pages of the environment's faces: sections and tables."""

import re
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "docs" / "environments"


def section(page: str, heading: str = "") -> str:
    """Return what stands on a face's page under a heading, or above the first."""
    parts = re.split(r"^## (.*)\n", (FOLDER / f"{page}.md").read_text(), flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[::2], strict=True))[heading]


def headings(page: str) -> list[str]:
    """Return what the page's sections are called."""
    return re.findall(r"^## (.*)$", (FOLDER / f"{page}.md").read_text(), re.MULTILINE)


def snippets(page: str, heading: str) -> list[str]:
    """Return the Python of a section."""
    return re.findall(r"^```python\n(.*?)^```", section(page, heading), re.DOTALL | re.MULTILINE)


def tables(page: str, heading: str = "") -> list[list[list[str]]]:
    """Return the rows of each table in a section, the head first, each row as its cells."""
    found = re.findall(r"(?:^\|.*\|\n)+", section(page, heading), re.MULTILINE)
    rows = [[line.strip("|").split("|") for line in table.splitlines()] for table in found]
    return [[[cell.strip() for cell in row] for row in [table[0], *table[2:]]] for table in rows]


def table(page: str, heading: str, first: str) -> dict[str, dict[str, str]]:
    """Return the table whose first column has that name: by its cells without marks of code, the others by theirs."""
    [[head, *rows]] = [one for one in tables(page, heading) if one[0][0] == first]
    return {code(row[0]): dict(zip(map(code, head[1:]), row[1:], strict=True)) for row in rows}


def at_a_glance(page: str) -> list[tuple[str, str]]:
    """Return the names and values of the table at the top of a page."""
    [[_, *rows]] = tables(page)
    return [(name, code(value)) for name, value in rows]


def code(cell: str) -> str:
    """Return a cell without the marks of code around it, if all of it is code."""
    return cell[1:-1] if re.fullmatch(r"`[^`]*`", cell) else cell
