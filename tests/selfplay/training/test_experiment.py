"""The experiment saves the player of the moment, whatever ends the run, and shows where it stands."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from selfplay.training.checkpoints import Checkpoints
from selfplay.training.flags import RunFlags

import selfplay
from selfplay.algorithms import read_settings
from selfplay.cli.train import main
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.settings import RunSettings
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import TabularLearner, TDBackup
from selfplay.tabular.players import AfterstatePlayer
from selfplay.training import experiment, record, screen
from selfplay.training.folder import default_run_dir, differences
from selfplay.training.screen import Screen
from tests.runs import DQN, TABULAR, metrics, refused


def saved_table(folder: Path) -> np.ndarray:
    player = selfplay.load(folder)
    assert isinstance(player, AfterstatePlayer)
    return player.table


def run(learner: TabularLearner) -> experiment.Run:
    with experiment.entered(learner.config, RunFlags()) as kept:
        return experiment.run(learner, kept)


def test_an_interrupted_run_saves_the_player_of_the_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = TDBackup(TDBackupConfig(eval_every=100, run_dir=tmp_path / "it"))
    shown = Screen.show

    def interrupt(self: Screen, record: selfplay.Record) -> None:
        shown(self, record)
        if record.steps == 300:  # the player of the second evaluation has been saved on the way
            learner.play(50)
            raise KeyboardInterrupt

    monkeypatch.setattr(Screen, "show", interrupt)
    with pytest.raises(experiment.Interrupted, match="interrupted; the player so far is in") as caught:
        run(learner)
    assert learner.steps == 350
    assert [record.steps for record in caught.value.run.records] == [100, 200, 300]
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert len(metrics(tmp_path / "it")) == 3
    assert (tmp_path / "it" / "progress.png").exists()


def test_the_player_of_the_end_is_saved_and_returned(tmp_path: Path) -> None:
    config = TDBackupConfig(games=250, greedy_games=30, eval_every=80, run_dir=tmp_path / "it")
    learner = TDBackup(config)
    finished = run(learner)
    assert [record.steps for record in finished.records] == [80, 160, 240, 250, 280]
    assert finished.proof == selfplay.evaluate(finished.player, config.rules)
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert read_settings(tmp_path / "it")[0].algorithm == "td-backup"


@pytest.mark.usefixtures("stopper")  # for its slices of few games, and no pictures
@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=["dqn", "td-value"])
def test_on_a_terminal_the_score_moves_between_evaluations_and_fits_any_width(
    args: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is drawn here whenever the run asks whether a checkpoint is due."""
    drawn: list[str] = []
    screens: list[Screen] = []
    asked, made = Checkpoints.due, Screen.__init__

    def make(self: Screen, *args: Any) -> None:
        made(self, *args)
        screens.append(self)

    def due(kept: Checkpoints, steps: int) -> bool:
        answer = asked(kept, steps)
        console = Console(width=50, force_terminal=True, color_system=None)
        with console.capture() as captured:
            console.print(screens[0]._drawn())
        drawn.append(captured.get())
        return answer

    monkeypatch.setattr(Screen, "__init__", make)
    monkeypatch.setattr(screen, "Console", lambda: Console(force_terminal=True, width=50))
    monkeypatch.setattr(Checkpoints, "due", due)
    main([*args, "--run-dir", str(tmp_path / "it")])
    first = metrics(tmp_path / "it")[0]
    steps = [int(text.split()[0].replace(",", "")) for text in drawn]
    assert len([number for number in steps if number < first["plies" if "plies" in first else "games"]]) > 3
    assert steps == sorted(set(steps))
    assert all(len(line) <= 50 for text in drawn for line in text.split("\n"))
    assert "training until the first evaluation" in drawn[0]
    assert re.search(r"lost game lines [\d,]+ as X, [\d,]+ as O;", drawn[-1].replace("\n", " "))


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize(("place", "verb"), [("/fonts/a.ttf", "read"), ("{folder}/progress.png", "written")])
def test_a_file_that_cannot_be_read_is_not_said_to_be_written(
    place: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.format(folder=tmp_path / "it")

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files", path)

    monkeypatch.setattr(record, "png", refuse)
    message = refused(main, [*DQN, "--run-dir", str(tmp_path / "it")])
    assert message.startswith(f"{path}: cannot be {verb} (Too many open files); once it can, ")


@pytest.mark.usefixtures("stopper")
def test_elsewhere_every_evaluation_is_a_line_when_it_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([*DQN, "--run-dir", str(tmp_path / "it")])
    lines = [line for line in capsys.readouterr().out.splitlines() if " plies: lost game lines " in line]
    assert [line.split()[0] for line in lines] == ["960", "1,920", "2,400"]
    assert all(line.endswith("proved unbeatable 0 of 3 times in a row") for line in lines)


@pytest.mark.parametrize(
    ("config", "name"),
    [
        (DQNConfig(), "dqn-3x3x3-0"),
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
    assert re.fullmatch(re.escape(name) + r"-\d{8}-\d{6}", default_run_dir(config).name)


def test_a_name_has_an_end_however_much_differs() -> None:
    config = DQNConfig(hidden=(1_000,) * 40, convolution=(8,) * 40)
    assert len(default_run_dir(config).name) < 120
    assert differences(config) == {"hidden": (1_000,) * 40, "convolution": (8,) * 40}
