"""How `selfplay train` reads its flags: for which algorithm, onto which defaults, and its help."""

import dataclasses
from pathlib import Path

import pytest

from selfplay.cli import train
from selfplay.dqn.config import DQNConfig
from selfplay.runs.algorithms import ALGORITHMS
from selfplay.runs.folder import RunFlags
from selfplay.settings import to_json
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig
from tests.runs import saved
from tictactoe import Rewards, Rules


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        ("", DQNConfig()),
        ("dqn --mask", DQNConfig(mask=True)),
        ("--lr 0.5 --hidden 64x32 --no-mask", DQNConfig(learning_rate=0.5, hidden=(64, 32))),
        ("--hidden=64", DQNConfig(hidden=(64,))),
        ("--hidden []", DQNConfig(hidden=())),
        ("--lr=0.5", DQNConfig(learning_rate=0.5)),
        ("--rewards sparse", DQNConfig(rewards="sparse")),
        ("--rewards illegal=-5:draw=0.5", DQNConfig(rewards=Rewards(illegal=-5, draw=0.5))),
        ("minimax-q", MinimaxQConfig()),
        ("td-backup --rows 4 --cols 2", TDBackupConfig(rules=Rules(4, 2))),
        (
            "--seed 4 --preset article --batch-size 64",
            DQNConfig(preset="article", seed=4, batch_size=64),
        ),
        ("--rows 4 --cols 4 -k 4", DQNConfig(preset="large")),
        ("--preset large --k 3", DQNConfig(preset="large", rules=Rules(4, 4, 3))),
        ("--rows 4 --cols 4 --hidden 64,32", DQNConfig(rules=Rules(4, 4), hidden=(64, 32))),
        ("--rows 4 --cols 4 --preset default", DQNConfig(rules=Rules(4, 4), preset="default")),
        ("--rows 2 --cols 2 --k 2", DQNConfig(rules=Rules(2, 2, 2))),
    ],
)
def test_flags_are_read_for_the_algorithm_and_override_its_defaults(args: str, expected: object) -> None:
    flags, _ = train.read(args.split())
    assert (flags.settings, flags.run) == (expected, RunFlags())


@pytest.mark.usefixtures("here")
def test_the_settings_of_a_run_are_the_defaults_of_a_run_like_it() -> None:
    config = saved(Path("run"), mask=True, seed=5, rewards="draw=0.5")
    again, _ = train.read(["--config", "run", "--seed", "6", "--checkpoint-interval", "7"])
    assert again.settings == dataclasses.replace(config, seed=6)
    assert again.run == RunFlags(checkpoint_interval=7)
    resumed, _ = train.read(["dqn", "--force", "--resume", "run"])
    assert resumed.settings == config
    assert resumed.run == RunFlags(resume=Path("run"), force=True)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_the_help_documents_every_setting_and_the_dqns_names_the_others(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="0"):
        train.read([*([] if name == "dqn" else [name]), "--help"], "python train.py")
    text = capsys.readouterr().out
    assert ("python train.py minimax-q" in text) == (name in ("dqn", "minimax-q"))
    for setting in ["run_dir", *to_json(ALGORITHMS[name]()), *(field.name for field in dataclasses.fields(RunFlags))]:
        assert f" --{setting.replace('_', '-')}" in text
