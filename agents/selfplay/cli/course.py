"""Write the course as notebooks: `selfplay course [--into FOLDER]`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selfplay.command_line import offer, parse
from selfplay.errors import UserError

UNITS = Path(__file__).parents[1] / "course"
"""Where a wheel has the units; a clone has them among its documents."""
UNITS_OF_CLONE = Path(__file__).parents[3] / "docs" / "course"


@dataclass(frozen=True)
class CourseConfig:
    """Write the eight units of the course as notebooks, which Jupyter opens."""

    into: Path = Path("course")
    """Folder to write them into; it is made where there is none."""
    overwrite: bool = False
    """Replace notebooks that are there already, with all that was filled in."""


def main(args: Sequence[str], prog: str = "selfplay course") -> None:
    """Write a notebook for each unit, and say how the first is opened."""
    config = parse(CourseConfig, args, prog)
    written = write_notebooks(config.into, config.overwrite)
    print(f"{len(written)} notebooks are in {config.into}.")
    offer("Begin with the first (pip install jupyterlab brings Jupyter):", f"jupyter lab {written[0]}")


def units() -> list[Path]:
    """Return the scripts of the units, in order."""
    return sorted((UNITS if UNITS.is_dir() else UNITS_OF_CLONE).glob("unit_*.py"))


def write_notebooks(folder: Path, overwrite: bool) -> list[Path]:
    """Write each unit as a notebook, all or, if one is there already, none; return them in order.

    Raises:
        UserError: a notebook is there already and is not to be replaced, or the folder cannot be made.
        OSError: a file cannot be written.
    """
    from selfplay.files import write_whole

    paths = {folder / unit.with_suffix(".ipynb").name: unit for unit in units()}
    for path in paths:
        if path.exists() and not overwrite:
            raise UserError(
                f"{path}: is there already; choose another folder with --into, or replace it, with all that was filled "
                "in, by --overwrite"
            )
    contents = {path: notebook_content(unit) for path, unit in paths.items()}  # before anything is there
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--into {folder}: is no folder, and none can be made there ({error.strerror})") from None
    for path, content in contents.items():
        write_whole(path, content)
    return list(contents)


def notebook_content(unit: Path) -> bytes:
    """Return a unit as the content of a notebook, the same bytes each time."""
    import jupytext

    notebook = jupytext.read(unit)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for number, cell in enumerate(notebook.cells):
        cell["id"] = f"cell-{number}"  # else drawn at random
    text: str = jupytext.writes(notebook, fmt="ipynb")
    return text.encode()
