"""The documents say what is so: their commands are the ones that CI runs, and their snippets run."""

import re
from pathlib import Path

import pytest

from tests.runs import saved

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_ci_runs_the_readmes_test_command() -> None:
    commands = [line for block in blocks("bash") for line in block.splitlines() if line.endswith(".venv/bin/pytest")]
    assert len(commands) == 1
    assert commands[0] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_each_snippet_of_the_readme_runs_by_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "run"
    saved(folder)
    snippets = blocks("python")
    assert len(snippets) >= 5
    for snippet in snippets:
        assert not re.findall(r"(?<!tictactoe:)TicTacToe\w*-v0", snippet)  # with the prefix no import is needed
        exec(snippet.replace("runs/NAME", str(folder)), {})
    assert "0 (0, 2, 6, 8)" in capsys.readouterr().out


def test_every_dependency_is_accounted_for() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    project = (ROOT / "pyproject.toml").read_text().split("[tool.")[0]
    names = set(re.findall(r'"([a-z0-9-]+)>=', project))
    assert {"gymnasium", "torch", "tyro", "pytest"} <= names
    for name in names:
        assert re.search(rf"^\|.*\b{name}\b.*\|$", contributing, re.MULTILINE), name


def test_every_module_has_its_place_in_the_map() -> None:
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    packages = ROOT / "envs" / "tictactoe", ROOT / "agents" / "selfplay"
    modules = [path.stem for package in packages for path in package.glob("*.py") if path.stem != "__init__"]
    assert len(modules) > 40
    lost = [name for name in modules if not re.search(rf"^\|[^|]*\b{name}\b(?!/)", contributing, re.MULTILINE)]
    assert lost == []


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "docs/performance.md"])
def test_every_link_leads_somewhere(document: str) -> None:
    path = ROOT / document
    for link in re.findall(r"\]\(([^)]+)\)", path.read_text()):
        place, _, anchor = link.partition("#")
        if not place.startswith("https://"):
            target = path.parent / place if place else path
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def anchors(page: Path) -> set[str]:
    """Return what links to a page's headings end in, as GitHub makes them of the headings."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
