"""The run folder of a tabular learner gives back the same player, and says in one line what is wrong with a bad one."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import selfplay
from selfplay.algorithms import read_settings
from selfplay.errors import UserError
from selfplay.runs import folder as run_folder
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learner import Algorithm, make_algorithm
from selfplay.tensor_file import write_tensors
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

CONFIGS: list[TabularConfig] = [
    MinimaxQConfig(seed=1000),
    MinimaxQConfig(seed=1000, tables="separate"),
    AfterstateQConfig(seed=1000, run_dir=Path("anywhere")),
    TDValueConfig(seed=1000, opponent="self"),
    TDBackupConfig(seed=1000),
]
EACH = pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.algorithm)


def saved(folder: Path, config: TabularConfig) -> Algorithm:
    learner = make_algorithm(config)
    learner.play(2_000)
    run_folder.create(folder)
    run_folder.write_config(folder, config, {})
    write_tensors(folder / run_folder.MODEL, learner.player().tensors())
    return learner


@EACH
def test_loading_gives_back_the_same_moves_in_every_decision_state(config: TabularConfig, tmp_path: Path) -> None:
    player = saved(tmp_path / "run", config).player()
    loaded = selfplay.load(tmp_path / "run")
    assert type(loaded) is type(player)
    assert loaded.rules == Rules()
    assert len(ABSOLUTE) == 4_520
    assert np.array_equal(loaded.q_values(ABSOLUTE), player.q_values(ABSOLUTE), equal_nan=True)
    assert np.array_equal(loaded.act(ABSOLUTE), player.act(ABSOLUTE))
    assert np.array_equal(loaded.act(MOVER), player.act(ABSOLUTE))
    assert load_file(tmp_path / "run" / "model.safetensors")["table"].dtype == np.float64


@EACH
def test_the_settings_come_back(config: TabularConfig, tmp_path: Path) -> None:
    saved(tmp_path / "run", config)
    read = read_settings(tmp_path / "run")[0]
    assert run_folder.settings(read) == run_folder.settings(config)
    assert type(read) is type(config)
    assert read.run_dir is None


def test_a_run_that_started_from_a_table_needs_that_file_no_more(tmp_path: Path) -> None:
    config = MinimaxQConfig(from_table=tmp_path / "deleted.csv")
    run_folder.create(tmp_path / "run")
    run_folder.write_config(tmp_path / "run", config, {})
    write_tensors(tmp_path / "run" / run_folder.MODEL, make_algorithm(MinimaxQConfig()).player().tensors())
    assert read_settings(tmp_path / "run")[0] == config
    assert selfplay.load(tmp_path / "run").act(ABSOLUTE).shape == (4_520,)


def test_another_board_comes_back(tmp_path: Path) -> None:
    player = saved(tmp_path / "run", TDBackupConfig(rows=2, cols=4)).player()
    loaded = selfplay.load(tmp_path / "run")
    assert loaded.rules == Rules(2, 4, 3)
    assert selfplay.evaluate(loaded, loaded.rules) == selfplay.evaluate(player, loaded.rules)


def refusal(run: Path) -> str:
    with pytest.raises(UserError) as caught:
        selfplay.load(run)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.fixture
def run(tmp_path: Path) -> Path:
    saved(tmp_path / "run", TDBackupConfig())
    return tmp_path / "run"


@pytest.mark.parametrize("algorithm", ["sarsa", ["td-backup"], None, {}])
def test_an_algorithm_that_is_none(run: Path, algorithm: Any) -> None:
    content = json.loads((run / "config.json").read_text())
    content["algorithm"] = algorithm
    (run / "config.json").write_text(json.dumps(content))
    assert "config.json: is not the configuration of a run of dqn, minimax-q, afterstate-q, td-" in refusal(run)


@pytest.mark.parametrize("config", [CONFIGS[0], CONFIGS[1], CONFIGS[3], TDBackupConfig(rows=2)])
def test_a_table_of_another_run(run: Path, tmp_path: Path, config: TabularConfig) -> None:
    saved(tmp_path / "other", config)
    (run / "model.safetensors").write_bytes((tmp_path / "other" / "model.safetensors").read_bytes())
    assert "for 3x3 table must be (19683,), but is" in refusal(run)


def test_the_networks_of_a_dqn_are_no_table(run: Path) -> None:
    write_tensors(run / run_folder.MODEL, make(config_with()).player().tensors())
    assert "model.safetensors: holds other tensors than config.json describes" in refusal(run)


def test_the_settings_of_another_algorithm(run: Path) -> None:
    content = json.loads((run / "config.json").read_text())
    content["algorithm"] = "minimax-q"
    (run / "config.json").write_text(json.dumps(content))
    assert "is from another version of this program (settings that differ: 'cols'," in refusal(run)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("rows", 5, "for 5x3 table must be (14348907,), but is (19683,)"),
        ("rows", 6, "a table for a 6x3 board holds 3^18 values"),
        ("games", "many", "--games must be of type int, got 'many'"),
        ("alpha", 0, "--alpha must be above 0 and at most 1, got 0"),
    ],
)
def test_a_setting_that_does_not_fit(run: Path, name: str, value: Any, reason: str) -> None:
    content = json.loads((run / "config.json").read_text())
    content["config"][name] = value
    (run / "config.json").write_text(json.dumps(content))
    assert reason in refusal(run)


@pytest.mark.parametrize(
    "table", [np.zeros(3**9, np.float32), np.full(3**9, np.nan), np.r_[np.zeros(3**9 - 1), np.inf]]
)
def test_a_table_of_other_numbers(run: Path, table: np.ndarray) -> None:
    save_file({"table": table}, run / "model.safetensors")
    assert "model.safetensors: table is not made of finite float64 numbers" in refusal(run)
