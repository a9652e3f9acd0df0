"""Draw the README's first picture: `python -m docs.draw_mistake` writes mistake.png and mistake-dark.png.

A run trains. O must stop a line of X, and one of the first players of the run prefers another square. The picture shows
its values next to the exact results. It needs the extra `dev`, for playwright, and a program called chromium.
"""

import io
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Browser

import selfplay
from docs.draw_page import chromium
from tictactoe import Rules, planes, solve

SEED = 5
X_CELLS, O_CELLS = (4, 1), (0,)
"""The position. O is to move, and has to mark cell 7."""
RESULTS = {-1: "loss", 0: "draw", 1: "win"}
COLOURS = {
    "mistake.png": "--ground: #fffefc; --ink: #1d1b18; --square: #ece8e0; --loss: #eab38d; --draw: #a3d4b3; "
    "--X: #1d5bb8; --O: #b0430b",
    "mistake-dark.png": "--ground: #1b1e23; --ink: #edebe6; --square: #2a2f36; --loss: #7a4526; --draw: #1f5c3d; "
    "--X: #86b9ff; --O: #ffa873",
}
PAGE = """
<style>
  main {{ {colours}; width: 640px; padding: 20px 24px; background: var(--ground); color: var(--ink);
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


def most_mistaken(observation: np.ndarray, best: int) -> np.ndarray:
    """Return the values [9] of the player of a run that most prefers another empty cell to the best one."""
    with tempfile.TemporaryDirectory() as folder:
        run = selfplay.train(run_dir=Path(folder, "run"), seed=SEED)
        players = [player.q_values(observation) for player in run.snapshots.values()]
    empty = observation[..., 0].ravel() == 1
    return max(players, key=lambda values: values[empty].max() - values[best])


def squares(texts: Mapping[int, str], played: int) -> str:
    """Return the squares of a board as HTML: marks, and texts in the empty ones."""
    marks = dict.fromkeys(X_CELLS, "X") | dict.fromkeys(O_CELLS, "O")
    board = []
    for cell in range(9):
        text = marks.get(cell) or texts[cell]
        frame = " played" if cell == played else ""
        board.append(f'<span class="{text}{frame}">{text}</span>')
    return "".join(board)


def screenshot(browser: Browser, html: str) -> Image.Image:
    """Return the picture in few colours, which make its file a quarter as large."""
    page = browser.new_page(device_scale_factor=2)
    page.set_content(html)
    return Image.open(io.BytesIO(page.locator("main").screenshot())).convert("RGB").quantize(64)


def main() -> None:
    """Write both pictures."""
    x_marks, o_marks = (sum(1 << cell for cell in cells) for cells in (X_CELLS, O_CELLS))
    observation = planes.one_hot(9, np.array([o_marks]), np.array([x_marks])).reshape(3, 3, 3)
    solution = solve(Rules())
    results = {}
    for cell in np.flatnonzero(observation[..., 0]).tolist():
        of_x, _ = solution.lookup(mover=x_marks, opponent=o_marks | 1 << cell)
        results[cell] = RESULTS[-of_x]
    [best] = [cell for cell, result in results.items() if result == "draw"]
    values = most_mistaken(observation, best)
    played = max(results, key=lambda cell: values[cell])
    believed = {cell: f"{values[cell]:.2f}".replace("-", "&minus;") for cell in results}
    with chromium() as browser:
        for name, colours in COLOURS.items():
            html = PAGE.format(colours=colours, believed=squares(believed, played), true=squares(results, played))
            screenshot(browser, html).save(Path(__file__).with_name(name), optimize=True)


if __name__ == "__main__":
    main()
