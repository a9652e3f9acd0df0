"""A run folder gives back the same player, and says in one line what is wrong with a bad one."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import selfplay
from selfplay.algorithms import read_settings
from selfplay.dqn.config import DQNConfig
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import make_learner
from selfplay.training import folder as run_folder
from tests.runs import refused, save, saved
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

DQN, TABLE = config_with(), TDBackupConfig(seed=1000)
TABLES: list[TabularConfig] = [
    MinimaxQConfig(seed=1000),
    MinimaxQConfig(seed=1000, tables="separate"),
    AfterstateQConfig(seed=1000, run_dir=Path("anywhere")),
    TDValueConfig(seed=1000, opponent="self"),
    TABLE,
]
MODELS = [
    DQN,
    config_with(networks="separate"),
    config_with(mask=True, dueling=True, hidden=(8, 4)),
    config_with(perspective="absolute", hidden=()),
    config_with(convolution=(6, 5), networks="separate", dueling=True),
    config_with(lines=3),
    *TABLES,
]


def player_of(config: Any) -> Any:
    """Return the player of networks that have learned nothing, or of a table after some games."""
    if isinstance(config, DQNConfig):
        return make(config, separate=config.networks == "separate").player()
    learner = make_learner(config)
    learner.play(2_000)
    return learner.player()


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return the folder of a run with the settings of the test, or with those of a small DQN."""
    config: Any = getattr(request, "param", DQN)
    save(tmp_path / "run", config, player_of(config))
    return tmp_path / "run"


OF_TABLE = pytest.mark.parametrize("run", [TABLE], indirect=True, ids=["table"])
OF_BOTH = pytest.mark.parametrize("run", [DQN, TABLE], indirect=True, ids=["dqn", "table"])
EACH_FILE = pytest.mark.parametrize("name", ["config.json", "model.safetensors"])


def edit(run: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change config.json as somebody would by hand."""
    content = json.loads((run / "config.json").read_text())
    change(content)
    (run / "config.json").write_text(json.dumps(content))


@pytest.mark.parametrize("config", MODELS)
def test_loading_gives_back_the_settings_and_the_same_moves_in_every_decision_state(
    config: Any, tmp_path: Path
) -> None:
    player = player_of(config)
    save(tmp_path / "run", config, player)
    loaded = selfplay.load(tmp_path / "run")
    assert type(loaded) is type(player)
    assert loaded.rules == Rules()
    assert len(ABSOLUTE) == 4_520
    assert np.array_equal(loaded.q_values(ABSOLUTE), player.q_values(ABSOLUTE), equal_nan=True)
    assert np.array_equal(loaded.act(ABSOLUTE), player.act(ABSOLUTE))
    assert np.array_equal(loaded.act(MOVER), player.act(ABSOLUTE))
    dtypes = {tensor.dtype.name for tensor in load_file(tmp_path / "run" / "model.safetensors").values()}
    assert dtypes == {"float32" if isinstance(config, DQNConfig) else "float64"}
    read = read_settings(tmp_path / "run")[0]
    assert run_folder.settings(read) == run_folder.settings(config)
    assert type(read) is type(config)
    assert read.run_dir is None


def test_a_run_that_started_from_a_table_needs_that_file_no_more(tmp_path: Path) -> None:
    config = MinimaxQConfig(from_table=tmp_path / "deleted.csv")
    save(tmp_path / "run", config, make_learner(MinimaxQConfig()).player())
    assert read_settings(tmp_path / "run")[0] == config
    assert selfplay.load(tmp_path / "run").act(ABSOLUTE).shape == (4_520,)


@pytest.mark.parametrize("run", [TDBackupConfig(rows=2, cols=4)], indirect=True, ids=["2x4"])
def test_another_board_comes_back_from_a_folder_that_was_moved(run: Path, tmp_path: Path) -> None:
    loaded = selfplay.load(str(run.rename(tmp_path / "elsewhere")))
    assert loaded.rules == Rules(2, 4, 3)
    expected = player_of(TDBackupConfig(rows=2, cols=4))
    assert selfplay.evaluate(loaded, loaded.rules) == selfplay.evaluate(expected, loaded.rules)


def test_no_file_is_left_half_written(tmp_path: Path) -> None:
    saved(tmp_path / "it")
    names = sorted(path.name for path in (tmp_path / "it").iterdir())
    assert names == ["config.json", "evaluation.json", "model.safetensors"]


def test_a_missing_folder(tmp_path: Path) -> None:
    assert refused(selfplay.load, tmp_path / "nowhere") == f"{tmp_path / 'nowhere'}: there is no such run folder"


@EACH_FILE
def test_a_missing_file(run: Path, name: str) -> None:
    (run / name).unlink()
    assert refused(selfplay.load, run).startswith(f"{run / name}: ")


@EACH_FILE
@pytest.mark.parametrize("kept", [0, 1, 7, 100, -1])
def test_a_truncated_file(run: Path, name: str, kept: int) -> None:
    # The configuration ends in a line break, which is no loss.
    content = (run / name).read_bytes().rstrip(b"\n")
    (run / name).write_bytes(content[:kept])
    assert f"{run / name}: is truncated or not" in refused(selfplay.load, run)


@pytest.mark.parametrize(
    "content", [b"\x80\x04K\x01.", b"\xff" * 64, b"[]", b'{"algorithm": "other"}', b"null", b"[" * 100_000]
)
@EACH_FILE
def test_a_foreign_file(run: Path, name: str, content: bytes) -> None:
    (run / name).write_bytes(content)
    assert str(run / name) in refused(selfplay.load, run)


@OF_TABLE
@pytest.mark.parametrize("algorithm", ["minimax-q", "sarsa", ["td-backup"], None, {}])
def test_the_settings_of_another_algorithm_or_of_none(run: Path, algorithm: Any) -> None:
    edit(run, lambda content: content.update(algorithm=algorithm))
    gist = "is not the configuration of a run of dqn, minimax-q, afterstate-q, td-"
    if algorithm == "minimax-q":
        gist = "is from another version of this program (settings that differ: 'cols',"
    assert f"config.json: {gist}" in refused(selfplay.load, run)


DESCRIBED = "model.safetensors: holds other tensors than config.json describes"


@pytest.mark.parametrize(
    ("run", "other", "gist"),
    [
        (DQN, config_with(rows=2, cols=4), "is of another board or network than config.json describes: for 3x3"),
        (TABLE, DQN, DESCRIBED),
        *((TABLE, other, "for 3x3 table must be (19683,), but is") for other in (*TABLES[:2], TABLES[3])),
        (TABLE, TDBackupConfig(rows=2), "for 3x3 table must be (19683,), but is"),
    ],
    indirect=["run"],
)
def test_a_model_of_another_run(run: Path, tmp_path: Path, other: Any, gist: str) -> None:
    save(tmp_path / "other", other, player_of(other))
    (tmp_path / "other" / "model.safetensors").replace(run / "model.safetensors")
    message = refused(selfplay.load, run)
    assert "model.safetensors: " in message
    assert gist in message


def test_a_model_with_one_tensor_more(run: Path) -> None:
    tensors = load_file(run / "model.safetensors")
    save_file(tensors | {"extra": np.zeros(3, np.float32)}, run / "model.safetensors")
    assert f"{DESCRIBED} (extra)" in refused(selfplay.load, run)


@OF_BOTH
def test_a_name_that_moves_the_cursor_is_shown_and_cut(run: Path) -> None:
    tensors = load_file(run / "model.safetensors")
    save_file(tensors | {"\x1b[2J\n" + "x" * 9_000: np.zeros(3, np.float32)}, run / "model.safetensors")
    message = refused(selfplay.load, run)
    assert message.isprintable()
    assert f"{DESCRIBED} (\\x1b[2J\\nxxx" in message
    assert len(message) < 2_010


@OF_BOTH
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_model_with_numbers_that_are_none(run: Path, value: float) -> None:
    tensors = load_file(run / "model.safetensors")
    name = "table" if "table" in tensors else "shared.advantage.bias"
    tensors[name][-1] = value
    save_file(tensors, run / "model.safetensors")
    kind = tensors[name].dtype.name
    assert f"model.safetensors: {name} is not made of finite {kind} numbers" in refused(selfplay.load, run)


@OF_TABLE
def test_a_table_of_less_exact_numbers(run: Path) -> None:
    save_file({"table": np.zeros(3**9, np.float32)}, run / "model.safetensors")
    assert "model.safetensors: table is not made of finite float64 numbers" in refused(selfplay.load, run)


@pytest.mark.parametrize(
    ("run", "name", "value", "reason"),
    [
        (DQN, "rows", 0, "config.json: rows must be a positive integer, got 0"),
        (DQN, "rows", "3", "config.json: --rows must be of type int, got '3'"),
        (DQN, "hidden", [8, "x"], "config.json: --hidden must be values of type int, got (8, 'x')"),
        (DQN, "hidden", [8_000, 8_000], DESCRIBED),  # a quarter of a gigabyte, of which nothing is made before
        (DQN, "convolution", [2.5], "config.json: --convolution must be values of type int, got (2.5,)"),
        (DQN, "mask", 1, "config.json: --mask must be of type bool, got 1"),
        (DQN, "gamma", None, "config.json: --gamma must be of type float, got None"),
        (DQN, "k", 9, "config.json: k must be at most the longer side of the board"),
        (DQN, "networks", "many", "config.json: --networks must be one of shared, separate, got 'many'"),
        (TABLE, "rows", 5, "for 5x3 table must be (14348907,), but is (19683,)"),
        (TABLE, "rows", 6, "config.json: a table for a 6x3 board holds 3^18 values"),
        (TABLE, "games", "many", "config.json: --games must be of type int, got 'many'"),
        (TABLE, "alpha", 0, "config.json: --alpha must be above 0 and at most 1, got 0"),
    ],
    indirect=["run"],
)
def test_a_setting_that_does_not_fit(run: Path, name: str, value: Any, reason: str) -> None:
    edit(run, lambda content: content["config"].update({name: value}))
    assert f"{run}/" in refused(selfplay.load, run)
    assert reason in refused(selfplay.load, run)


def test_a_setting_too_much_and_one_too_few(run: Path) -> None:
    edit(run, lambda content: content["config"].update(wings=content["config"].pop("gamma")))
    gist = "is from another version of this program (settings that differ: 'gamma', 'wings')"
    assert gist in refused(selfplay.load, run)


def test_a_run_from_before_the_convolutions_has_none(run: Path) -> None:
    edit(run, lambda content: content["config"].pop("convolution"))
    assert read_settings(run)[0] == DQN
    assert selfplay.load(run).rules == DQN.rules


def test_a_run_folder_must_be_new_or_empty(run: Path, tmp_path: Path) -> None:
    assert "has files in it already; choose a new or empty --run-dir" in refused(run_folder.create, run)
    assert "cannot be made" in refused(run_folder.create, run / "config.json")
    assert "is no name in UTF-8" in refused(run_folder.create, tmp_path / os.fsdecode(b"\xff"))
    (tmp_path / "empty").mkdir()
    run_folder.create(tmp_path / "empty")
