"""The package offers what it says and stays light, and every environment says which settings it takes."""

import inspect
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import pytest

import tictactoe
from tests.tictactoe.driver import VERSUS
from tictactoe import TicTacToeEnv, TicTacToeVersusEnv, tictactoe_v0

ROOT = Path(__file__).parents[2]


def test_everything_offered_is_there() -> None:
    for name in tictactoe.__all__:
        assert getattr(tictactoe, name).__name__ == name


def test_the_version_is_that_of_the_project() -> None:
    [version] = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    assert tictactoe.__version__ == version


@pytest.mark.parametrize("make", [TicTacToeVersusEnv, tictactoe_v0.env])
def test_every_environment_shows_its_settings(make: Any) -> None:
    shown, common = (inspect.signature(made).parameters for made in (make, TicTacToeEnv))
    own = {"opponent", "seat"} if make is TicTacToeVersusEnv else set()
    assert shown.keys() - own == common.keys()
    assert [name for name in shown if name not in own] == list(common)
    for name, parameter in common.items():
        assert shown[name].default == (parameter.default if name != "dict_observation" or own else True)
        assert shown[name].annotation == parameter.annotation


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (TicTacToeEnv, "TicTacToeEnv.__init__"),
        (TicTacToeVersusEnv, "TicTacToeVersusEnv.__init__"),
        (tictactoe_v0.env, "raw_env.__init__"),
        (lambda **settings: gymnasium.make(VERSUS, **settings), "TicTacToeVersusEnv.__init__"),
    ],
)
def test_a_misspelt_setting_names_what_was_called(make: Any, named: str) -> None:
    with pytest.raises(TypeError, match=rf"^{named}\(\) got an unexpected keyword argument 'colls'"):
        make(colls=4)


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
