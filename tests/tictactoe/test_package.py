"""The package says its version and stays light."""

import json
import re
import subprocess
import sys
from pathlib import Path

import tictactoe

ROOT = Path(__file__).parents[2]


def test_the_version_is_that_of_the_project() -> None:
    [version] = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert tictactoe.__version__ == version


USES = """
import json, sys
import gymnasium, numpy, tictactoe, tictactoe.rendering.window
from tictactoe import Rewards, Rules, batch
env = gymnasium.make("tictactoe:TicTacToe-v0", render_mode="rgb_array")
env.reset(seed=0)
env.step(4)
env.render()
batch.step(Rules(), Rewards(), batch.reset(Rules(), 2, numpy), numpy.array([0, 1]))
tictactoe.solve(Rules(2, 3, 2))
print(json.dumps(sorted(sys.modules)))
"""


def test_the_environment_stays_light() -> None:
    finished = subprocess.run([sys.executable, "-c", USES], capture_output=True, text=True, check=True)
    imported = {module.partition(".")[0] for module in json.loads(finished.stdout)}
    assert "tictactoe" in imported
    assert imported.isdisjoint({"torch", "pygame", "matplotlib", "PIL", "numba", "selfplay"})
