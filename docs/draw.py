"""Draw the pictures of the pages: `python -m docs.draw` for all, or `python -m docs.draw watch unit_3` for some.

A unit of the course runs with its solution, and what its cells print is kept, too; the site shows it, so draw a unit
again after changing it. `mistake` and `watch` are drawn light and dark, from a run that trains for them. They need the
extra `dev`, for playwright, and Chromium.
"""

import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image
from playwright.sync_api import ViewportSize, sync_playwright

import selfplay
from selfplay.cli import course
from selfplay.lessons import UNITS_OF_CLONE
from selfplay.plot_style import STYLE
from selfplay.web.page import write_page
from selfplay.web.player_data import players_data
from tictactoe import Rules, planes, solve

DOCS = Path(__file__).parent
SEED = 5
"""Of the run whose pictures are drawn."""
CHROMIUM = ("chromium-headless-shell", "chromium")
PAGES = {"mistake": (2, 64), "watch": (1, 256)}
"""The pictures of pages: their scale, and their colours, which are few and make a file a quarter as large."""
SCHEMES: Mapping[Literal["light", "dark"], str] = {"light": "", "dark": "-dark"}
"""The ending of a picture's name for readers of light and of dark pages."""
VIEWPORT: ViewportSize = {"width": 1_280, "height": 960}

# A mistake

X_CELLS, O_CELLS = (4, 1), (0,)
"""The position. O is to move, and has to mark cell 7."""
RESULTS = {-1: "loss", 0: "draw", 1: "win"}
MISTAKE = """
<meta charset="utf-8">
<style>
  main {{ --ground: #fffefc; --ink: #1d1b18; --square: #ece8e0; --loss: #eab38d; --draw: #a3d4b3; --X: #1d5bb8;
    --O: #b0430b }}
  @media (prefers-color-scheme: dark) {{
    main {{ --ground: #1b1e23; --ink: #edebe6; --square: #2a2f36; --loss: #7a4526; --draw: #1f5c3d; --X: #86b9ff;
      --O: #ffa873 }}
  }}
  main {{ width: 640px; padding: 20px 24px; background: var(--ground); color: var(--ink);
    font: 17px/1.4 "DejaVu Sans", sans-serif }}
  div {{ display: grid; grid-template-columns: repeat(3, 1fr); gap: 6px; margin: 8px 0 }}
  div.both {{ grid-template-columns: 1fr 1fr; gap: 48px; margin-top: 16px }}
  span {{ display: grid; place-content: center; height: 84px; background: var(--square); border-radius: 8px }}
  .X, .O {{ font-size: 54px; font-weight: bold }} .X {{ color: var(--X) }} .O {{ color: var(--O) }}
  .loss {{ background: var(--loss) }} .draw {{ background: var(--draw); font-weight: bold }}
  .played {{ outline: 5px solid var(--ink); outline-offset: -5px }}
</style>
<main>
  <b>O is to move, and must stop the middle column.</b>
  <div class="both">
    <section>What the player believes<div>{believed}</div>&minus;1 is a loss, 0 a draw.
      It plays the highest value (framed).</section>
    <section>What is true<div>{true}</div>That move loses. Only one square keeps the draw.</section>
  </div>
</main>
"""


def mistake_page(run: selfplay.Run) -> str:
    """Return a page with the position, as the snapshot of a run sees it that most prefers another cell to the best."""
    x_marks, o_marks = (sum(1 << cell for cell in cells) for cells in (X_CELLS, O_CELLS))
    observation = planes.one_hot(9, np.array([o_marks]), np.array([x_marks])).reshape(3, 3, 3)
    results = {}
    for cell in np.flatnonzero(observation[..., 0]).tolist():
        of_x, _ = solve(Rules()).lookup(mover=x_marks, opponent=o_marks | 1 << cell)
        results[cell] = RESULTS[-of_x]
    [best] = [cell for cell, result in results.items() if result == "draw"]
    players = [player.q_values(observation) for player in run.snapshots.values()]
    values = max(players, key=lambda values: max(values[cell] for cell in results) - values[best])
    played = max(results, key=lambda cell: values[cell])
    believed = {cell: f"{values[cell]:.2f}".replace("-", "&minus;") for cell in results}
    return MISTAKE.format(believed=squares(believed, played), true=squares(results, played))


def squares(texts: Mapping[int, str], played: int) -> str:
    """Return the squares of a board as HTML: marks, and texts in the empty ones."""
    marks = dict.fromkeys(X_CELLS, "X") | dict.fromkeys(O_CELLS, "O")
    board = []
    for cell in range(9):
        text = marks.get(cell) or texts[cell]
        frame = " played" if cell == played else ""
        board.append(f'<span class="{text}{frame}">{text}</span>')
    return "".join(board)


# What a player thought on its way, on the page of `selfplay web`

WATCHED = "#view=inside&moves=1&seat=O"
FRAMES = """() => {
    const [bar, frames] = [document.getElementById("then"), []];
    for (const part of [0, 0.35, 0.5, 0.6, 0.75, 1]) {
        bar.value = Math.floor(part * bar.max);
        bar.dispatchEvent(new Event("change"));
        const parts = [document.querySelector("#panel-inside svg"), document.querySelector(".time-bar")];
        const frame = document.createElement("div");
        frame.append(...parts.map((part) => part.cloneNode(true)));
        frame.querySelectorAll(".watch").forEach((each) => each.remove());
        frames.push(frame);
    }
    document.querySelector("main").style.gridTemplateColumns = "repeat(3, 1fr)";
    document.querySelector("main").replaceChildren(...frames);
}"""
"""Shows the map and the time bar at six moments instead of the page."""


def draw(name: str) -> None:
    """Train a player, and write the mistake or how it learned as a picture, light and dark."""
    scale, colours = PAGES[name]
    with tempfile.TemporaryDirectory() as folder:
        run = selfplay.train(run_dir=Path(folder, "run"), seed=SEED)
        file = Path(folder, "page.html")
        if name == "mistake":
            file.write_text(mistake_page(run), "utf-8")
        else:
            write_page(players_data([str(run.folder)]), file)
        program = next(filter(None, map(shutil.which, CHROMIUM)))
        with sync_playwright() as playwright, playwright.chromium.launch(executable_path=program) as browser:
            for scheme, ending in SCHEMES.items():
                page = browser.new_page(viewport=VIEWPORT, color_scheme=scheme, device_scale_factor=scale)
                page.goto(file.as_uri() + WATCHED)
                if name == "watch":
                    page.wait_for_selector(".lost-area[d]", state="attached")
                    page.evaluate(FRAMES)
                picture = Image.open(io.BytesIO(page.locator("main").screenshot())).convert("RGB")
                picture.quantize(colours, dither=Image.Dither.NONE).save(DOCS / f"{name}{ending}.png", optimize=True)


# The course

SOLUTIONS = UNITS_OF_CLONE / "solutions"
OUTPUTS = UNITS_OF_CLONE / "outputs"
OURS = STYLE | {
    "figure.figsize": (6, 3),
    "savefig.bbox": "tight",
    "savefig.transparent": True,  # for a light and a dark page
    "svg.hashsalt": "course",
}
UNASKED = " You made no prediction."
"""The words of `reveal` here, where nobody predicts."""


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


def main(*names: str) -> None:
    """Draw the pictures with these names, or all."""
    units = {unit.stem: unit for unit in course.units()}
    plt.switch_backend("agg")
    plt.rcParams.update(OURS)
    os.chdir(tempfile.mkdtemp())  # for the runs and pictures of the units themselves
    for name in names or (*PAGES, *units):
        if name in PAGES:
            draw(name)
        else:
            outputs = {"code": digest(units[name]), "outputs": run(units[name])}
            text = json.dumps(outputs, indent=1, ensure_ascii=False)
            (OUTPUTS / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
