"""What a run leaves and shows: its player, snapshots, the latest state, metrics, TensorBoard, and its score."""

import contextlib
import json
import math
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from rich.console import Console
from tensorboard.backend.event_processing import plugin_event_accumulator
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

import selfplay
from selfplay.algorithms import SHIPPED, load, read_settings, snapshot_steps
from selfplay.cli.train import main
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.games import self_play_cells
from selfplay.learner import State
from selfplay.tabular.config import TDBackupConfig
from selfplay.tabular.learners import TDBackup
from selfplay.tabular.players import TabularPlayer
from selfplay.training import callbacks, run, screen
from selfplay.training.callbacks import LatestState, MetricsLog, Snapshots
from selfplay.training.checkpoint import Checkpoints
from selfplay.training.folder import RunFlags
from selfplay.training.loop import Progress, Record
from selfplay.training.screen import Screen
from tests.runs import DQN, TABULAR, Stopper, in_parts, metrics, refused, stopped, without_pictures
from tictactoe import Rules

OFTEN = ["--eval-every", "240"]
"""Ten evaluations of the DQN: snapshots are 1, 2, 4, 8 and the last."""


def saved_table(folder: Path) -> Any:
    player = load(folder)
    assert isinstance(player, TabularPlayer)
    return player.table


def bits(player: Any) -> dict[str, bytes]:
    return {name: tensor.detach().contiguous().numpy().tobytes() for name, tensor in player.tensors().items()}


def test_an_interrupted_run_saves_the_current_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = TDBackup(TDBackupConfig(eval_every=100, run_dir=tmp_path / "it"))

    def interrupt(_: Screen, record: Record) -> None:
        if record.steps == 300:  # the player of the second evaluation has been saved on the way
            learner.play(50)
            raise KeyboardInterrupt

    monkeypatch.setattr(Screen, "evaluated", interrupt)
    with pytest.raises(run.Interrupted, match="interrupted; the player so far is in") as caught:
        run.train(learner, RunFlags())
    assert learner.steps == 350
    assert [record.steps for record in caught.value.run.records] == [100, 200]
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert len(metrics(tmp_path / "it")) == 3
    assert snapshot_steps(tmp_path / "it") == (100, 200)
    assert (tmp_path / "it" / "progress.png").exists()


def test_the_player_of_the_end_is_saved_and_returned(tmp_path: Path) -> None:
    learner = TDBackup(TDBackupConfig(games=250, greedy_games=30, eval_every=80, run_dir=tmp_path / "it"))
    finished = run.train(learner, RunFlags())
    assert [(record.number, record.steps) for record in finished.records] == [
        (1, 80), (2, 160), (3, 240), (4, 250), (5, 280)
    ]  # fmt: skip
    assert finished.proof == selfplay.evaluate(finished.player, finished.config.rules)
    assert json.loads((tmp_path / "it" / "evaluation.json").read_text()) == finished.proof.as_dict()
    assert np.array_equal(saved_table(tmp_path / "it"), learner.table)
    assert snapshot_steps(tmp_path / "it") == (80, 160, 250, 280)
    assert read_settings(tmp_path / "it")[0].algorithm == "td-backup"


@pytest.mark.parametrize("args", [[*DQN, *OFTEN], ["minimax-q", *TABULAR, "--eval-every", "100"]], ids=" ".join)
def test_snapshots_are_the_players_that_were_evaluated(
    args: list[str], tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: list[tuple[int, dict[str, bytes]]] = []

    def keep(_: Screen, record: Record) -> None:
        evaluated.append((record.steps, bits(record.player)))

    monkeypatch.setattr(Screen, "evaluated", keep)
    in_parts(args, tmp_path / "it", stopper, [])
    assert snapshot_steps(tmp_path / "it") == tuple(evaluated[number - 1][0] for number in (1, 2, 4, 8, 10))
    for steps in snapshot_steps(tmp_path / "it"):
        assert bits(load(tmp_path / "it", steps=steps)) == dict(evaluated)[steps]
    assert bits(load(tmp_path / "it")) == evaluated[-1][1]
    message = refused(load, tmp_path / "it", steps=321)
    assert message.endswith(
        f"has no snapshot at 321 steps; it has {', '.join(map(str, snapshot_steps(tmp_path / 'it')))}"
    )


def test_there_are_no_snapshots_but_those_of_a_run() -> None:
    assert snapshot_steps(SHIPPED) == ()
    assert "there is no such run folder" in refused(snapshot_steps, "nowhere")


class Stubborn:
    """Always choose the same cell, taken or not."""

    rules = Rules()

    def __init__(self, values: list[float]) -> None:
        self.values = np.array(values)

    def q_values(self, observation: Any) -> Any:
        return np.tile(self.values, (len(observation), 1))

    def act(self, observation: Any, _mask: Any = None) -> Any:
        return np.full(len(observation), np.nanargmax(self.values))

    def tensors(self) -> dict[str, torch.Tensor]:
        return {"values": torch.from_numpy(self.values)}


def record(number: int) -> Record:
    player: Any = Stubborn([0.5, math.nan, -math.inf, -1.0, 0, 0, 0, 0, 0])
    nothing: Any = None
    return Record(number, number * 10, nothing, {}, player, 0)


def test_a_player_for_which_there_is_no_room_is_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(tmp_path, [])
    snapshots.evaluated(record(1))
    monkeypatch.setattr(callbacks, "LARGEST", (tmp_path / "snapshots" / "10.safetensors").stat().st_size + 80)
    for number in (2, 3, 4):
        snapshots.evaluated(record(number))
    assert snapshot_steps(tmp_path) == (10, 20)
    assert (tmp_path / "model.safetensors").exists()


def test_the_latest_state_is_written_once_a_second_and_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def latest() -> dict[str, Any]:
        content: dict[str, Any] = json.loads((tmp_path / "latest.json").read_text())
        return content

    now = 5.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    state, steps = LatestState(tmp_path), []
    for number, moment in enumerate((5.0, 5.9, 6.0, 6.1, 6.9, 7.5)):
        now = moment
        state.evaluated(record(number))
        steps.append(latest()["steps"])
    assert steps == [0, 0, 20, 20, 20, 50]
    state.ended(record(9))
    opening = [0.5, None, None, -1.0, 0, 0, 0, 0, 0]
    assert latest() == {"steps": 90, "opening": opening, "game": [0, 0]}


def test_at_its_end_the_latest_state_is_that_of_the_player(tmp_path: Path, stopper: Stopper) -> None:
    in_parts([*DQN, "--rows", "2", "--cols", "3", "--k", "2"], tmp_path / "it", stopper, [])
    content, player = json.loads((tmp_path / "it" / "latest.json").read_text()), load(tmp_path / "it")
    assert content["game"] == self_play_cells(player_policy(player))
    assert len(content["opening"]) == 6
    assert content["steps"] == 2_400


@pytest.mark.usefixtures("stopper")  # for its slices of few games, and no pictures
@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=["dqn", "td-value"])
def test_on_a_terminal_the_score_moves_between_evaluations_and_fits_any_width(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is taken here whenever the run asks whether a checkpoint is due."""
    texts: list[str] = []
    screens: list[Screen] = []
    due = Checkpoints.due

    class Kept(Screen):
        def __init__(self, learner: Any) -> None:
            super().__init__(learner)
            screens.append(self)

    def take(checkpoints: Checkpoints) -> bool:
        console = Console(width=50, force_terminal=True, color_system=None)
        with console.capture() as captured:
            console.print(screens[0].text())
        texts.append(captured.get())
        return due(checkpoints)

    monkeypatch.setattr(run, "Screen", Kept)
    monkeypatch.setattr(screen, "Console", lambda: Console(force_terminal=True, width=50))
    monkeypatch.setattr(Checkpoints, "due", take)
    main([*args, "--run-dir", str(tmp_path / "it")])
    steps = [int(text.split()[0].replace(",", "")) for text in texts]
    assert len(set(steps)) > 8
    assert steps == sorted(steps)
    assert all(len(line) <= 50 for text in texts for line in text.split("\n"))
    assert "training until the first evaluation" in texts[0]
    assert re.search(r"lost games? (lines )?[\d,]+ as X, [\d,]+ as O;", texts[-1].replace("\n", " "))


@pytest.mark.usefixtures("stopper")
def test_elsewhere_every_evaluation_is_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([*DQN, "--run-dir", str(tmp_path / "it")])
    lines = [line for line in capsys.readouterr().out.splitlines() if line.endswith(" times in a row")]
    assert [line.split(":")[0] for line in lines] == ["960 plies", "1,920 plies", "2,400 plies"]
    assert all(line.endswith("proved unbeatable 0 of 3 times in a row") for line in lines)


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize(("place", "verb"), [("/fonts/a.ttf", "read"), ("{folder}/progress.png", "written")])
def test_a_file_that_cannot_be_read_is_not_said_to_be_written(
    place: str, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.format(folder=tmp_path / "it")

    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files", path)

    monkeypatch.setattr(callbacks, "png", refuse)
    message = refused(main, [*DQN, "--run-dir", str(tmp_path / "it")])
    assert message.startswith(f"{path}: cannot be {verb} (Too many open files); once it can, ")


def shown_steps(folder: Path, tag: str) -> list[int]:
    """Return the steps of a tag as TensorBoard itself reads them."""
    events = plugin_event_accumulator.EventAccumulator(str(folder))
    events.Reload()
    return [event.step for event in events.Tensors(tag)]


@pytest.mark.usefixtures("stopper")
def test_tensorboard_shows_each_step_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_or_die(checkpoints: Checkpoints, state: State, progress: Progress) -> None:
        if progress.evaluations:
            raise OSError(5, "gone", "it")
        write(checkpoints, state, progress)

    folder, write = tmp_path / "it", Checkpoints.write
    start = [*DQN, "--run-dir", str(folder)]
    for times in (1, 2):  # evaluates, and is gone before it writes a checkpoint of that
        with monkeypatch.context() as killed:
            killed.setattr(Checkpoints, "write", write_or_die)
            assert "gone" in refused(main, start)
        start = ["--resume", str(folder)]
        assert len(metrics(folder)) == 3
        resumed = Path(shutil.copytree(folder, tmp_path / f"after {times} deaths"))
        main(["--resume", str(resumed)])
        steps = [line["plies"] for line in metrics(resumed)]
        assert steps == [960, 1_920, 2_400]
        assert shown_steps(resumed, "eval/optimal_states") == steps
        events = EventAccumulator(str(resumed))
        events.Reload()
        assert [event.step for event in events.Scalars("eval/optimal_states")] == steps


def test_tensorboard_shows_the_last_player_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pictures(monkeypatch.setattr)
    folder = tmp_path / "it"
    with monkeypatch.context() as killed:  # shows its last player, and is gone before it says that it has ended
        killed.setattr(MetricsLog, "close", lambda *_: (_ for _ in ()).throw(OSError(5, "gone", "it")))
        assert "gone" in refused(main, [*DQN, "--run-dir", str(folder)])
    main(["--resume", str(folder)])
    steps = [line["plies"] for line in metrics(folder)]
    assert len(steps) == 3
    for tag in ("q/opening", "game/self_play/text_summary", "eval/optimal_states", "time/training_s"):
        assert shown_steps(folder, tag) == steps, tag


def test_tensorboard_reads_the_events_of_many_processes_in_order(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper, [*DQN, *OFTEN], 30)
    for stop in (*[20] * 3, -1):
        stopper.left = stop
        with pytest.raises(KeyboardInterrupt) if stop > 0 else contextlib.nullcontext():
            main(["--resume", str(folder)])
    assert len(list(folder.glob("events.*"))) == 5
    assert shown_steps(folder, "eval/optimal_states") == [line["plies"] for line in metrics(folder)]


@pytest.mark.usefixtures("stopper")
def test_hparams_hold_what_differs_from_the_defaults(tmp_path: Path) -> None:
    main([*DQN, "--mask", "--gamma", "0.5", "--run-dir", str(tmp_path / "it")])
    events = EventAccumulator(str(tmp_path / "it"))
    events.Reload()
    content = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    hparams = metadata.parse_session_start_info_plugin_data(content).hparams
    shown = {name: value.string_value or value.number_value for name, value in hparams.items()}
    small = {"hidden": "(16,)", "num_envs": 16, "batch_size": 32, "memory_size": 700, "warmup": 64}
    length = {"total_steps": 2_400, "eval_every": 960}
    special = {"mask": "True", "gamma": 0.5}
    assert shown == {"algorithm": "dqn", "board": "3x3x3", "seed": 1000, **small, **length, **special}
