"""The lowest versions that pyproject.toml admits: with them a user trains, proves, exports, certifies and plays."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ENVIRONMENT = """\
import gymnasium
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test
from tictactoe import tictactoe_v0
for name in ("TicTacToe-v0", "TicTacToeVersus-v0"):
    check_env(gymnasium.make(f"tictactoe:{name}").unwrapped)
gymnasium.make_vec("tictactoe:TicTacToe-v0", num_envs=3).reset(seed=0)
api_test(tictactoe_v0.env(), num_cycles=100)
"""


def run(*words: str | Path, cwd: Path) -> str:
    """Return what a command prints, which must succeed."""
    ended = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{words}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.mark.index
def test_a_user_of_the_lowest_versions_gets_what_others_get(tmp_path: Path) -> None:
    place, others = tmp_path / "venv", tmp_path / "others.txt"
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=tmp_path)
    # PyTorch is the release that all tests use: on Linux older ones bring gigabytes, so its bound is not tested.
    pip = [sys.executable, "-m", "pip", "--python", str(place), "install", "--quiet", "--no-compile"]
    run(*pip, f"torch=={version('torch')}", cwd=tmp_path)
    others.write_text("torch; python_version < '0'\n")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--python", str(place), "--override", str(others)]
    lowest = ["--resolution", "lowest-direct", "--only-binary", ":all:", "--no-binary", "tictactoe-selfplay"]
    run(*uv, *lowest, f"{ROOT}[human,train]", cwd=tmp_path)

    run(place / "bin" / "python", "-c", ENVIRONMENT, cwd=tmp_path)
    selfplay = place / "bin" / "selfplay"
    run(selfplay, "train", "--total-steps", "4000", "--eval-every", "2000", "--run-dir", "it", cwd=tmp_path)
    assert "NOT unbeatable" in run(selfplay, "prove", "it", cwd=tmp_path)
    assert "PROVED UNBEATABLE AND OPTIMAL" in run(selfplay, "prove", "shipped", cwd=tmp_path)
    run(selfplay, "web", "it", "--export", "it.html", cwd=tmp_path)
    assert "CERTIFIED" in run(selfplay, "certify", "shipped", cwd=tmp_path)
    run(selfplay, "course", cwd=tmp_path)
