"""What type checkers, editors and help() know of the settings."""

import inspect
import re
import subprocess
import sys
from pathlib import Path

import selfplay
from docs.typed_settings import PLACE, stub
from tests.runs import ROOT

README = ROOT / "README.md"

RIGHT = """\
import json
from pathlib import Path
import numpy as np
import selfplay
from tictactoe import Rules

run = selfplay.train(seed=1, mask=True, run_dir="runs/a", hidden=64)
run = selfplay.train("minimax-q", games=np.int64(2000), run_dir=Path("x"), progress=False)
run = selfplay.train(selfplay.TDValueConfig(games=300))
run = selfplay.train(**json.loads(Path("config.json").read_text()))
run = selfplay.train(resume=run, games=300)
for record in selfplay.training(rules=Rules(3, 4, 3), hidden=[64, 64], stop="optimal"):
    print(record.evaluation.unbeatable, record.player.rules)
run = selfplay.train("td-value", games=4e3)
print(run.proof, selfplay.open("runs/a").snapshots[3].q_values)
class Mine:
    rules = Rules()
    steps = 0
    def advance(self, most: int) -> None: ...
    def player(self) -> selfplay.Agent: return selfplay.load("shipped")
    def state(self) -> dict[str, object]: return {}
    def restore(self, state: object) -> None: ...
selfplay.train(learner=Mine(), total_steps=300, resume="runs/b")
"""
WRONG = """\
selfplay.train(hiden=64)
selfplay.train("minimax-q", total_steps=3)
selfplay.train(mask="yes")
selfplay.train("minimaxq")
selfplay.training(games=3)
selfplay.train(learner=3)
"""


def test_the_typed_settings_are_those_of_the_dataclasses() -> None:
    assert PLACE.read_text() == stub()


def test_a_type_checker_knows_right_from_wrong_uses(tmp_path: Path) -> None:
    script, of_readme = tmp_path / "script.py", tmp_path / "readme.py"
    script.write_text(RIGHT + WRONG)
    of_readme.write_text("\n".join(re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)))
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        ROOT / "pyproject.toml",
        script,
        of_readme,
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    found = {int(line) for line in re.findall(r"script.py:(\d+): error", done.stdout)}
    assert "readme.py" not in done.stdout
    first = RIGHT.count("\n") + 1
    assert found == {*range(first, first + WRONG.count("\n"))}, done.stdout


def test_help_shows_the_settings_with_their_defaults() -> None:
    for function in (selfplay.train, selfplay.training):
        parameters = inspect.signature(function).parameters
        assert parameters["hidden"].default == (256,)
        assert parameters["stop"].default == "unbeatable"
        assert "learner" in parameters
