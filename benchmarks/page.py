"""Measure the page of `selfplay web`: how soon it is there, how fast it answers, and how soon it proves a learner.

    python -m benchmarks.page --docs docs

A run with the default settings trains, and its page is served as `selfplay web RUN` serves it. Each turn starts
Chromium anew. The first load lasts from the navigation until a click has marked a square; its requests are those until
the board is drawn. Then the page asks for the player's move in each of the 252 positions after three moves, one after
the other. In the playground a visit presses Start, with its number as the seed, and waits for the proof. It needs the
extra `dev`, for playwright, and a program called chromium.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

import selfplay
from benchmarks import harness
from benchmarks.data import Result, Row
from selfplay.cli import web as command
from selfplay.cli.flags import parse, run_command
from selfplay.errors import UserError

PROG = "python -m benchmarks.page"
MOST_SECONDS = 60
"""Longest wait for a proof in the playground."""
ANSWERS = """async () => {
    const times = [];
    for (let cells = 0; cells < 729; cells++) {
        const [first, reply, second] = [Math.floor(cells / 81), Math.floor(cells / 9) % 9, cells % 9];
        if (first < second && first !== reply && second !== reply) {
            const board = Object.assign([..."........."], { [first]: "X", [reply]: "O", [second]: "X" }).join("");
            const started = performance.now();
            await (await fetch(`api/analysis?player=0&board=${board}`)).json();
            times.push(performance.now() - started);
        }
    }
    times.sort((one, other) => one - other);
    const at = (part) => times[Math.ceil(part * times.length) - 1];
    return { "answer, ms": at(0.5), "95 %, ms": at(0.95), "most, ms": at(1) };
}"""
"""Asks for the player's move in each position, and returns how long the answers took."""


@dataclass(frozen=True)
class Flags:
    """Measure the page: its first load, its answers, and its size as a file."""

    times: int = 10
    """How often Chromium is started."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


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


def main(args: Sequence[str]) -> None:
    """Measure, and print each visit as it ends and the table at the end."""
    flags = parse(Flags, args, PROG)
    with tempfile.TemporaryDirectory() as folder:
        run, file = f"{folder}/run", Path(folder) / "page.html"
        selfplay.train(run_dir=run)
        command.main([run, "--export", str(file)])
        with chromium():
            pass  # its first start takes longer than all others
        with served(run) as address:

            def measure(row: Row, number: int) -> Result:
                if row == "playground":
                    return measured_playground(address, number)
                return {**measured(address), "file, kB": file.stat().st_size / 1_000}

            note, rows = "of all starts of Chromium", ["default run", "playground"]
            harness.run("The page", rows, range(flags.times), measure, note, ["playwright"], flags.docs)


def measured(address: str) -> Result:
    """Return what one visit takes."""
    with chromium() as browser:
        page, requests = browser.new_page(), []
        page.on("request", lambda request: requests.append(request.url))
        started = time.perf_counter()
        page.goto(f"{address}#seat=X")  # not the mistake on which the page opens without a link
        page.wait_for_selector(".board")
        number = len(requests)
        page.click("[data-cell='4']")
        page.wait_for_selector("[data-mark='X']")
        seconds = time.perf_counter() - started
        return {"first load, s": seconds, "requests": number, **page.evaluate(ANSWERS)}


def measured_playground(address: str, seed: int) -> Result:
    """Return how long a DQN trains in a new browser until it is proved, and when the page was first painted."""
    with chromium() as browser:
        page = browser.new_page()
        page.goto(f"{address}#view=playground&seed={seed}")
        page.locator("#panel-playground").get_by_role("button", name="Start").click()
        started = time.perf_counter()
        page.wait_for_selector(".score.good", timeout=MOST_SECONDS * 1_000)
        seconds = time.perf_counter() - started
        painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        return {"proof, s": seconds, "first paint, s": painted / 1_000}


if __name__ == "__main__":
    run_command(main, PROG)
