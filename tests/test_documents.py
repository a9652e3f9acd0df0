"""The documents hold what they promise: links lead somewhere, commands are understood, and snippets run."""

import importlib.util
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from selfplay.cli import arena, certify, course, play, prove, report, sweep, train, web
from selfplay.cli.flags import parse
from tests.runs import saved

ROOT = Path(__file__).parent.parent
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [*PAGES, CONTRIBUTING, *sorted((ROOT / "agents/selfplay").glob("model*/README.md"))]
EXACT = [ROOT / "docs/environment.md", ROOT / "docs/frameworks.md", *sorted((ROOT / "docs/environments").glob("*.md"))]
"""Pages on which every comment behind or below a `print` is what it prints; elsewhere only numbers are."""
CONFIGS = {
    "prove": prove.ProveConfig,
    "certify": certify.CertifyConfig,
    "arena": arena.ArenaConfig,
    "web": web.WebConfig,
    "sweep": sweep.SweepConfig,
    "report": report.ReportConfig,
    "course": course.CourseConfig,
}
"""The flags of each command that reads them without a function of its own."""
READERS: dict[str, Callable[..., Any]] = {"train": train.read, "play": play.read}
FRAMEWORKS = "sb3_contrib|stable_baselines3|torchrl|ray.rllib|tianshou|pyspiel|onnxruntime|keras|mlflow"
"""Where one is not installed, its snippets are only compiled."""
NOTEBOOK = ROOT / "docs/training.md"
"""The page whose snippets run one after another."""
EACH_DOCUMENT = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)


class Block(NamedTuple):
    """The text between a pair of fences."""

    page: Path
    line: int
    text: str


def blocks(language: str, *pages: Path) -> list[Block]:
    """Return the blocks of a language on these pages."""
    return [
        Block(page, page.read_text()[: fence.start()].count("\n") + 1, fence[1])
        for page in pages
        for fence in re.finditer(rf"^```{language}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    ]


SNIPPETS = blocks("python", *(page for page in PAGES if page != NOTEBOOK))


@pytest.mark.parametrize("snippet", SNIPPETS, ids=lambda block: f"{block.page.name}:{block.line}")
def test_each_snippet_runs_by_itself(snippet: Block, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = compile(snippet.text, f"line {snippet.line}", "exec")
    for framework in re.findall(rf"^(?:from|import) ({FRAMEWORKS})\b", snippet.text, re.M):
        pytest.importorskip(framework, exc_type=ImportError)  # RLlib without its extras is no framework
    assert not re.findall(r"(?<!tictactoe:)TicTacToe\w*-v0", snippet.text)  # with the prefix no import is needed
    if "runs/NAME" in snippet.text:
        saved(here / "runs" / "NAME")
    exec(code, {})
    lines = iter(capsys.readouterr().out.splitlines())
    expected = [line for line in promised(snippet.text) if snippet.page in EXACT or re.fullmatch(r"[\d ]+", line)]
    assert [line for line in expected if line not in lines] == []  # each after the one before it


@pytest.mark.slow
@pytest.mark.usefixtures("here")
def test_the_notebook_runs_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    names = {"__name__": "__main__"}
    for cell in blocks("python", NOTEBOOK):
        exec(compile(cell.text, f"line {cell.line}", "exec"), names)
        lines = iter(capsys.readouterr().out.splitlines())
        expected = [line for line in promised(cell.text) if re.fullmatch(r"(True|False|\d|\s)+", line)]
        assert [line for line in expected if line not in lines] == []


def promised(snippet: str) -> list[str]:
    """Return the lines that a snippet's comments behind and below its `print` calls say it prints."""
    lines = []
    printing = False
    for line in snippet.splitlines():
        call, _, comment = line.partition("# ")
        printing = "print(" in call or (printing and not call)
        if printing and comment:
            lines.append(comment)
    return lines


@EACH_DOCUMENT
def test_every_command_line_is_understood(document: Path, here: Path) -> None:
    for module in re.findall(r"python -m ([\w.]*\w)", document.read_text()):
        assert importlib.util.find_spec(module), module
    saved(here / "runs" / "NAME")
    for block in blocks("bash", document):
        for line in block.text.replace("\\\n", " ").splitlines():
            read_command(shlex.split(line, comments=True))
    # In a sentence a command line may be shortened, but its command has to be one.
    for sentence in re.findall(r"`((?:selfplay|python -m selfplay|python train\.py) [^`]*)`", document.read_text()):
        words = sentence.split()
        command = words[words.index("selfplay") + 1] if "selfplay" in words else "train"
        assert command in {*CONFIGS, *READERS, "COMMAND"}, f"{document.name}: {sentence}"


def read_command(words: list[str]) -> None:
    """Parse a command line of this program, but none of another program.

    Raises:
        UserError, SystemExit: it is not understood.
        KeyError: there is no such command.
    """
    if words[:2] == ["python", "train.py"]:
        words = ["selfplay", "train", *words[2:]]
    elif words[:3] == ["python", "-m", "selfplay"]:
        words = words[2:]
    if words[:1] == ["selfplay"] and "--help" not in words:
        _, command, *args = words
        read = READERS.get(command) or partial(parse, CONFIGS[command])
        read(args, f"selfplay {command}")


@pytest.mark.slow
def test_every_table_is_as_the_data_files_and_the_code_make_it() -> None:
    [fill_in] = re.findall(r"python (-m cogapp .*)", CONTRIBUTING.read_text())
    check = f"{sys.executable} {fill_in.replace('-r', '--check --diff')}"
    done = subprocess.run(check, shell=True, cwd=ROOT, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_badges_and_the_citation_say_what_pyproject_says() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    badges = (ROOT / "docs/badges.svg").read_text()
    listing = (ROOT / "docs/listing.md").read_text()
    [python] = re.findall(r'^requires-python = ">=(.*)"$', project, re.MULTILINE)
    gymnasium, pettingzoo = re.findall(r'"(?:gymnasium|pettingzoo)>=([\d.]+)"', project)
    badge = f"Python ≥ {python}, Gymnasium ≥ {gymnasium}, PettingZoo ≥ {pettingzoo}, licence MIT"
    assert f"![{badge}](docs/badges.svg)" in README.read_text()
    assert f'aria-label="{badge}"' in badges
    assert " ".join(re.findall(r">([^<>]+)</text>", badges)) == badge.replace(",", "")
    assert f"badge/Gymnasium-%E2%89%A5{gymnasium}-" in listing
    assert f"badge/PettingZoo-%E2%89%A5{pettingzoo}-" in listing
    [version] = re.findall(r'^version = "(.*)"$', project, re.MULTILINE)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()


@EACH_DOCUMENT
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        place, _, anchor = link.partition("#")
        if not place.startswith("https://"):
            target = document.parent / place if place else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


def test_the_test_files_that_a_docstring_names_exist() -> None:
    for program in [*(ROOT / "agents").rglob("*.py"), *(ROOT / "envs").rglob("*.py")]:
        for name in re.findall(r"`([\w/]*test_\w+\.py)`", program.read_text(encoding="utf-8")):
            assert list((ROOT / "tests").rglob(name)), f"{program}: {name}"
