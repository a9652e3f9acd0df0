"""Draw the curves of the course: `python -m docs.draw_course` runs each unit with its solution, in a minute or two.

The paper is transparent, so that the pictures suit a light and a dark page.
"""

import os
import tempfile

import matplotlib.pyplot as plt

from selfplay.cli import course
from selfplay.training.plots import STYLE

SOLUTIONS = course.UNITS_OF_CLONE / "solutions"
OURS = STYLE | {
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.hashsalt": "course",
}


def main() -> None:
    """Write the last picture of each unit that saves one."""
    plt.switch_backend("agg")
    plt.rcParams.update(OURS)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    for unit in course.units():
        if "savefig" in unit.read_text():
            exec(course.filled(unit, (SOLUTIONS / unit.name).read_text()), {"__name__": "__main__"})
            plt.savefig(unit.with_suffix(".svg"), metadata={"Date": None})
            plt.close("all")


if __name__ == "__main__":
    main()
