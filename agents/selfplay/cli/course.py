"""Write the course as notebooks, or check those of students: `selfplay course [--into FOLDER | --check FOLDER]`."""

import json
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.cli.flags import offer, parse, say
from selfplay.errors import UserError, one_line
from selfplay.files import read_small, write_whole
from selfplay.lessons import UNITS, UNITS_OF_CLONE
from selfplay.program import shell_line

BLANK = '# %% tags=["blank"]\n'
"""The line of a script that begins the cell that students fill in."""
LARGEST_FILE = 1 << 24
"""Bytes of a student's file; plots in a notebook may take megabytes."""
LONGEST_BLANK = 1 << 16
"""Characters of what is filled in."""
LONGEST_FAULT = 400
"""Characters that are shown of what is wrong."""


class Cell(NamedTuple):
    """A cell of a unit or of a notebook."""

    kind: str
    """code or markdown."""
    tags: Sequence[str]
    source: str


class HandIn(NamedTuple):
    """What a student has handed in."""

    unit: int
    blank: str
    """What is filled in."""


@dataclass(frozen=True)
class CourseConfig:
    """Write the eight units of the course as notebooks, which Jupyter opens; or check those of students."""

    into: Path = Path("course")
    """Folder to write them into; it is made if needed."""
    overwrite: bool = False
    """Replace notebooks that exist already; what was filled in there is lost."""
    check: Path | None = None
    """Check the units in this folder, a subfolder for each student, and print one line for each file.
    This runs code that students wrote: do it where it can do no harm. Only the cell with the tag `blank` is theirs,
    the rest is our copy. Linux and macOS only."""
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
        if "folded" in cell.tags:
            content["metadata"]["jupyter"] = {"source_hidden": True}
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


def filled(unit: Path, blank: str) -> str:
    """Return the script of a unit with its blank filled in."""
    before, _, rest = unit.read_text("utf-8").partition(BLANK)
    return f"{before}{blank}\n{rest[rest.index('# %%') :]}"


def check(folder: Path, seconds: int) -> None:
    """Print for each file that students have handed in whether its unit is passed, or what is wrong with it.

    All files are read before the first is run, and all lines are printed after the last, because what runs may change
    files. A line begins with the verdict; names and messages, which students write, follow.

    Raises:
        UserError: there is nothing to check, or this system cannot limit a process.
    """
    from selfplay.cli.course_judge import fault_of
    from selfplay.cli.course_process import ask, hide_memory

    if sys.platform == "win32":
        raise UserError("--check needs Linux or macOS, which limit what a process may use; run it in WSL")
    students = sorted(folder.glob("[!.]*"))
    if not students:
        raise UserError(f"--check {folder}: holds nothing to check")
    scripts = [unit.read_text("utf-8") for unit in units()]
    found: list[tuple[Path, HandIn | UserError]] = []
    for student in students:
        paths = handed_in(student)
        if not paths:
            found.append((student, UserError("no notebook (.ipynb) and no script (.py)")))
        for path in paths:
            try:
                found.append((path, read_hand_in(path)))
            except UserError as error:
                found.append((path, error))
    hide_memory()
    verdicts = []
    try:
        for path, hand_in in found:
            name = path.relative_to(folder)
            if isinstance(hand_in, UserError):
                verdicts.append(f"no unit             {name}: {hand_in}")
                continue
            print(one_line(f"checking {name}"), file=sys.stderr)
            before = scripts[hand_in.unit - 1].partition(BLANK)[0]
            fault = fault_of(hand_in.unit, before, hand_in.blank, lambda job: ask(job, seconds))
            if fault is None:
                verdicts.append(f"passed      unit {hand_in.unit}  {name}")
            else:
                verdicts.append(f"not passed  unit {hand_in.unit}  {name}: {fault[:LONGEST_FAULT]}")
    finally:
        for verdict in verdicts:
            say(one_line(verdict))


def handed_in(student: Path) -> list[Path]:
    """Return the notebooks and scripts that a student has handed in. Links to folders are not followed."""
    paths = [student]
    if not student.is_symlink():
        for folder, subfolders, files in os.walk(student):
            subfolders[:] = sorted(name for name in subfolders if not name.startswith("."))
            paths += [Path(folder, name) for name in sorted(files) if not name.startswith(".")]
    return [path for path in paths if path.suffix in (".ipynb", ".py") and not path.stem.endswith("-checkpoint")]


def read_hand_in(path: Path) -> HandIn:
    """Return the unit and the blank of a notebook, or of a script in the percent format.

    Raises:
        UserError: it is not a regular file of a sensible size that holds one unit.
    """
    if path.is_symlink():
        raise UserError("it is a link")
    try:
        cells = read_cells(read_small(path, LARGEST_FILE).decode(), path.suffix)
        headings = [re.match(r"# Unit ([1-8])\b", cell.source) for cell in cells if cell.kind == "markdown"]
        blank = "\n\n".join(cell.source for cell in cells if "blank" in cell.tags)
    except OSError as error:
        raise UserError(error.strerror) from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        raise UserError("it is no notebook") from None
    numbers = [int(heading[1]) for heading in headings if heading]
    if len(numbers) != 1:
        raise UserError(f"it must hold one unit of the course, not {len(numbers)}")
    if len(blank) > LONGEST_BLANK:
        raise UserError(f"its blank is longer than {LONGEST_BLANK:,} characters")
    return HandIn(numbers[0], blank)


def read_cells(text: str, suffix: str) -> list[Cell]:
    """Return the cells of a notebook, or of a script in the percent format.

    Raises:
        ValueError, LookupError, TypeError, AttributeError, RecursionError: it is no notebook.
    """
    if suffix == ".py":
        return script_cells(text)
    cells = json.loads(text)["cells"]
    # A source is a text, or a list of its lines.
    return [Cell(cell["cell_type"], cell["metadata"].get("tags", []), "".join(cell["source"])) for cell in cells]
