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
def test_the_lowest_versions_are_enough(tmp_path: Path) -> None:
    place = tmp_path / "venv"
    python, selfplay = place / "bin" / "python", place / "bin" / "selfplay"
    # PyTorch is the one that these tests use: on PyPI its older releases bring gigabytes, so its bound is not tested.
    others = tmp_path / "overrides.txt"
    others.write_text("torch; python_version < '0'\n")
    lowest = ["--resolution", "lowest-direct", "--only-binary", ":all:", "--no-binary", "tictactoe-selfplay"]
    run(sys.executable, "-m", "venv", "--without-pip", place, cwd=tmp_path)
    run(
        *(sys.executable, "-m", "pip", "--python", place, "install", "--quiet", "--no-compile"),
        f"torch=={version('torch')}",
        cwd=tmp_path,
    )
    run(
        *(sys.executable, "-m", "uv", "pip", "install", "--python", place, "--override", others, *lowest),
        f"{ROOT}[human,train]",
        cwd=tmp_path,
    )
    run(python, "-c", ENVIRONMENT, cwd=tmp_path)
    run(selfplay, "train", "--total-steps", "4000", "--eval-every", "2000", "--run-dir", "it", cwd=tmp_path)
    assert "NOT unbeatable" in run(selfplay, "prove", "it", cwd=tmp_path)
    assert "PROVED UNBEATABLE AND OPTIMAL" in run(selfplay, "prove", "shipped", cwd=tmp_path)
    run(selfplay, "web", "it", "--export", "it.html", cwd=tmp_path)
    assert "CERTIFIED" in run(selfplay, "certify", "shipped", cwd=tmp_path)
    run(selfplay, "course", cwd=tmp_path)
