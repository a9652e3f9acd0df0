"""Take the README's picture of the page: `python docs/draw_page.py` writes web.png beside itself.

A short run trains, `selfplay web` serves it, and Chromium shows what the player thinks of a state in which it makes a
mistake. It needs the extra `dev`, for playwright, and a program called chromium.
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

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import selfplay

PLIES = 20_000
LINK = "#player=learner&board=.X...XO..&view=inside"
WIDTH, HEIGHT = 1_280, 790
COLOURS = 256


def train(runs: Path) -> None:
    """Train a player that still makes mistakes."""
    selfplay.train(run_dir=runs / "learner", seed=1000, mask=True, total_steps=PLIES)


@contextmanager
def served(runs: Path) -> Iterator[str]:
    """Serve the page in a process of its own, and yield its address."""
    command = [sys.executable, "-m", "selfplay", "web", "--no-open", "--port", "0", "--runs", str(runs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = re.search(r"http://\S+", process.stdout.readline())
        try:
            assert address is not None, "the page is not served"
            yield address[0]
        finally:
            process.terminate()


def screenshot(browser: Browser, address: str) -> bytes:
    """Return the page as a PNG."""
    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
    page.goto(address + LINK)
    page.wait_for_selector(".heat-map")
    return page.screenshot()


def main() -> None:
    """Write the screenshot; its few colours make it a tenth as large."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        train(Path(folder))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        with served(Path(folder)) as address:
            image = Image.open(io.BytesIO(screenshot(browser, address)))
        browser.close()
    few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(Path(__file__).parent / "web.png", optimize=True)


if __name__ == "__main__":
    main()
