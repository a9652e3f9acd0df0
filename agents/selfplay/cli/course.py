"""Write the course as notebooks: `selfplay course [--into FOLDER]`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from selfplay.command_line import offer, parse, say
from selfplay.errors import UserError
from selfplay.program import shell_line

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
    """Write a notebook for each unit, all or, if one is there already, none, and say how the first is opened."""
    config = parse(CourseConfig, args, prog)
    import jupytext

    from selfplay.files import write_whole

    paths = {config.into / f"{unit.stem}.ipynb": unit for unit in units()}
    for path in paths:
        if path.exists() and not config.overwrite:
            raise UserError(
                f"{path}: is there already; choose another folder with --into, or replace it, with all that was filled "
                "in, by --overwrite"
            )
    try:
        config.into.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--into {config.into}: is no folder, and none can be made there ({error.strerror})") from None
    for path, unit in paths.items():
        notebook = jupytext.read(unit)
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        write_whole(path, jupytext.writes(notebook, fmt="ipynb").encode())
    say(f"{len(paths)} notebooks are in {config.into}.")
    offer(
        "Begin with the first (pip install jupyterlab brings Jupyter):",
        shell_line("jupyter", "lab", str(next(iter(paths)))),
    )


def units() -> list[Path]:
    """Return the scripts of the units, in order."""
    return sorted((UNITS if UNITS.is_dir() else UNITS_OF_CLONE).glob("unit_*.py"))
