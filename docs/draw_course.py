"""Draw the curves and lost games of the course: `python -m docs.draw_course` runs each unit with its solution.

That takes a minute or two. The paper is transparent, so that the pictures suit a light and a dark page.
"""

import os
import sys
import tempfile

import matplotlib.pyplot as plt

from selfplay.cli import course
from selfplay.pictures import STYLE

SOLUTIONS = course.UNITS_OF_CLONE / "solutions"
OURS = STYLE | {
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.hashsalt": "course",
}


def main() -> None:
    """Write the last picture of each unit that saves one, and the last boards that it shows."""
    plt.switch_backend("agg")
    plt.rcParams.update(OURS)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    for unit in course.units():
        if "savefig" in unit.read_text():
            drawn: list[object] = []
            sys.displayhook = drawn.append
            exec(course.filled(unit, (SOLUTIONS / unit.name).read_text()), {"__name__": "__main__"})
            plt.savefig(unit.with_suffix(".svg"), metadata={"Date": None})
            plt.close("all")
            if 'tags=["drawn"]' in unit.read_text():
                unit.with_name(f"{unit.stem}_game.html").write_text(str(drawn[-1]))


if __name__ == "__main__":
    main()
