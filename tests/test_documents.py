"""The documents say what is so: links lead somewhere, commands are understood, and snippets run."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from selfplay.arena import command as arena
from selfplay.cli import certify, course, prove, repair, train
from selfplay.command_line import parse
from selfplay.errors import UserError
from selfplay.play import command as play
from selfplay.sweep import command as sweep, report
from selfplay.web import command as web
from tests.runs import saved

ROOT = Path(__file__).parent.parent
README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [*PAGES, CONTRIBUTING, ROOT / "agents/selfplay/model/README.md"]
EXACT = [ROOT / "docs/environment.md", ROOT / "docs/frameworks.md", *sorted((ROOT / "docs/environments").glob("*.md"))]
"""Pages on which a comment behind or below a `print` is what it prints."""
FRAMEWORKS = ("sb3_contrib", "stable_baselines3", "torchrl")
"""What snippets import beside what this project needs; where one is not installed they are not run."""


class Block(NamedTuple):
    """Hold what stands between a pair of fences."""

    page: Path
    line: int
    text: str


def name_of(found: Path | Block) -> str:
    """Return where something stands, as a test is called."""
    return f"{found.page.name}:{found.line}" if isinstance(found, Block) else found.name


def blocks(language: str, *pages: Path) -> list[Block]:
    """Return what stands in fences of a language on these pages."""
    found: list[Block] = []
    for page in pages:
        text = page.read_text()
        fences = re.finditer(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
        found += [Block(page, text[: fence.start()].count("\n") + 1, fence[1]) for fence in fences]
    return found


def command_lines(block: Block) -> list[str]:
    """Return the commands of a block, those over several lines joined."""
    return [line for line in block.text.replace("\\\n", " ").splitlines() if line.strip()]


def test_the_readme_is_short() -> None:
    assert README.read_text().count("\n") <= 230


def test_ci_runs_the_readmes_test_command() -> None:
    commands = [line for block in blocks("bash", README) for line in block.text.splitlines()]
    commands = [line for line in commands if line.endswith(".venv/bin/pytest -n 2")]
    assert len(commands) == 1
    assert commands[0] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_there_are_snippets_and_the_readme_names_every_page() -> None:
    assert len(blocks("python", README)) >= 2
    assert len(blocks("python", *PAGES)) >= 15
    names = [page.relative_to(ROOT).as_posix() for page in PAGES[1:]]
    assert [name for name in names if f"]({name})" not in README.read_text()] == []


@pytest.mark.parametrize("snippet", blocks("python", *PAGES), ids=name_of)
def test_each_snippet_runs_by_itself(
    snippet: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for framework in FRAMEWORKS:
        if re.search(rf"^(from|import) {framework}\b", snippet.text, re.MULTILINE):
            pytest.importorskip(framework)
    assert not re.findall(r"(?<!tictactoe:)TicTacToe\w*-v0", snippet.text)  # with the prefix no import is needed
    monkeypatch.chdir(tmp_path)
    if "runs/NAME" in snippet.text:
        saved(tmp_path / "runs" / "NAME")
    exec(snippet.text, {})
    if snippet.page in EXACT:
        lines = iter(capsys.readouterr().out.splitlines())
        assert [line for line in promised(snippet.text) if line not in lines] == []  # each after the one before it


def promised(snippet: str) -> list[str]:
    """Return the lines that a snippet's comments behind and below its `print` calls say it prints."""
    found = []
    printing = False
    for line in snippet.splitlines():
        call, _, comment = line.partition("# ")
        printing = "print(" in call or (printing and not call)
        if printing and comment:
            found.append(comment)
    return found


def test_what_a_snippet_promises_is_read() -> None:
    assert promised("print(1)  # 1\n# no more\nx = 2  # two\n# three\n    print(x)\n#  2 .\n# 3\n") == [
        "1",
        "no more",
        " 2 .",
        "3",
    ]


@pytest.mark.parametrize(("page", "says"), [("proofs.md", "77904 131184")])
def test_a_snippet_prints_what_its_page_says(
    page: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    content = ROOT / "docs" / page
    assert says in content.read_text()
    makes = {"77904 131184": "class Uniform"}[says]
    [snippet] = [block for block in blocks("python", content) if makes in block.text]
    monkeypatch.chdir(tmp_path)
    exec(snippet.text, {})
    assert says in capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_command_line_is_understood(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "runs" / "NAME")
    for block in blocks("bash", document):
        for line in command_lines(block):
            words = shlex.split(line, comments=True)
            assert parses(words), f"{name_of(block)}: {line}"
    # In a sentence a command line may be shortened, but its command has to be one.
    for sentence in re.findall(r"`((?:selfplay|python -m selfplay|python train\.py) [^`]*)`", document.read_text()):
        words = sentence.split()
        command = words[words.index("selfplay") + 1] if "selfplay" in words else "train"
        assert command in {*COMMANDS, "COMMAND"}, f"{document.name}: {sentence}"
    capsys.readouterr()  # the help that was asked for


COMMANDS: dict[str, Callable[[list[str], str], object]] = {
    "train": train.read,
    "prove": lambda args, prog: parse(prove.ProveConfig, args, prog),
    "repair": lambda args, prog: parse(repair.RepairConfig, args, prog),
    "certify": lambda args, prog: parse(certify.CertifyConfig, args, prog),
    "play": lambda args, prog: parse(play.PlayConfig, args, prog),
    "arena": lambda args, prog: parse(arena.ArenaConfig, args, prog),
    "web": lambda args, prog: parse(web.WebConfig, args, prog),
    "sweep": lambda args, prog: parse(sweep.SweepConfig, args, prog),
    "report": lambda args, prog: parse(report.ReportConfig, args, prog),
    "course": lambda args, prog: parse(course.CourseConfig, args, prog),
}
"""How each command reads its arguments."""


def parses(words: list[str]) -> bool:
    """Tell whether this program understands a command line; one of another program is not ours to judge."""
    if words[:2] == ["python", "train.py"]:
        words = ["selfplay", "train", *words[2:]]
    elif words[:3] == ["python", "-m", "selfplay"]:
        words = words[2:]
    if words[:1] != ["selfplay"]:
        return True
    command, *args = words[1:]
    if command not in COMMANDS:
        return False
    try:
        COMMANDS[command](args, f"selfplay {command}")
    except SystemExit as ended:  # of --help
        return ended.code in (0, None)
    return True


def test_a_command_line_that_is_wrong_is_found() -> None:
    assert not parses(["selfplay", "sing"])
    assert parses(["ls"])
    with pytest.raises(UserError, match="no algorithm"):
        parses(["python", "train.py", "alpha-zero"])
    for wrong in (["train", "--sed", "1"], ["prove"], ["play", "--seat", "third"], ["arena", "shipped"]):
        with pytest.raises(UserError):
            parses(["python", "-m", "selfplay", *wrong])


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_no_document_names_a_module_as_a_command(document: Path) -> None:
    assert "python -m selfplay." not in document.read_text()


def test_every_dependency_is_accounted_for() -> None:
    project = (ROOT / "pyproject.toml").read_text().split("[tool.")[0]
    names = set(re.findall(r'"([a-z0-9-]+)>=', project))
    assert {"gymnasium", "torch", "tyro", "pytest"} <= names
    for name in names:
        assert re.search(rf"^\|.*\b{name}\b.*\|$", CONTRIBUTING.read_text(), re.MULTILINE), name


def test_every_package_and_top_level_module_is_on_the_map() -> None:
    mapped = set(re.findall(r"`([\w/.]+)`", CONTRIBUTING.read_text()))
    for package in (ROOT / "envs" / "tictactoe", ROOT / "agents" / "selfplay"):
        folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
        modules = {path.name for path in package.glob("*.py") if not path.stem.startswith("__")}
        assert sorted((folders | modules) - mapped) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_every_link_leads_somewhere(document: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", document.read_text()):
        place, _, anchor = link.partition("#")
        if not place.startswith("https://"):
            target = document.parent / place if place else document
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return what links to a page's headings end in, as GitHub makes them of the headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
