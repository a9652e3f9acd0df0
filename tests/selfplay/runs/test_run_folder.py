"""A run folder gives back the same player, and says in one line what is wrong with a bad one."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import selfplay
from selfplay.algorithms import read_settings
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.proof.evaluation import evaluate
from selfplay.runs import folder as run_folder
from tests.runs import saved
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with, make


@pytest.fixture
def run(tmp_path: Path) -> Path:
    saved(tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"networks": "separate"},
        {"mask": True, "dueling": True, "hidden": (8, 4)},
        {"perspective": "absolute", "hidden": ()},
        {"convolution": (6, 5), "networks": "separate", "dueling": True},
    ],
)
def test_loading_gives_back_the_same_greedy_moves(tmp_path: Path, changes: dict[str, Any]) -> None:
    config = saved(tmp_path / "run", **changes)
    player = make(config, separate=config.networks == "separate").player()
    loaded = selfplay.load(tmp_path / "run")
    assert np.array_equal(loaded.q_values(ABSOLUTE), player.q_values(ABSOLUTE))
    assert np.array_equal(loaded.act(ABSOLUTE), player.act(ABSOLUTE))
    written = json.loads((tmp_path / "run" / "evaluation.json").read_text())
    assert written == evaluate(loaded, config.rules).as_dict()


def test_a_folder_can_be_moved(run: Path, tmp_path: Path) -> None:
    moved = run.rename(tmp_path / "elsewhere")
    assert selfplay.load(str(moved)).rules == DQNConfig().rules


def test_no_file_is_left_half_written(run: Path) -> None:
    assert sorted(path.name for path in run.iterdir()) == ["config.json", "evaluation.json", "model.safetensors"]


def refusal(run: Path) -> str:
    with pytest.raises(UserError) as caught:
        selfplay.load(run)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_missing_folder(tmp_path: Path) -> None:
    assert refusal(tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: there is no such run folder"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file(run: Path, name: str) -> None:
    (run / name).unlink()
    assert refusal(run).startswith(f"{run / name}: ")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("kept", [0, 1, 7, 100, -1])
def test_a_truncated_file(run: Path, name: str, kept: int) -> None:
    # The configuration ends in a line break, which is no loss.
    content = (run / name).read_bytes().rstrip(b"\n")
    (run / name).write_bytes(content[:kept])
    assert f"{run / name}: is truncated or not" in refusal(run)


@pytest.mark.parametrize(
    "content", [b"\x80\x04K\x01.", b"\xff" * 64, b"[]", b'{"algorithm": "other"}', b"null", b"[" * 100_000]
)
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_foreign_file(run: Path, name: str, content: bytes) -> None:
    (run / name).write_bytes(content)
    assert str(run / name) in refusal(run)


def test_a_model_of_another_board(run: Path, tmp_path: Path) -> None:
    saved(tmp_path / "other", rows=2, cols=4)
    (run / "model.safetensors").write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    message = refusal(run)
    assert "model.safetensors: is of another board or network than config.json describes: for 3x3" in message


def test_a_model_with_other_tensors(run: Path) -> None:
    tensors = load_file(run / "model.safetensors")
    tensors["extra"] = np.zeros(3, np.float32)
    save_file(tensors, run / "model.safetensors")
    assert "holds other tensors than config.json describes (extra)" in refusal(run)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_model_with_numbers_that_are_none(run: Path, value: float) -> None:
    tensors = load_file(run / "model.safetensors")
    tensors["shared.advantage.bias"][0] = value
    save_file(tensors, run / "model.safetensors")
    assert "shared.advantage.bias is not made of finite float32 numbers" in refusal(run)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("rows", 0, "rows must be a positive integer, got 0"),
        ("rows", "3", "--rows must be of type int, got '3'"),
        ("hidden", [8, "x"], "--hidden must be of type tuple, got (8, 'x')"),
        ("convolution", [2.5], "--convolution must be of type tuple, got (2.5,)"),
        ("mask", 1, "--mask must be of type bool, got 1"),
        ("gamma", None, "--gamma must be of type float, got None"),
        ("k", 9, "k must be at most the longer side of the board"),
        ("networks", "many", "--networks must be one of shared, separate, got 'many'"),
    ],
)
def test_a_setting_that_is_none(run: Path, name: str, value: Any, reason: str) -> None:
    content = json.loads((run / "config.json").read_text())
    content["config"][name] = value
    (run / "config.json").write_text(json.dumps(content))
    message = refusal(run)
    assert message.startswith(f"{run / 'config.json'}: ")
    assert reason in message


def test_a_setting_too_much_and_one_too_few(run: Path) -> None:
    content = json.loads((run / "config.json").read_text())
    content["config"]["wings"] = content["config"].pop("gamma")
    (run / "config.json").write_text(json.dumps(content))
    assert "is from another version of this program (settings that differ: 'gamma', 'wings')" in refusal(run)


def test_a_run_from_before_the_convolutions_has_none(run: Path) -> None:
    content = json.loads((run / "config.json").read_text())
    del content["config"]["convolution"]
    (run / "config.json").write_text(json.dumps(content))
    assert read_settings(run)[0] == config_with()
    assert selfplay.load(run).rules == config_with().rules


def test_a_huge_network_takes_no_memory_before_the_file_is_compared(run: Path) -> None:
    content = json.loads((run / "config.json").read_text())
    content["config"]["hidden"] = [8_000, 8_000]  # a quarter of a gigabyte
    (run / "config.json").write_text(json.dumps(content))
    assert "model.safetensors: holds other tensors than config.json describes" in refusal(run)


def test_a_run_folder_must_be_new_or_empty(run: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="has files in it already; choose a new or empty --run-dir"):
        run_folder.create(run)
    with pytest.raises(UserError, match="cannot be made"):
        run_folder.create(run / "config.json")
    with pytest.raises(UserError, match="is no name in UTF-8"):
        run_folder.create(tmp_path / os.fsdecode(b"\xff"))
    (tmp_path / "empty").mkdir()
    run_folder.create(tmp_path / "empty")
