"""Units 1 and 2 print the same with what stands in for the packages in a browser, which is plain Python."""

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs import draw_course
from selfplay.cli import course

DOCS = Path(draw_course.__file__).parent
PROGRAM = """
import contextlib, io, json, sys
sys.path[:] = [path for path in sys.path if "site-packages" not in path]
sys.path.insert(0, sys.argv[1])
outputs, names = [], {"__name__": "__main__"}
for cell in json.load(sys.stdin):
    sys.displayhook = lambda value: value is None or print(value)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(cell, names)
    outputs.append(printed.getvalue())
print(json.dumps([outputs, "numpy" in sys.modules]))
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the modules that the browser imports, as the site packs them."""
    folder = tmp_path_factory.mktemp("modules")
    runpy.run_path(str(DOCS / "conf.py"))["pack_modules"](folder / "modules.zip")
    subprocess.run([sys.executable, "-m", "zipfile", "-e", "modules.zip", "."], cwd=folder, check=True)
    return folder


def run(cells: list[str], modules: Path) -> list[str]:
    """Return what cells print in a Python without other packages, where a failed check ends them."""
    command = [sys.executable, "-S", "-E", "-c", PROGRAM, str(modules)]
    done = subprocess.run(command, input=json.dumps(cells), capture_output=True, text=True, check=True)
    outputs, has_numpy = json.loads(done.stdout)
    assert not has_numpy
    return list(outputs)


def words(parts: Any) -> list[str]:
    return "".join(parts).replace(draw_course.UNASKED, "").split()


@pytest.mark.parametrize("unit", [1, 2])
def test_a_unit_prints_the_same_in_a_browser(unit: int, modules: Path) -> None:
    path = course.units()[unit - 1]
    stored = json.loads((draw_course.OUTPUTS / f"unit_{unit}.json").read_text())["outputs"]
    cells = draw_course.code(path)
    compared = 0
    for source, found, expected in zip(cells, run(cells, modules), stored, strict=True):
        if "savefig" not in source and "train(" not in source:  # which a browser does not
            assert words(found) == words(f"{part}\n" for part in expected)
            compared += bool(expected)
    assert compared > 5


AGENTS = """
from selfplay import counterexamples, evaluate
agents = {
    "first": lambda observation: observation[..., 0].argmax(),
    "last": lambda observation: 8 - [observation[c // 3, c % 3, 0] for c in range(9)][::-1].index(1),
    "always 4": lambda observation: 4,
    "next to mine": lambda observation: (sum(int(observation[c // 3, c % 3, 1]) * c for c in range(9)) + 4) % 9,
}
for name, agent in agents.items():
    for perspective in ("absolute", "mover"):
        verdict = evaluate(agent, perspective=perspective)
        print(name, perspective, verdict.first.ways_to_beat, verdict.second.ways_to_beat, verdict.ways_to_beat,
              verdict.optimal_states, verdict.decision_states, bool(verdict.unbeatable), bool(verdict.optimal))
        games = counterexamples(agent, perspective=perspective).shortest
        print([game and len(game) for game in games])
"""


def test_the_verdict_is_that_of_the_package(modules: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exec(AGENTS, {})
    assert run([AGENTS], modules) == [capsys.readouterr().out]


GAMES = """
from selfplay.lessons import play
for cells in ((), (4,), (4, 2, 6), (8, 7, 3), (4, 0), (9,), (1, 3, 5, 8, 6)):
    play(lambda observation: observation[..., 0].argmax(), cells)
    play(lambda observation: 4, cells)
"""


def test_a_game_is_that_of_the_package(
    modules: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "displayhook", print)
    exec(GAMES, {})
    assert run([GAMES], modules) == [capsys.readouterr().out]
