"""The experiment saves the player of the moment, whatever ends the run, and dates the proof."""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from rich.progress import Task, TaskID

from selfplay.runs import folder as run_folder
from selfplay.runs import loop as experiment
from selfplay.runs.checkpoints import Checkpoints, RunFlags
from selfplay.runs.folder import load
from selfplay.runs.loop import LiveBar, Record
from selfplay.tabular.afterstates import AfterstatePlayer
from selfplay.tabular.learner import train
from selfplay.tabular.td_backup import TDBackup, TDBackupConfig
from tests.runs import DQN, TABULAR
from train import main


def saved_table(folder: Path) -> np.ndarray:
    player = load(folder)
    assert isinstance(player, AfterstatePlayer)
    return player.table


def test_an_interrupted_run_saves_the_player_of_the_moment(tmp_path: Path) -> None:
    learner = TDBackup(TDBackupConfig(eval_every=100, run_dir=tmp_path / "it"))

    def records() -> Iterator[Record]:
        for number, record in enumerate(train(learner), start=1):
            yield record
            if number == 3:  # the player of the second evaluation has been saved on the way
                learner.play(50)
                raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt, match="interrupted; the player so far is in"),
        experiment.checkpoints(learner.config, RunFlags()) as kept,
    ):
        experiment.run(learner.config, "games", 1_000, learner.player, records(), kept)
    assert learner.games_played == 350
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert (tmp_path / "it" / "metrics.jsonl").read_text().count("\n") == 3
    assert (tmp_path / "it" / "progress.png").exists()


def test_the_player_of_the_end_is_saved_and_returned(tmp_path: Path) -> None:
    config = TDBackupConfig(games=250, greedy_games=30, eval_every=80, run_dir=tmp_path / "it")
    learner = TDBackup(config)
    with experiment.checkpoints(config, RunFlags()) as kept:
        finished = experiment.run(config, "games", 280, learner.player, train(learner), kept)
    assert [record.steps for record in finished.records] == [80, 160, 240, 250, 280]
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert run_folder.read_config(tmp_path / "it").algorithm == "td-backup"


@pytest.mark.usefixtures("stopper")  # for its slices of few games, and no pictures
@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=["dqn", "td-value"])
def test_the_bar_of_a_run_moves_between_evaluations(
    args: Sequence[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is drawn here whenever the run asks whether a checkpoint is due."""
    begun = Task(TaskID(0), "", total=3_000, completed=0, _get_time=time.monotonic)
    bars: list[LiveBar] = []
    drawn: list[float] = []
    asked = Checkpoints.due

    def make(steps: Callable[[], int]) -> LiveBar:
        bars.append(LiveBar(steps))
        return bars[-1]

    def due(kept: Checkpoints, steps: int) -> bool:
        answer = asked(kept, steps)
        drawn.append(bars[0].render(begun).completed)
        return answer

    monkeypatch.setattr(experiment, "LiveBar", make)
    monkeypatch.setattr(Checkpoints, "due", due)
    main([*args, "--run-dir", str(tmp_path / "it")])
    first = json.loads((tmp_path / "it" / "metrics.jsonl").read_text().splitlines()[0])
    assert len([steps for steps in drawn if 0 < steps < first.get("plies", first.get("games"))]) > 3
    assert drawn == sorted(set(drawn))
