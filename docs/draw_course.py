"""Draw the curves of the course: `python -m docs.draw_course` runs each unit with its solution, in a minute or two.

The lines and the text are grey, and the paper is transparent, so that the pictures suit a light and a dark page.
"""

import os
import tempfile
from typing import Any

import matplotlib.pyplot as plt

from selfplay.cli import course

SOLUTIONS = course.UNITS_OF_CLONE / "solutions"
STYLE: Any = {
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), "#808080"),
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "course",
}


def main() -> None:
    """Write the last picture of each unit that saves one."""
    plt.switch_backend("agg")
    plt.rcParams.update(STYLE)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    for unit in course.units():
        if "savefig" in unit.read_text():
            exec(course.filled(unit, (SOLUTIONS / unit.name).read_text()), {"__name__": "__main__"})
            plt.savefig(unit.with_suffix(".svg"), metadata={"Date": None})
            plt.close("all")


if __name__ == "__main__":
    main()
