"""Figures of the course: how long its units take, as each of them says."""

import re
from pathlib import Path


def figures(docs: Path) -> dict[str, str]:
    """Return the minutes of each unit, and of units that follow each other, by the first and the last of them."""
    pages = sorted((docs / "course").glob("unit_*.py"))
    minutes = [int(found[1]) for page in pages if (found := re.search(r"about (\d+) minutes", page.read_text()))]
    numbers = range(1, len(minutes) + 1)
    return {
        f"course.minutes.{first}-{last}": str(sum(minutes[first - 1 : last]))
        for first in numbers
        for last in numbers[first - 1 :]
    }
