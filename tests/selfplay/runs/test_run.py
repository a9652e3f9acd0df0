"""What a run leaves and shows: its player, snapshots, metrics, TensorBoard's events, and its score."""

import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams import metadata

import selfplay
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.runs import run as run_of_folder
from selfplay.runs.load import load, snapshot_steps
from selfplay.runs.loop import Record
from selfplay.runs.metrics import evaluation_metrics, metrics_evaluation, read_metrics
from selfplay.runs.screen import Screen
from selfplay.settings import to_json
from selfplay.tabular.config import TDBackupConfig
from tests.runs import SHORT, metrics, refused
from tests.selfplay.dqn.scripted import config_with
from tictactoe import Rules

OFTEN: dict[str, Any] = {**SHORT, "eval_every": 240}
"""Ten evaluations of the DQN: snapshots are those of 1, 2, 4, 8 and the last, and some in between."""
RULE = selfplay.evaluate("rule")


def bits(player: Any) -> dict[str, bytes]:
    return {name: tensor.detach().contiguous().numpy().tobytes() for name, tensor in player.tensors().items()}


@pytest.mark.parametrize(("algorithm", "settings"), [("dqn", OFTEN), ("td-backup", {"games": 250, "eval_every": 80})])
def test_a_run_leaves_its_last_player_its_snapshots_and_their_evaluations(
    algorithm: str, settings: dict[str, Any], tmp_path: Path
) -> None:
    run = selfplay.train(algorithm, **settings, run_dir=tmp_path / "it", progress=False)
    assert run.verdict == selfplay.evaluate(run.player, Rules())
    assert json.loads((run.folder / "evaluation.json").read_text()) == run.verdict.to_dict()
    last = run.records[-1].steps
    assert bits(load(run.folder)) == bits(load(run.folder, steps=last)) == bits(run.player)
    saved = snapshot_steps(run.folder)
    for record in run.records:
        is_saved = record.number in (1, 2, 4, 8) or record.steps == last
        assert (record.steps in saved) == is_saved
        if is_saved:
            assert selfplay.evaluate(run.snapshots[record.steps], Rules()) == record.verdict
    assert len(saved) > 12
    unsaved = run.records[2].steps
    assert str(unsaved) in refused(load, run.folder, steps=unsaved)
    assert (run.folder / "progress.png").read_bytes().startswith(b"\x89PNG")
    if algorithm == "td-backup":
        assert [record.steps for record in run.records] == [80, 160, 240, 250, 2_750]


@pytest.mark.usefixtures("stopper")
def test_an_interrupted_run_leaves_the_player_of_its_checkpoint(tmp_path: Path) -> None:
    asked = iter([False] * 20)
    run = selfplay.train(**SHORT, run_dir=tmp_path / "it", stop_when=lambda: next(asked, True), progress=False)
    learner = DQNLearner(
        config_with(memory_size=700, seed=1_000, total_steps=2_400, eval_every=960, updates_per_step=2)
    )
    for _ in range(21):
        learner.advance(1)
    assert bits(load(run.folder)) == bits(learner.player())
    assert not (run.folder / "evaluation.json").exists()


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize("seconds", [0, 1_000])
def test_a_long_run_can_be_watched_in_tensorboard_while_it_trains(
    seconds: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_of_folder, "SECONDS_WITHOUT_EVENTS", seconds)
    seen = set()

    def look() -> bool:
        seen.add(any(tmp_path.glob("it/events*")))
        return False

    selfplay.train("td-backup", games=40, eval_every=20, run_dir=tmp_path / "it", stop_when=look, progress=False)
    assert seen == ({False, True} if seconds == 0 else {False})


def evaluated(number: int, learning: float) -> Record:
    """Return an evaluation after some seconds of learning."""
    return Record(number=number, steps=10**number, verdict=RULE, metrics={"time/training_s": learning}, proofs=0)


def test_only_the_first_evaluation_says_how_far_it_is() -> None:
    screen = Screen(DQNLearner(config_with()), DQNConfig())
    assert screen.watch() is not None
    screen.show(evaluated(1, 0.0))
    assert screen.watch() is None


@pytest.mark.parametrize(("seconds", "learning", "share"), [(10, 3, "70 %"), (10, 6, ""), (0.5, 0, "")])
def test_the_screen_says_when_evaluations_take_most_of_the_time(
    seconds: float, learning: float, share: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    screen = Screen(DQNLearner(config_with()), DQNConfig())
    now = time.monotonic()
    for number in (1, 2):
        monkeypatch.setattr(time, "monotonic", lambda number=number: now + seconds * number)
        screen.show(evaluated(number, learning * number))
    first, second = capsys.readouterr().out.splitlines()
    assert "of the time" not in first
    assert (" of the time" in second) == bool(share)
    assert share in second


# Metrics


def test_the_evaluation_of_a_large_board_is_read_as_it_was() -> None:
    for player in ("rule", DQNLearner(config_with(rows=5, cols=5, k=4)).player()):
        both_cut = selfplay.evaluate(player, Rules(5, 5, 4), positions=50)
        for verdict in (both_cut, replace(both_cut, first=RULE.first)):
            line = evaluation_metrics(verdict)
            assert metrics_evaluation(line, Rules(5, 5, 4)) == verdict
            assert "eval/unbeatable" not in line


@pytest.mark.parametrize("half", ["", '{"plies"', '{"plies": 30, "time/training_s": 1}'])
def test_a_half_written_last_line_of_the_metrics_is_left_out(half: str, tmp_path: Path) -> None:
    lines = [{"plies": steps, "time/training_s": 0.5} for steps in (10, 20)]
    path = tmp_path / "metrics.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + half)
    assert list(read_metrics(path, "plies")) == lines


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize(
    ("config", "unit", "axis"),
    [
        (DQNConfig(**OFTEN, mask=True, gamma=0.5), "plies", "plies"),
        (TDBackupConfig(games=250, eval_every=80, gamma=0.5), "games", "time/plies"),
    ],
    ids=["dqn", "td-backup"],
)
def test_tensorboard_shows_every_number_of_the_metrics_and_every_setting(
    config: Any, unit: str, axis: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_of_folder, "SECONDS_WITHOUT_EVENTS", 0)
    asked = iter([False] * 20)
    run = selfplay.train(config, run_dir=tmp_path / "it", stop_when=lambda: next(asked, True), progress=False)
    events = EventAccumulator(str(run.folder), {"images": 0, "scalars": 0})  # 0: all of them, no sample
    events.Reload()
    assert events.Tags()["scalars"]
    selfplay.train(resume=run.folder, progress=False)  # while TensorBoard shows it
    events.Reload()
    lines = metrics(run.folder)
    for tag in lines[-1].keys() - {unit}:
        shown = [(event.step, event.value) for event in events.Scalars(tag)]
        assert shown == [(line[axis], pytest.approx(line[tag], rel=1e-6)) for line in lines if tag in line]
    assert [image.step for image in events.Images("q/opening")] == [lines[-1][axis]]
    assert events.Tensors("game/self_play/text_summary")[-1].step == lines[-1][axis]
    content = events.summary_metadata["_hparams_/session_start_info"].plugin_data.content
    hparams = metadata.parse_session_start_info_plugin_data(content).hparams
    settings = {name: value.string_value or value.number_value for name, value in hparams.items()}
    assert settings.keys() == {"algorithm", "board", *to_json(config)}
    expected = {"algorithm": config.algorithm, "board": "3x3x3", "gamma": 0.5, "eval_every": config.eval_every}
    assert {name: settings[name] for name in expected} == expected
