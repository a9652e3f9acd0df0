"""Write the course as notebooks, or check those of students: `selfplay course [--into FOLDER | --check FOLDER]`."""

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selfplay.cli.flags import offer, parse, say
from selfplay.errors import UserError
from selfplay.program import shell_line

UNITS = Path(__file__).parents[1] / "course"
"""Folder of the units in a wheel; a clone has them in docs/course."""
UNITS_OF_CLONE = Path(__file__).parents[3] / "docs" / "course"


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
    from selfplay.files import write_whole

    notebooks = {config.into / f"{unit.stem}.ipynb": notebook(unit) for unit in units()}
    for path in notebooks:
        if path.exists() and not config.overwrite:
            raise UserError(
                f"{path}: exists already; choose another folder with --into, or replace it with "
                "--overwrite, which loses what was filled in"
            )
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
    """Return a unit as a notebook."""
    import jupytext

    cells = jupytext.read(unit)
    cells.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return str(jupytext.writes(cells, fmt="ipynb")).encode()


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
        results = [
            outcome(path, seconds)
            for path in (student, *sorted(student.rglob("[!.]*")))
            if re.fullmatch(r".*(?<!-checkpoint)\.(ipynb|py)", path.name)  # Jupyter keeps copies as checkpoints
        ]
        say(f"{student.name}: {'; '.join(results) or 'no notebook (.ipynb) and no script (.py)'}")


def outcome(path: Path, seconds: int) -> str:
    """Run our copy of a unit with a student's blank up to its check, and return the last line of its errors."""
    import jupytext

    try:
        cells = jupytext.read(path).cells
        number = int(cells[0].source[7])  # behind "# Unit "
        unit = units()[number - 1]
    except Exception:  # jupytext raises many kinds, and one student's file must not keep the others from their result
        return f"{path.name} is no unit of the course"
    blank = "\n\n".join(cell.source for cell in cells if "blank" in cell.metadata.get("tags", ()))
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
    said = ended.stderr.split("The agent was asked about")[0]  # a note behind the error
    return f"unit {number} {['ended before its check', *said.splitlines()][-1]}"
