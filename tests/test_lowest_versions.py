"""The lowest versions that pyproject.toml admits: with them a user trains, proves, exports, certifies and plays."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

COMMANDS = """\
python=$1 torch=$2 project=$3
$python -m venv --without-pip venv
# PyTorch is the release that all tests use: on Linux older ones bring gigabytes, so its bound is not tested.
$python -m pip --python venv install --quiet --no-compile torch==$torch
echo "torch; python_version < '0'" > others.txt
$python -m uv pip install --python venv --override others.txt --resolution lowest-direct \\
    --only-binary :all: --no-binary tictactoe-selfplay "$project[human,train]"
source venv/bin/activate

python - << END
import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test
from tictactoe import tictactoe_v0

for name in ("TicTacToe-v0", "TicTacToeVersus-v0"):
    check_env(gymnasium.make(f"tictactoe:{name}").unwrapped)
gymnasium.make_vec("tictactoe:TicTacToe-v0", num_envs=3).reset(seed=0)
api_test(tictactoe_v0.env(), num_cycles=100)
END
selfplay train --total-steps 4000 --eval-every 2000 --run-dir it
selfplay prove it | grep "NOT unbeatable"
selfplay prove shipped | grep "PROVED UNBEATABLE AND OPTIMAL"
selfplay web it --out it.html
selfplay certify shipped | grep "CERTIFIED"
selfplay course
"""


@pytest.mark.index
def test_a_user_of_the_lowest_versions_gets_what_others_get(tmp_path: Path) -> None:
    bash = ["bash", "-e", "-o", "pipefail", "-c", COMMANDS, "bash"]
    words = [*bash, sys.executable, version("torch"), str(Path(__file__).parents[1])]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
