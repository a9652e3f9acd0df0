"""Check in a fresh interpreter that the environment stays light."""

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "pygame", "matplotlib", "PIL", "selfplay")

SCRIPTS = {
    "import": "import tictactoe",
    "play": """
import gymnasium
env = gymnasium.make("tictactoe:TicTacToe-v0", render_mode="ansi")
env.reset(seed=0)
for cell in (0, 3, 1, 4, 2):
    env.step(cell)
env.render()
""",
    "draw": """
import tictactoe, tictactoe.rendering.window
from tictactoe.rendering.pixels import board_image
board_image(tictactoe.Rules(), 0b111, 0b11000, 2)
""",
    "batch": """
import numpy
from tictactoe import Rewards, Rules, batch
batch.step(Rules(), Rewards(), batch.reset(Rules(), 2, numpy), numpy.array([0, 1]))
""",
    "solve": """
import tictactoe
tictactoe.solve(tictactoe.Rules(2, 3, 2))
""",
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_nothing_heavy_is_imported(name: str) -> None:
    script = f"{SCRIPTS[name]}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    imported = {module.partition(".")[0] for module in json.loads(finished.stdout)}
    assert "tictactoe" in imported
    assert imported.isdisjoint(HEAVY)
