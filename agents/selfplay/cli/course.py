"""Write the course as notebooks: `selfplay course [--into FOLDER]`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selfplay.command_line import offer, parse, say
from selfplay.errors import UserError
from selfplay.program import shell_line

UNITS = Path(__file__).parents[1] / "course"
"""Folder of the units in a wheel; a clone has them in docs/course."""
UNITS_OF_CLONE = Path(__file__).parents[3] / "docs" / "course"


@dataclass(frozen=True)
class CourseConfig:
    """Write the eight units of the course as notebooks, which Jupyter opens."""

    into: Path = Path("course")
    """Folder to write them into; it is made if needed."""
    overwrite: bool = False
    """Replace notebooks that exist already, with everything filled in there."""


def main(args: Sequence[str], prog: str = "selfplay course") -> None:
    """Write a notebook for each unit, or none if one exists already, and print how to open the first."""
    config = parse(CourseConfig, args, prog)
    from selfplay.files import write_whole

    paths = {config.into / f"{unit.stem}.ipynb": unit for unit in units()}
    for path in paths:
        if path.exists() and not config.overwrite:
            raise UserError(
                f"{path}: exists already; choose another folder with --into, or replace it, with everything filled in "
                "there, with --overwrite"
            )
    notebooks = {path: notebook(unit) for path, unit in paths.items()}
    try:
        config.into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--into {config.into}: is not a folder and cannot be made ({error.strerror})") from None
    for path, content in notebooks.items():
        write_whole(path, content)
    say(f"{len(paths)} notebooks are in {config.into}.")
    first = shell_line("jupyter", "lab", str(next(iter(paths))))
    offer({"Start with the first (pip install jupyterlab installs Jupyter):": first})


def units() -> list[Path]:
    """Return the scripts of the units, in order."""
    return sorted((UNITS if UNITS.is_dir() else UNITS_OF_CLONE).glob("unit_*.py"))


def notebook(unit: Path) -> bytes:
    """Return a unit as a notebook."""
    import jupytext

    cells = jupytext.read(unit)
    cells.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return jupytext.writes(cells, fmt="ipynb").encode()
