"""Figures of the course: how long its units take, as each of them says."""

import re
from itertools import combinations_with_replacement
from pathlib import Path


def figures(docs: Path) -> dict[str, str]:
    """Return the minutes of units that follow each other, by the first and the last of them."""
    pages = sorted((docs / "course").glob("unit_*.py"))
    minutes = [int(re.findall(r"about (\d+) minutes", page.read_text())[0]) for page in pages]
    return {
        f"course.minutes.{first}-{last}": str(sum(minutes[first - 1 : last]))
        for first, last in combinations_with_replacement(range(1, len(minutes) + 1), 2)
    }
