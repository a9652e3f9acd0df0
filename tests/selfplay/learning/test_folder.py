"""A run folder gives back the same player, says in one line what is wrong with a bad one, and is named by its run."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import selfplay
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.learning import folder as run_folder
from selfplay.learning.api import read_settings
from selfplay.settings import RunSettings
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import make_learner
from tests.runs import refused, save
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

DQN, TABLE, ACTIONS = config_with(), TDBackupConfig(seed=1000), MinimaxQConfig(seed=1000)
MODELS = [
    config_with(mask=True, dueling=True, hidden=(8, 4)),
    config_with(perspective="absolute", hidden=()),
    config_with(convolution=(6, 5), networks="separate", dueling=True),
    config_with(lines=3),
    ACTIONS,
    AfterstateQConfig(seed=1000, run_dir=Path("anywhere")),
    TDValueConfig(seed=1000, opponent="self"),
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


def edit(run: Path, **changes: Any) -> None:
    """Change config.json as somebody might by hand; `config` takes only the settings to be changed."""
    content = json.loads((run / "config.json").read_text())
    content["config"].update(changes.pop("config", {}))
    (run / "config.json").write_text(json.dumps(content | changes))


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


def test_a_missing_folder_or_file_is_named(run: Path) -> None:
    assert refused(selfplay.load, run / "nowhere") == f"{run / 'nowhere'}: there is no such run folder"
    for name in ("model.safetensors", "config.json"):
        (run / name).unlink()
        assert refused(selfplay.load, run).startswith(f"{run / name}: ")


@pytest.mark.parametrize("number", [2, None, "1"])
def test_a_folder_of_another_format_is_refused(run: Path, number: Any) -> None:
    edit(run, format=number)
    made = "train it again, or use the version that made it"
    expected = f"{run / 'config.json'}: has the format {number!r}, and this program reads format 1; {made}"
    assert refused(selfplay.load, run) == expected


@pytest.mark.parametrize("run", [TABLE], indirect=True, ids=["table"])
@pytest.mark.parametrize("algorithm", ["minimax-q", "sarsa", ["td-backup"], None])
def test_the_settings_of_another_algorithm_or_of_none_are_refused(run: Path, algorithm: Any) -> None:
    edit(run, algorithm=algorithm)
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
        (TABLE, ACTIONS, "for 3x3 table must be (19683,), but is (19683, 9)"),
        (TABLE, TDBackupConfig(rows=2), "for 3x3 table must be (19683,), but is (729,)"),
    ],
    indirect=["run"],
    ids=["board", "algorithm", "table", "board of a table"],
)
def test_a_model_of_another_run_is_refused(run: Path, tmp_path: Path, other: Any, gist: str) -> None:
    save(tmp_path / "other", other, player_of(other))
    (tmp_path / "other" / "model.safetensors").replace(run / "model.safetensors")
    assert gist in refused(selfplay.load, run)


@pytest.mark.parametrize("run", [DQN, TABLE], indirect=True, ids=["dqn", "table"])
@pytest.mark.parametrize("value", [np.nan, np.inf, None])
def test_a_model_of_other_numbers_is_refused(run: Path, value: float | None) -> None:
    tensors = load_file(run / "model.safetensors")
    name = "table" if "table" in tensors else "shared.advantage.bias"
    if value is None:
        tensors[name] = tensors[name].astype(np.float16)
    else:
        tensors[name][-1] = value
    save_file(tensors, run / "model.safetensors")
    gist = "must be of torch.float" if value is None else "is not made of finite numbers"
    assert f"model.safetensors: {name} {gist}" in refused(selfplay.load, run)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("rows", "3", "config.json: rows= must be of type int, got '3'"),
        ("hidden", [100_000, 100_000], DESCRIBED),  # 40 gigabytes, and nothing of it is made
        ("learning_rate", 10**400, "config.json: learning_rate= must be "),
        ("seed", 10**4_000, "config.json: seed= must be "),
        ("k", 9, "config.json: k must be at most the longer side of the board"),
        ("\x1b[2J\n" + "x" * 9_000, 1, r"another version of this program (settings that differ: '\x1b[2J\nxxx"),
    ],
)
def test_a_setting_that_does_not_fit_is_refused(run: Path, name: str, value: Any, reason: str) -> None:
    edit(run, config={name: value})
    message = refused(selfplay.load, run)
    assert message.startswith(f"{run}/")
    assert reason in message
    assert message.isprintable()
    assert len(message) < 2_010


def test_a_run_folder_must_be_new_or_empty(run: Path, tmp_path: Path) -> None:
    assert "has files in it already; choose a new or empty run_dir=" in refused(run_folder.create, run)
    assert "cannot be made" in refused(run_folder.create, run / "config.json")
    (tmp_path / "killed" / "checkpoint").mkdir(parents=True)
    (tmp_path / "killed" / "config.json.partial").touch()
    run_folder.create(tmp_path / "killed")
    (tmp_path / "killed" / "checkpoint" / "1-a.safetensors").touch()
    assert "has files in it already" in refused(run_folder.create, tmp_path / "killed")


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (DQNConfig(seed=1, mask=True, double=True), "dqn-3x3x3-1-mask-double"),
        (
            DQNConfig(rows=4, cols=5, k=4, hidden=(64, 32), learning_rate=1e-3),
            "dqn-4x5x4-0-hidden-64x32-learning-rate-0.001",
        ),
        (PRESETS["article"], "dqn-3x3x3-0-article"),
        (TDValueConfig(back_up_losses=False), "td-value-3x3x3-0-no-back-up-losses"),
        (
            MinimaxQConfig(from_table=Path("a/my table.csv"), tables="separate"),
            "minimax-q-3x3x3-0-tables-separate-from-table-my-table.csv",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_name_of_a_run_says_in_what_it_differs_from_the_defaults(config: RunSettings, name: str) -> None:
    assert re.fullmatch(re.escape(name) + r"-\d{8}-\d{6}", run_folder.default_run_dir(config).name)


def test_the_name_of_a_run_is_short_however_much_differs() -> None:
    config = DQNConfig(hidden=(1_000,) * 40, convolution=(8,) * 40)
    assert len(run_folder.default_run_dir(config).name) < 120
    assert run_folder.differences(config) == {"hidden": (1_000,) * 40, "convolution": (8,) * 40}
