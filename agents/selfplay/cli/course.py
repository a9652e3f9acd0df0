"""Write the course as notebooks, or check those of students: `selfplay course [--into FOLDER | --check FOLDER]`."""

import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.cli.flags import offer, parse
from selfplay.errors import UserError, one_line
from selfplay.files import write_whole
from selfplay.lessons import UNITS, UNITS_OF_CLONE, NotYetError, as_text, require
from selfplay.program import say, shell_line
from selfplay.settings import Count, checked

NUMBERS = range(1, 9)
"""The units."""
BLANK = "blank"
"""The tag of the cell that students fill in."""
FAULT = "fault.txt"
"""The file in which the process of a hand-in says what is wrong."""


class Cell(NamedTuple):
    """A cell of a unit or of a notebook."""

    kind: str
    """code or markdown."""
    tags: Sequence[str]
    source: str


class HandIn(NamedTuple):
    """The result of the check of one file."""

    student: str
    file: str
    unit: int | None
    """None if it cannot be told."""
    fault: str
    """Empty if the unit is passed."""


@checked
class CourseConfig:
    """Write the eight units of the course as notebooks, which Jupyter opens; or check those of students."""

    into: Path = Path("course")
    """Folder to write them into; it is made if needed."""
    overwrite: bool = False
    """Replace notebooks that exist already; what was filled in there is lost."""
    check: Path | None = None
    """Check the hand-ins in this folder, which has a subfolder or files for each student, and print who has passed
    which unit. Only the cell with the tag `blank` is taken from a file. This runs code that students wrote, with your
    rights, and a student who wants to cheat can. If you need more than that, use nbgrader or Otter-Grader."""
    seconds: Count = 120
    """Time limit for each file, with --check."""
    csv: bool = False
    """Print the table of --check as CSV."""


def main(args: Sequence[str], prog: str = "selfplay course") -> None:
    """Write the notebooks and print how to open the first, or check those of students."""
    config = parse(CourseConfig, args, prog)
    if config.check is not None:
        check(config.check, config.seconds, config.csv)
    elif config.csv:
        raise UserError("--csv prints the table of --check; name the folder of the hand-ins with --check FOLDER")
    else:
        write(config.into, config.overwrite)


def write(into: Path, overwrite: bool) -> None:
    """Write a notebook for each unit, or none if one exists already, and print how to open the first.

    Raises:
        UserError: one exists already, or the folder cannot be made.
    """
    notebooks = {into / f"{unit.stem}.ipynb": notebook(unit) for unit in units()}
    for path in notebooks:
        if path.exists() and not overwrite:
            way_out = (
                "choose another folder with --into, or replace it with --overwrite, which loses what was filled in"
            )
            raise UserError(f"{path}: exists already; {way_out}")
    try:
        into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--into {into}: cannot be made a folder ({error.strerror}); choose another") from None
    for path, content in notebooks.items():
        write_whole(path, content)
    say(f"{len(notebooks)} notebooks are in {into}.")
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


def filled(unit: Path, blank: str | None = None) -> list[Cell]:
    """Return the cells of code of a unit, with nothing predicted and its blank filled in, if that is given."""
    cells = []
    for cell in script_cells(unit.read_text("utf-8")):
        if cell.kind == "code":
            source = re.sub(r"^(predict\(.*), \.\.\.\)", r"\1, None)", cell.source, flags=re.MULTILINE)
            if BLANK in cell.tags and blank is not None:
                source = blank
            cells.append(cell._replace(source=source))
    return cells


# What students have handed in


def check(folder: Path, seconds: int, as_csv: bool) -> None:
    """Check the hand-ins in a folder, and print a table of the students by units, and what is wrong.

    Raises:
        UserError: there is nothing to check.
    """
    if not folder.is_dir():
        raise UserError(f"--check {folder}: is no folder; name the one with a subfolder or files for each student")
    handed_in = sorted(folder.glob("[!.]*"))
    if not handed_in:
        raise UserError(f"--check {folder}: holds nothing to check")
    results = []
    try:
        for entry in handed_in:
            student = entry.name if entry.is_dir() else student_of(entry)
            paths = notebooks_in(entry)
            if not paths:
                results.append(HandIn(student, entry.name, None, "no notebook (.ipynb) and no script (.py)"))
            for path in paths:
                name = str(path.relative_to(folder))
                print(one_line(f"checking {name}"), file=sys.stderr)
                results.append(HandIn(student, name, *check_file(path, seconds)))
    finally:  # also after Ctrl-C, for the results so far took minutes
        show(results, as_csv)


def student_of(file: Path) -> str:
    """Return the name of a student from that of a file: ann for ann_unit_3.ipynb."""
    return re.sub(r"[\W_]*unit[\W_]*\d.*", "", file.stem, flags=re.IGNORECASE) or file.stem


def notebooks_in(entry: Path) -> list[Path]:
    """Return the notebooks and scripts in a student's folder, or the one that this is; hidden ones are left out."""
    found = []
    for path in sorted(entry.rglob("*")) if entry.is_dir() else [entry]:
        hidden = any(part.startswith(".") for part in path.relative_to(entry.parent).parts)
        if path.suffix in (".ipynb", ".py") and not hidden:
            found.append(path)
    return found


def check_file(path: Path, seconds: int) -> tuple[int | None, str]:
    """Return the number of the unit that a file holds, None if it cannot be told, and what is wrong with it."""
    try:
        cells = read_cells(path)
    except OSError as error:
        return None, f"cannot be read ({error.strerror})"
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None, "is no notebook"
    titles = [re.match(r"# Unit ([1-8])\b", cell.source) for cell in cells if cell.kind == "markdown"]
    numbers = [int(title[1]) for title in titles if title]
    if len(numbers) != 1:
        return None, f'must have the title of one unit, such as "# Unit 3", but has {len(numbers)}'
    [number] = numbers
    blanks = [cell.source for cell in cells if BLANK in cell.tags]
    return number, fault_of(units()[number - 1], blanks, seconds)


def read_cells(path: Path) -> list[Cell]:
    """Return the cells of a notebook, or of a script in the percent format.

    Raises:
        OSError: it cannot be read.
        ValueError, LookupError, TypeError, AttributeError, RecursionError: it is no notebook.
    """
    text = path.read_text("utf-8-sig")
    if path.suffix == ".py":
        return script_cells(text)
    cells = json.loads(text)["cells"]
    # A source is a text, or a list of its lines.
    return [Cell(cell["cell_type"], cell["metadata"].get("tags", []), "".join(cell["source"])) for cell in cells]


def fault_of(unit: Path, blanks: Sequence[str], seconds: int) -> str:
    """Run our copy of a unit with its blank filled in, up to its last check; return what is wrong, or nothing."""
    cells = filled(unit, "\n\n".join(blanks))
    [ours] = [cell.source for cell in script_cells(unit.read_text("utf-8")) if BLANK in cell.tags]
    names = re.findall(r"^(?:class|def) (\w+)", ours, re.MULTILINE)
    if not blanks:
        return f"no cell is tagged blank, as the one that holds {as_text(names)} must be"
    last = max(place for place, cell in enumerate(cells) if "PASSED" in cell.source)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            ended = subprocess.run(
                [sys.executable, "-X", "utf8", "-c", f"from {__name__} import run_job; run_job()"],
                input=json.dumps([cells[: last + 1], names]).encode(),
                cwd=folder,
                env=os.environ | {"MPLBACKEND": "agg"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"not finished after {seconds} s"
        fault = Path(folder, FAULT)
        if not fault.exists():
            return f"ended before the check with status {ended.returncode}, as exit() does"
        return fault.read_text("utf-8")


def run_job() -> None:
    """Run the cells that the input holds, and write down what is wrong; this is what the process of a hand-in does."""
    place = Path(FAULT).absolute()  # a cell may change the folder
    cells, names = json.load(sys.stdin)
    variables: dict[str, Any] = {"__name__": "__main__"}
    fault = ""
    try:
        for _, tags, source in cells:
            exec(source, variables)  # noqa: S102 (a student's cell, which this process is for, or ours)
            if BLANK in tags:
                missing = [name for name in names if name not in variables]
                require(not missing, f"the cell tagged blank must hold {as_text(names)}; it lacks {as_text(missing)}")
    except NotYetError as error:
        fault = str(error)
    except Exception as error:
        fault = f"{type(error).__name__}: {error}"
        if type(error) is NameError:
            fault += "; only the cell tagged blank is taken from a hand-in"
    place.write_text(one_line(fault), "utf-8")


def show(results: Sequence[HandIn], as_csv: bool) -> None:
    """Print the students by units, and what is wrong with which file: as text, or all in one table as CSV."""
    table = [["student", *(f"unit {number}" for number in NUMBERS)]]
    faults = [["what is wrong"]]
    for student in dict.fromkeys(result.student for result in results):
        theirs = [result for result in results if result.student == student]
        table.append([one_line(student), *(word_for(theirs, number) for number in NUMBERS)])
        faults.append([one_line(f"{result.file}: {result.fault}") for result in theirs if result.fault])
    if as_csv:
        lines = csv.writer(sys.stdout, lineterminator="\n")
        lines.writerows([*row, "; ".join(wrong)] for row, wrong in zip(table, faults, strict=True))
        return
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        print("  ".join(map(str.ljust, row, widths)).rstrip())
    for fault in chain([""], *faults[1:]):
        print(fault)


def word_for(results: Sequence[HandIn], number: int) -> str:
    """Return whether one of a student's files passes a unit; nothing if none holds it."""
    faults = [result.fault for result in results if result.unit == number]
    if not faults:
        return ""
    return "passed" if "" in faults else "not yet"
