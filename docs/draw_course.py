"""Draw the curves of the course: `python -m docs.draw_course` runs each unit with its solution, in a minute or two.

The lines and the text are grey, and the paper is transparent, so that the pictures suit a light and a dark page.
"""

import os
import tempfile
from pathlib import Path
from typing import Any

import jupytext
import matplotlib.pyplot as plt

COURSE = Path(__file__).resolve().parent / "course"
GREY = "#808080"
STYLE: Any = {
    **dict.fromkeys(("axes.edgecolor", "axes.labelcolor", "text.color", "xtick.color", "ytick.color"), GREY),
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "course",
}


def main() -> None:
    """Write the last picture of each unit that draws one after its check."""
    plt.switch_backend("agg")
    plt.rcParams.update(STYLE)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    for unit in sorted(COURSE.glob("unit_*.py")):
        cells = [cell for cell in jupytext.read(unit).cells if cell.cell_type == "code"]
        if "savefig" in unit.read_text():
            names: dict[str, object] = {"__name__": "__main__"}
            for cell in cells:
                blank = "blank" in cell.metadata.get("tags", [])
                exec((COURSE / "solutions" / unit.name).read_text() if blank else cell.source, names)
            plt.savefig(COURSE / f"{unit.stem}.svg", metadata={"Date": None})
            plt.close("all")


if __name__ == "__main__":
    main()
