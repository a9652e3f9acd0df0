"""Take the pictures of the page: `python docs/draw_page.py` writes web.png, watch.png and their dark variants.

A run trains, `selfplay web` serves it, and Chromium shows what the player thought on its way: in a position in which it
made a mistake, and as frames of the time bar, in a position with one good move. It needs the extra `dev`, for
playwright, and a program called chromium.
"""

import io
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import selfplay
from selfplay.errors import UserError

LINK = "#player=learner&moves=5,1&seat=X"
THEN = 0.6
"""Part of the time bar after which the player is shown, when it still makes mistakes."""
PAUSE = 600
"""Milliseconds in which the strokes of the marks are drawn."""
WIDTH, HEIGHT = 1_280, 960
COLOURS = 256
WATCHED = "#player=learner&moves=1&seat=O"
FRAMES = """async () => {
    const [table, bar, frames] = [document.getElementById("table"), document.getElementById("then"), []];
    for (const part of [0, 0.35, 0.5, 0.6, 0.75, 1]) {
        bar.value = Math.floor(part * bar.max);
        bar.dispatchEvent(new Event("change"));
        await new Promise((done) => setTimeout(done, 1500));
        frames.push(table.cloneNode(true));
        frames.at(-1).querySelectorAll("#status, #starts, #controls, .watch, select").forEach((each) => each.remove());
    }
    document.querySelector("main").style.gridTemplateColumns = "repeat(3, 1fr)";
    document.querySelector("main").replaceChildren(...frames);
}"""
"""Shows the board and the time bar at six moments instead of the page."""


def train(runs: Path) -> None:
    """Train a player until it is proved unbeatable, with the snapshots on its way."""
    selfplay.train(run_dir=runs / "learner", seed=5)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium anew, as a browser that nobody has used.

    Raises:
        UserError: it is not installed.
    """
    path = shutil.which("chromium")
    if path is None:
        raise UserError("no program called chromium is installed")
    with sync_playwright() as playwright, playwright.chromium.launch(executable_path=path) as browser:
        yield browser


@contextmanager
def served(*args: str) -> Iterator[str]:
    """Serve the page in a process of its own, and yield its address."""
    command = [sys.executable, "-m", "selfplay", "web", "--no-open", "--port", "0", *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        try:
            assert address is not None, "the page is not served"
            yield address[0]
        finally:
            process.terminate()


def screenshots(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> tuple[bytes, bytes]:
    """Return the page and the frames as PNGs."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address + LINK)
    page.wait_for_selector(".lost-area[d]")
    bar = page.get_by_label("Watch it learn", exact=True)
    bar.fill(str(int(THEN * int(bar.get_attribute("max") or 0))))
    page.get_by_role("button", name="Show me one").click()
    page.wait_for_selector(".mistake-steps:not([hidden])")
    page.wait_for_timeout(PAUSE)
    page.mouse.move(0, 0)
    whole = page.screenshot()
    page.goto(address + WATCHED)
    page.evaluate(FRAMES)
    return whole, page.locator("main").screenshot()


def main() -> None:
    """Write the screenshots; their few colours make them a tenth as large."""
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        train(Path(folder))
        with served("--runs", folder) as address:
            pictures = *screenshots(browser, address, "light"), *screenshots(browser, address, "dark")
    for name, picture in zip(("web.png", "watch.png", "web-dark.png", "watch-dark.png"), pictures, strict=True):
        few = Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
        few.save(Path(__file__).with_name(name), optimize=True)


if __name__ == "__main__":
    main()
