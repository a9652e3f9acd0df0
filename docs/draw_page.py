"""Take a picture of the page's time bar: `python docs/draw_page.py` writes watch.png and watch-dark.png.

A run trains, `selfplay web` serves it, and Chromium shows what the player thought on its way, in a position with one
good move. It needs the extra `dev`, for playwright, and a program called chromium.
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

WIDTH, HEIGHT = 1_280, 960
COLOURS = 256
WATCHED = "#player=learner&moves=1&seat=O"
FRAMES = """async () => {
    const [bar, frames] = [document.getElementById("then"), []];
    for (const part of [0, 0.35, 0.5, 0.6, 0.75, 1]) {
        bar.value = Math.floor(part * bar.max);
        bar.dispatchEvent(new Event("change"));
        await new Promise((done) => setTimeout(done, 1500));
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


def train(runs: Path) -> None:
    """Train a player until it is proved unbeatable, with the snapshots on its way."""
    selfplay.train(run_dir=runs / "learner", seed=5)


@contextmanager
def chromium(program: str = "chromium") -> Iterator[Browser]:
    """Start Chromium anew, as a browser that nobody has used.

    Raises:
        UserError: it is not installed.
    """
    path = shutil.which(program)
    if path is None:
        raise UserError(f"no program called {program} is installed")
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


def screenshot(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> Image.Image:
    """Return the frames as a picture of few colours, which make its file a tenth as large."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme=scheme)
    page.goto(address + WATCHED)
    page.wait_for_selector(".lost-area[d]")
    page.evaluate(FRAMES)
    picture = Image.open(io.BytesIO(page.locator("main").screenshot()))
    return picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)


def main() -> None:
    """Write the picture, light and dark."""
    docs = Path(__file__).parent
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        train(Path(folder))
        with served("--runs", folder) as address:
            screenshot(browser, address, "light").save(docs / "watch.png", optimize=True)
            screenshot(browser, address, "dark").save(docs / "watch-dark.png", optimize=True)


if __name__ == "__main__":
    main()
