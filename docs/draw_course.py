"""Run each unit of the course with its solution, and keep what its cells print and draw: `python -m docs.draw_course`.

That takes a minute or two. The site shows it; `docs/conf.py` refuses outputs of other code. The paper of the pictures
is transparent, so that they suit a light and a dark page.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

from selfplay.cli import course
from selfplay.lessons import UNITS_OF_CLONE
from selfplay.pictures import STYLE

SOLUTIONS = UNITS_OF_CLONE / "solutions"
OUTPUTS = UNITS_OF_CLONE / "outputs"
OURS = STYLE | {
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.hashsalt": "course",
}
UNASKED = " You made no prediction."
"""What `reveal` says here, where nobody predicts."""


def code(unit: Path) -> list[str]:
    """Return the code of each cell of a unit, with its solution in the place of the blank."""
    [solution] = course.script_cells((SOLUTIONS / unit.name).read_text("utf-8"))
    return [cell.source for cell in course.filled(unit, solution.source)]


def digest(unit: Path) -> str:
    """Return what tells whether outputs belong to the code of a unit and its solution."""
    return hashlib.sha256("\n".join(code(unit)).encode()).hexdigest()


def run(unit: Path) -> list[list[str]]:
    """Run a unit in an empty folder, save its plots beside it, and return the outputs of each cell of code.

    An output is text, a board as SVG, or the name of a plot.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    outputs, plots = [], 0
    for source in code(unit):
        sys.displayhook = print  # the SVG, where a notebook would draw it
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(source, names)
        parts = re.split(r"((?:<svg.*?</svg>\s)+)", printed.getvalue().replace(UNASKED, ""), flags=re.DOTALL)
        if plt.get_fignums():
            name = f"{unit.stem}.svg" if "savefig" in source else f"{unit.stem}_{plots}.svg"
            plt.savefig(unit.with_name(name), metadata={"Date": None})
            plt.close("all")
            parts.append(name)
            plots += 1
        outputs.append([part.rstrip() for part in parts if part.strip()])
    return outputs


def main(*only: str) -> None:
    """Run the units, or some of them by number, and write what they print and draw."""
    plt.switch_backend("agg")
    plt.rcParams.update(OURS)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    OUTPUTS.mkdir(exist_ok=True)
    for unit in course.units():
        if not only or unit.stem.removeprefix("unit_") in only:
            outputs = {"code": digest(unit), "outputs": run(unit)}
            text = json.dumps(outputs, indent=1, ensure_ascii=False)
            (OUTPUTS / f"{unit.stem}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
