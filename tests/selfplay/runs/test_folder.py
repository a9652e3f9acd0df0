"""A run folder gives back the same player and settings, names what is wrong with it, and is named by its run."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

import selfplay
from selfplay.dqn.config import DQNConfig
from selfplay.runs import algorithms, folder as run_folder
from selfplay.runs.folder import RunFlags
from selfplay.runs.load import SHIPPED, SHIPPED_FOLDERS, read_settings
from selfplay.settings import Count, RunSettings, checked, to_json
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import make_learner
from tests.runs import refused, save
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rewards, Rules

DQN, TABLE = config_with(), TDBackupConfig(seed=1000)
MODELS = [
    config_with(mask=True, hidden=(8, 4)),
    config_with(perspective="absolute", hidden=(), networks="separate"),
    config_with(message_rounds=1, message_width=3, symmetry="none", rewards={"draw": 0.5}),
    TABLE,
    MinimaxQConfig(seed=1000),
    AfterstateQConfig(seed=1000),
    TDValueConfig(seed=1000, opponent="self"),
]


def player_of(config: Any) -> Any:
    """Return the player of networks that have learned nothing, or of a table after some games."""
    if isinstance(config, DQNConfig):
        return make(config, separate=config.networks == "separate").player()
    learner = make_learner(config)
    learner.advance(2_000)
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


@pytest.mark.parametrize("config", MODELS, ids=lambda config: config.algorithm)
def test_loading_gives_back_the_settings_and_the_same_moves_in_every_decision_state(
    config: Any, tmp_path: Path
) -> None:
    player = player_of(config)
    save(tmp_path / "run", config, player)
    loaded = selfplay.load(tmp_path / "run")
    assert type(loaded) is type(player)
    assert loaded.rules == Rules()
    assert np.array_equal(loaded.q_values(ABSOLUTE), player.q_values(ABSOLUTE), equal_nan=True)
    for seen in (ABSOLUTE, MOVER):
        assert np.array_equal(loaded.act(seen), player.act(ABSOLUTE))
    dtypes = {tensor.dtype.name for tensor in load_file(tmp_path / "run" / "model.safetensors").values()}
    assert dtypes == {"float32" if isinstance(config, DQNConfig) else "float64"}
    assert read_settings(tmp_path / "run").config == config


def test_a_run_that_started_from_a_table_needs_that_file_no_more(tmp_path: Path) -> None:
    config = MinimaxQConfig(from_table=tmp_path / "deleted.csv")
    save(tmp_path / "run", config, make_learner(MinimaxQConfig()).player())
    assert read_settings(tmp_path / "run").config == config
    assert selfplay.load(tmp_path / "run").act(ABSOLUTE).shape == (4_520,)


# Settings that a file lacks, and those that no program has


def test_a_new_setting_leaves_the_shipped_player_and_every_run_readable(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @checked
    class Grown(DQNConfig):
        invented: Count = 1

    before = selfplay.load("shipped").q_values(ABSOLUTE), selfplay.load(run).q_values(ABSOLUTE)
    monkeypatch.setattr(algorithms, "ALGORITHMS", {**algorithms.ALGORITHMS, "dqn": Grown})
    assert getattr(read_settings(SHIPPED_FOLDERS[SHIPPED]).config, "invented", None) == 1
    after = selfplay.load("shipped").q_values(ABSOLUTE), selfplay.load(run).q_values(ABSOLUTE)
    assert all(np.array_equal(old, new) for old, new in zip(before, after, strict=True))
    edit(run, config={"invented": 3})
    assert to_json(read_settings(run).config)["invented"] == 3


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"config": {"invented": 3}}, "invented"),
        ({"config": {"rows": "3"}}, "rows"),
        ({"config": {"k": 9}}, "k"),
        ({"config": {"preset": ["large"]}}, "preset"),
        ({"config": {"rewards": {"wins": 1}}}, "rewards"),
        ({"config": {"hidden": [100_000, 100_000]}}, "model"),  # 40 gigabytes, and nothing of it is made
        ({"algorithm": ["dqn"]}, "config.json"),
        ({"algorithm": "minimax-q"}, "config.json"),
    ],
    ids=str,
)
def test_settings_that_are_none_are_refused(run: Path, changes: dict[str, Any], named: str) -> None:
    edit(run, **changes)
    message = refused(selfplay.load, run)
    assert str(run) in message
    assert named in message


# The folder


def test_a_missing_folder_or_file_is_named(run: Path) -> None:
    assert str(run / "nowhere") in refused(selfplay.load, run / "nowhere")
    assert str(run) in refused(selfplay.load, run.parent)  # a folder of runs: the newest is offered
    for name in ("model.safetensors", "config.json"):
        (run / name).unlink()
        assert str(run / name) in refused(selfplay.load, run)


@pytest.mark.parametrize(
    ("run", "other"),
    [
        (DQN, config_with(rows=2, cols=4)),
        (DQN, config_with(networks="separate")),
        (TABLE, DQN),
    ],
    indirect=["run"],
    ids=["board", "networks", "algorithm"],
)
def test_a_model_of_another_run_is_refused(run: Path, tmp_path: Path, other: Any) -> None:
    save(tmp_path / "other", other, player_of(other))
    (tmp_path / "other" / "model.safetensors").replace(run / "model.safetensors")
    assert str(run / "model.safetensors") in refused(selfplay.load, run)


def test_a_run_folder_must_be_new_or_empty(run: Path, tmp_path: Path) -> None:
    for place in (run, run / "config.json"):
        message = refused(run_folder.create, place)
        assert str(place) in message
        assert "run_dir" in message
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / "config.json.partial").touch()
    run_folder.create(tmp_path / "killed")


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (DQNConfig(seed=1, mask=True, double=True), "dqn-3x3x3-1-mask-double"),
        (DQNConfig(rules=Rules(4, 5, 4), hidden=(64, 32), gamma=0.5), "dqn-4x5x4-0-large-hidden-64x32-gamma-0.5"),
        (DQNConfig(preset="article"), "dqn-3x3x3-0-article"),
        (DQNConfig(rewards=Rewards(draw=0.5)), "dqn-3x3x3-0-rewards-draw-0.5"),
        (TDValueConfig(back_up_losses=False), "td-value-3x3x3-0-no-back-up-losses"),
        (MinimaxQConfig(from_table=Path("a/my table.csv")), "minimax-q-3x3x3-0-from-table-my-table.csv"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_the_name_of_a_run_says_in_what_it_differs_from_the_defaults(config: RunSettings, name: str) -> None:
    assert run_folder.stem(config) == name
    assert len(run_folder.stem(DQNConfig(hidden=(1_000,) * 100))) <= run_folder.LONGEST_NAME


def test_a_new_run_is_where_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def place(**flags: Any) -> Path:
        return run_folder.new_run_dir(DQN, RunFlags(**flags))

    assert place().parent == Path("runs")
    assert place(name="first") == Path("runs/first")
    assert place(runs_dir=tmp_path, name="first") == tmp_path / "first"
    assert place(run_dir=tmp_path / "it") == tmp_path / "it"
    monkeypatch.setattr("time.strftime", lambda _: "now")
    first = place(runs_dir=tmp_path)
    first.mkdir()
    assert (first.parent, place(runs_dir=tmp_path)) == (tmp_path, first.with_name(f"{first.name}-2"))
