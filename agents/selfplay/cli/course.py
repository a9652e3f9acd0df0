"""Write the course as notebooks, or check those of students: `selfplay course [--into FOLDER | --check FOLDER]`."""

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.cli.flags import offer, parse, say
from selfplay.errors import UserError
from selfplay.files import read_small, write_whole
from selfplay.program import shell_line

UNITS = Path(__file__).parents[1] / "course"
"""Folder of the units in a wheel; a clone has them in docs/course."""
UNITS_OF_CLONE = Path(__file__).parents[3] / "docs" / "course"
LARGEST_FILE = 1 << 26
"""Bytes of a student's file; plots in a notebook may take megabytes."""


class Cell(NamedTuple):
    """A cell of a unit or of a notebook."""

    kind: str
    """code or markdown."""
    tags: Sequence[str]
    source: str


@dataclass(frozen=True)
class CourseConfig:
    """Write the eight units of the course as notebooks, which Jupyter opens; or check those of students."""

    into: Path = Path("course")
    """Folder to write them into; it is made if needed."""
    overwrite: bool = False
    """Replace notebooks that exist already; what was filled in there is lost."""
    check: Path | None = None
    """Check the units in this folder, a subfolder for each student, and print one line for each student.
    This runs code that students wrote: do it where it can do no harm. Only the cell with the tag `blank` is theirs,
    the rest is our copy."""
    seconds: int = 120
    """Time limit for each file, with --check."""


def main(args: Sequence[str], prog: str = "selfplay course") -> None:
    """Write a notebook for each unit, or none if one exists already, and print how to open the first."""
    config = parse(CourseConfig, args, prog)
    if config.check is not None:
        check(config.check, config.seconds)
        return
    notebooks = {config.into / f"{unit.stem}.ipynb": notebook(unit) for unit in units()}
    for path in notebooks:
        if path.exists() and not config.overwrite:
            way_out = (
                "choose another folder with --into, or replace it with --overwrite, which loses what was filled in"
            )
            raise UserError(f"{path}: exists already; {way_out}")
    try:
        config.into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--into {config.into}: cannot be made a folder ({error.strerror}); choose another") from None
    for path, content in notebooks.items():
        write_whole(path, content)
    say(f"{len(notebooks)} notebooks are in {config.into}.")
    first = shell_line("jupyter", "lab", str(next(iter(notebooks))))
    offer({"Start with the first (pip install jupyterlab installs Jupyter):": first})


def units() -> list[Path]:
    """Return the scripts of the units, in order."""
    return sorted((UNITS if UNITS.is_dir() else UNITS_OF_CLONE).glob("unit_*.py"))


def notebook(unit: Path) -> bytes:
    """Return a unit as a Jupyter notebook, format 4.4 (https://nbformat.readthedocs.io)."""
    cells = []
    for cell in script_cells(unit.read_text("utf-8")):
        content: dict[str, Any] = {"cell_type": cell.kind, "metadata": {}, "source": cell.source}
        if cell.tags:
            content["metadata"]["tags"] = cell.tags
        if cell.kind == "code":
            content |= {"execution_count": None, "outputs": []}
        cells.append(content)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    whole = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    return json.dumps(whole, indent=1, ensure_ascii=False).encode()


def script_cells(script: str) -> list[Cell]:
    """Return the cells of a script in the percent format: a line that begins with `# %%` starts each."""
    cells = []
    for part in re.split("^# %%", script, flags=re.MULTILINE)[1:]:
        heading, _, source = part.partition("\n")
        kind = "markdown" if "[markdown]" in heading else "code"
        source = source.strip("\n")
        if kind == "markdown":
            source = re.sub("^# ?", "", source, flags=re.MULTILINE)
        cells.append(Cell(kind, re.findall(r'"(\w+)"', heading), source))
    return cells


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a notebook, or of a script in the percent format.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not JSON, or not text.
        LookupError, TypeError, AttributeError: it is JSON, but no notebook.
    """
    text = read_small(path, LARGEST_FILE).decode()
    if path.suffix == ".py":
        return script_cells(text)
    cells = json.loads(text)["cells"]
    # A source is a text, or a list of its lines.
    return [Cell(cell["cell_type"], cell["metadata"].get("tags", []), "".join(cell["source"])) for cell in cells]


def filled(unit: Path, blank: str) -> str:
    """Return the script of a unit with its blank filled in."""
    before, _, rest = unit.read_text("utf-8").partition('# %% tags=["blank"]\n')
    return f"{before}{blank}\n{rest[rest.index('# %%') :]}"


def check(folder: Path, seconds: int) -> None:
    """Print for each student's subfolder or file which units are passed, and what is wrong with the others.

    Raises:
        UserError: there is nothing to check.
    """
    students = sorted(folder.glob("[!.]*"))
    if not students:
        raise UserError(f"--check {folder}: holds nothing to check")
    for student in students:
        results = []
        for path in (student, *sorted(student.rglob("[!.]*"))):
            copy_of_jupyter = path.stem.endswith("-checkpoint")
            if path.suffix in (".ipynb", ".py") and not copy_of_jupyter:
                results.append(outcome(path, seconds))
        say(f"{student.name}: {'; '.join(results) or 'no notebook (.ipynb) and no script (.py)'}")


def outcome(path: Path, seconds: int) -> str:
    """Run our copy of a unit with a student's blank up to its check, and return the last line of its errors."""
    try:
        cells = read_cells(path)
        number = int(cells[0].source.removeprefix("# Unit ")[0])
        unit = units()[number - 1]
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return f"{path.name} is no unit of the course"
    blank = "\n\n".join(cell.source for cell in cells if "blank" in cell.tags)
    script = filled(unit, blank)
    script = script[: script.index("\n", script.rindex("PASSED"))]
    try:
        ended = subprocess.run(
            [sys.executable, "-X", "utf8", "-"],
            input=f"{script}\nimport sys\nsys.exit('passed')",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"unit {number} not finished after {seconds} s"
    said = ended.stderr.split("The agent was asked about")[0].splitlines()  # a note behind the error
    return f"unit {number} {said[-1] if said else 'ended before its check'}"
