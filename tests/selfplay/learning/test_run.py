"""What a run leaves and shows: its player, snapshots, the latest state, metrics, TensorBoard, and its score."""

import json
import math
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

import selfplay
from selfplay.cli.train import main
from selfplay.dqn.config import DQNConfig
from selfplay.judging.agents import player_policy
from selfplay.judging.evaluate import evaluate_policy
from selfplay.judging.games import self_play_cells
from selfplay.learning import callbacks, plots, run, screen
from selfplay.learning.api import SHIPPED, load, snapshot_steps
from selfplay.learning.callbacks import LatestState, Snapshots
from selfplay.learning.folder import RunFlags
from selfplay.learning.loop import Record
from selfplay.learning.metrics import evaluation_metrics, read_metrics
from selfplay.learning.result import Interrupted, earlier_records
from selfplay.learning.screen import Screen, sparkline
from selfplay.players import resolve
from selfplay.tabular.config import TDBackupConfig
from selfplay.tabular.learners import TDBackup
from selfplay.tabular.players import AfterstatePlayer
from tests.runs import DQN, metrics, refused, without_plots
from tictactoe import Rules

OFTEN = ["--eval-every", "240"]
"""Ten evaluations of the DQN: snapshots are 1, 2, 4, 8 and the last."""


def bits(player: Any) -> dict[str, bytes]:
    return {name: tensor.detach().contiguous().numpy().tobytes() for name, tensor in player.tensors().items()}


def test_an_interrupted_run_saves_the_current_player(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    learner = TDBackup(TDBackupConfig(eval_every=100, run_dir=tmp_path / "it"))

    def interrupt(_: Screen, record: Record) -> None:
        if record.steps == 300:  # the player of the second evaluation has been saved on the way
            learner.play(50)
            raise KeyboardInterrupt

    monkeypatch.setattr(Screen, "evaluated", interrupt)
    with pytest.raises(Interrupted, match="interrupted; the player so far is in") as caught:
        run.train_in_folder(learner, RunFlags(), lambda folder, steps: load(folder, steps=steps))
    assert learner.steps == 350
    assert [record.steps for record in caught.value.run.records] == [100, 200]
    assert bits(load(tmp_path / "it")) == bits(learner.player())
    assert len(metrics(tmp_path / "it")) == 3
    assert {100, 200, 300} & {*snapshot_steps(tmp_path / "it")} == {100, 200}
    assert (tmp_path / "it" / "progress.png").exists()


def test_the_player_of_the_end_is_saved_and_returned_and_snapshots_are_those_that_were_evaluated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluated: dict[int, dict[str, bytes]] = {}
    monkeypatch.setattr(Screen, "evaluated", lambda _, record: evaluated.update({record.steps: bits(record.player)}))
    learner = TDBackup(TDBackupConfig(games=250, greedy_games=30, eval_every=80, run_dir=tmp_path / "it"))
    finished = run.train_in_folder(learner, RunFlags(), lambda folder, steps: load(folder, steps=steps))
    assert [(record.number, record.steps) for record in finished.records] == [
        (1, 80), (2, 160), (3, 240), (4, 250), (5, 280)
    ]  # fmt: skip
    assert finished.proof == selfplay.evaluate(finished.player, finished.config.rules)
    assert json.loads((tmp_path / "it" / "evaluation.json").read_text()) == finished.proof.as_dict()
    assert bits(load(tmp_path / "it")) == bits(learner.player())
    kept = snapshot_steps(tmp_path / "it")
    assert kept[:12] == (
        20,
        22,
        23,
        25,
        27,
        29,
        31,
        33,
        35,
        38,
        40,
        43,
    )  # evenly in the logarithm, ten while they double
    assert {*kept} & {80, 160, 240, 250, 280} == {80, 160, 250, 280}
    for steps in (80, 160, 250, 280):
        assert bits(load(tmp_path / "it", steps=steps)) == evaluated[steps]


def test_there_are_no_snapshots_but_those_of_a_run() -> None:
    assert snapshot_steps(SHIPPED) == ()
    assert "there is no such run folder" in refused(snapshot_steps, "nowhere")


def record(number: int) -> Record:
    table = np.zeros(3**9)
    table[[1, 3, 9]] = 0.5, math.nan, -math.inf  # the first seat's mark in cells 0, 1 and 2
    nothing: Any = None
    return Record(number, number * 10, nothing, {}, lambda: AfterstatePlayer(Rules(), table), 0)


def test_the_model_of_a_run_in_progress_is_its_newest_snapshot(tmp_path: Path) -> None:
    Snapshots(tmp_path, 0, []).between(15, AfterstatePlayer(Rules(), np.zeros(3**9)))
    assert (tmp_path / "model.safetensors").read_bytes() == (tmp_path / "snapshots" / "15.safetensors").read_bytes()


def test_a_player_for_which_there_is_no_room_is_no_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = Snapshots(tmp_path, 0, [])
    snapshots.evaluated(record(1))
    monkeypatch.setattr(callbacks, "LARGEST", (tmp_path / "snapshots" / "10.safetensors").stat().st_size + 9 * 3**9)
    snapshots.between(15, record(1).player)  # half of the room is left to the players of evaluations
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
    opening = [0.5, None, None, *[0] * 6]
    assert (latest()["steps"], latest()["opening"]) == (90, opening)
    assert latest()["game"] == self_play_cells(player_policy(record(9).player))


def test_on_a_terminal_the_score_moves_between_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(force_terminal=True, width=70, color_system=None)
    monkeypatch.setattr(screen, "open_console", lambda: console)
    learner = TDBackup(TDBackupConfig(games=1_500))  # and more at its end
    shown, texts = Screen(learner), []
    for number in range(3):
        with console.capture() as capture:
            console.print(shown.block())
        texts.append(capture.get())
        learner.play(1_000)
        evaluation = selfplay.evaluate(learner.player(), Rules())
        shown.evaluated(Record(number, learner.steps, evaluation, {}, learner.player, number))
    assert shown.live is not None
    assert [text.split(" of at most")[0].split()[-1] for text in texts] == ["0", "1,000", "2,000"]
    assert "training until the first evaluation" in texts[0]
    bar = "[━╸╺]+"
    lines = [rf"{bar} *2,000 of at most 2,000 games; .*", r"[▁-█]{2} +games lost [\d,]+ as X, [\d,]+ as O *"]
    lines += [" *illegal games .*", f"{bar} *optimal in .*", rf"{bar} *proved \w+ 1 of 3 times in a row *"]
    assert re.fullmatch("\n".join([*lines, ""]), texts[-1])
    assert sparkline([800, 27, 1, 0, 0]).plain == "█▅▂▁▁"


def test_elsewhere_evaluations_are_lines_ever_further_apart_and_the_last_is_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    learner: Any = SimpleNamespace(config=DQNConfig(), steps=0)
    shown, evaluation = Screen(learner), selfplay.evaluate(load(SHIPPED), Rules())
    records = [Record(number, number * 100, evaluation, {}, Mock(), 2) for number in range(1, 601)]
    for each in records:
        shown.evaluated(each)
    for _ in range(2):  # a line that is printed already is not printed again
        shown.ended(records[-1])
    lines = capsys.readouterr().out.splitlines()
    assert all(line.endswith("proved unbeatable 2 of 3 times in a row") for line in lines)
    steps = [int(line.split()[0].replace(",", "")) for line in lines]
    assert steps[:12] == [*range(100, 1_101, 100), 1_300]
    assert steps[-3:] == [50_500, 55_600, 60_000]
    assert len(steps) < 60


@pytest.mark.usefixtures("stopper")
def test_a_file_that_cannot_be_read_is_not_said_to_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(24, "Too many open files", "/fonts/a.ttf")

    monkeypatch.setattr(callbacks, "png", refuse)
    message = refused(main, [*DQN, "--run-dir", str(tmp_path / "it")])
    assert message.startswith("/fonts/a.ttf: cannot be read (Too many open files); once it can, ")


def test_tensorboard_shows_the_players_of_some_evaluations_and_what_differs_from_the_defaults(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_plots(monkeypatch.setattr)
    main([*DQN, *OFTEN, "--mask", "--gamma", "0.5", "--run-dir", str(tmp_path / "it")])
    events = EventAccumulator(str(tmp_path / "it"), {"images": 0, "scalars": 0})  # 0: all of them, no sample
    events.Reload()
    assert [image.step for image in events.Images("q/opening")] == [240, 480, 960, 1_920, 2_400]
    assert [scalar.step for scalar in events.Scalars("loss/td")] == [*range(240, 2_401, 240)]
    content = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    hparams = metadata.parse_session_start_info_plugin_data(content).hparams
    shown = {name: value.string_value or value.number_value for name, value in hparams.items()}
    small = {"hidden": "(16,)", "num_envs": 16, "batch_size": 32, "memory_size": 700, "warmup": 64}
    length = {"total_steps": 2_400, "eval_every": 240}
    special = {"mask": "True", "gamma": 0.5}
    assert shown == {"algorithm": "dqn", "board": "3x3x3", "seed": 1000, **small, **length, **special}


def test_the_records_of_an_earlier_process_count_proofs_in_a_row_too_and_the_plot_marks_the_last_streak(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts = {name: evaluate_policy(resolve(name).policy) for name in ("optimal", "random")}
    names = ("optimal", "random", "optimal", "optimal")
    lines = [{"plies": number, **evaluation_metrics(verdicts[name])} for number, name in enumerate(names)]
    records = earlier_records(lines, DQNConfig(), Mock())
    assert [each.proofs for each in records] == [1, 0, 1, 2]
    plot = Mock()
    monkeypatch.setattr(plots, "progress_figure", plot)
    plots.run_figure(lines, DQNConfig(), tmp_path)
    assert plot.call_args.args[-1] == 2


@pytest.mark.parametrize("half", ["", '{"plies"', '{"plies": 30, "time/training_s": 1}'])
def test_a_half_written_last_line_of_the_metrics_is_left_out(half: str, tmp_path: Path) -> None:
    lines = [{"plies": steps, "time/training_s": 0.5} for steps in (10, 20)]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + half)
    assert list(read_metrics(path, "plies")) == lines
