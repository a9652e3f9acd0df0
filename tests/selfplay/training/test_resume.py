"""A run that is stopped and resumed ends with the same bits, and can be made longer."""

import contextlib
import json
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from selfplay.training.checkpoints import Checkpoints
from tensorboard.backend.event_processing import plugin_event_accumulator
from tensorboard.backend.event_processing.directory_watcher import DirectoryWatcher
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from selfplay.algorithms import ALGORITHMS, Config
from selfplay.cli import train
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.learner import State
from selfplay.training import checkpoints as checkpoint, folder as run_folder, loop
from selfplay.training.screen import Screen
from tests.runs import (
    DQN,
    TABULAR,
    Stopper,
    assert_same,
    checkpoint_number,
    in_parts,
    metrics,
    results,
    stopped,
    without_pictures,
)

DAY = 86_400 * 10**9
"""Nanoseconds."""
ARTICLE = ["--preset", "article", "--total-steps", "420", "--eval-every", "150", "--memory-size", "200"]


@pytest.mark.parametrize(
    "args",
    [
        DQN,
        [*DQN, "--networks", "separate", "--target", "independent"],
        [*DQN, "--mask", "--target", "independent"],
        [*DQN, "--hard-update", "7", "--dueling", "--convolution", "4", "--double", "--symmetry", "none"],
        [*DQN, "--lines", "2", "--mask"],
        [*DQN, "--networks", "separate", "--updates-per-step", "2"],
        ARTICLE,
        ["minimax-q", *TABULAR],
        ["minimax-q", *TABULAR, "--tables", "separate"],
        ["afterstate-q", *TABULAR],
        ["td-value", *TABULAR],
        ["td-value", *TABULAR, "--opponent", "self"],
        ["td-backup", *TABULAR, "--greedy-games", "90"],
    ],
    ids=" ".join,
)
def test_a_run_that_is_stopped_and_resumed_ends_with_the_same_bits(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    in_parts(args, tmp_path / "whole", stopper, [])
    tabular = args[0] in ALGORITHMS
    for number, stops in enumerate([[1], [8, 1], [4, 6]] if tabular else [[1], [61, 1, 2], [100, 40]]):
        in_parts(args, tmp_path / str(number), stopper, stops)
        assert_same(tmp_path / "whole", tmp_path / str(number))
    written = list((tmp_path / "whole").glob("*.csv"))
    assert bool(written) == tabular
    for path in written:
        assert (tmp_path / "0" / path.name).read_bytes() == path.read_bytes()


def test_a_table_that_is_only_proved_is_stopped_and_resumed_too(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts(["minimax-q", *TABULAR], tmp_path / "learned", stopper, [])
    args = ["minimax-q", "--games", "0", "--from-table", str(tmp_path / "learned" / "table.csv")]
    with monkeypatch.context() as at_once:
        at_once.setattr(Screen, "show", lambda *_: signal.raise_signal(signal.SIGINT))
        at_once.setattr(Checkpoints, "stop_when_asked", lambda _: contextlib.nullcontext())
        with pytest.raises(KeyboardInterrupt):
            train.main([*args, "--run-dir", str(tmp_path / "it")])
    assert checkpoint_number(tmp_path / "it") == 1
    in_parts(args, tmp_path / "whole", stopper, [])
    train.main(["--resume", str(tmp_path / "it")])
    assert_same(tmp_path / "whole", tmp_path / "it")


@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=" ".join)
def test_sigterm_asks_for_a_checkpoint_and_a_second_signal_waits_for_none(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stopper.signals = [signal.SIGTERM]
    folder = stopped(tmp_path / "it", stopper, args, stop=5)
    assert checkpoint_number(folder) == 2
    stopper.signals = [signal.SIGTERM, signal.SIGINT]
    stopper.left = 5
    with pytest.raises(KeyboardInterrupt):
        train.main(["--resume", str(folder)])
    assert checkpoint_number(folder) == 2
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.parametrize("args", [DQN, ["td-backup", *TABULAR]], ids=" ".join)
def test_a_finished_run_says_so_and_can_be_made_as_long_as_another(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    length, longer = ("--games", "2000") if "td-backup" in args else ("--total-steps", "4800")
    in_parts(args, tmp_path / "it", stopper, [])
    before = results(tmp_path / "it")
    with pytest.raises(UserError, match=rf"is finished; {length} above \d+ goes on$"):
        train.main(["--resume", str(tmp_path / "it")])
    assert results(tmp_path / "it") == before
    train.main(["--resume", str(tmp_path / "it"), length, longer])
    assert longer in (tmp_path / "it" / "config.json").read_text()
    in_parts([*args, length, longer], tmp_path / "longer", stopper, [])
    extended, whole = results(tmp_path / "it"), results(tmp_path / "longer")
    assert extended["model"] == whole["model"]
    assert extended["state"] == whole["state"]
    unit = "games" if "td-backup" in args else "plies"
    evaluated, wanted = ({line[unit] for line in each["metrics"]} for each in (extended, whole))
    assert wanted <= evaluated  # and, in between, where it was to end at first
    with pytest.raises(UserError, match="is finished"):
        train.main(["--resume", str(tmp_path / "it")])


def test_a_run_that_has_proved_what_it_should_is_not_made_longer(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "proves", lambda _, stop: stop != "never")
    in_parts([*DQN, "--eval-every", "160"], tmp_path / "it", stopper, [25])  # in the middle of the streak
    assert [line["plies"] for line in metrics(tmp_path / "it")] == [160, 320, 480]
    again = ["--resume", str(tmp_path / "it")]
    longer = [*again, "--total-steps", "4800"]
    for args in (again, longer):
        with pytest.raises(UserError, match="is finished: --stop unbeatable is proved; --stop never --force goes on"):
            train.main(args)
    train.main([*longer, "--stop", "never", "--force"])
    assert results(tmp_path / "it")["metrics"][-1]["plies"] == 4_800


def test_a_run_made_longer_stops_where_one_of_that_length_does(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "proves", lambda _, stop: stop != "never")
    longer = ["--total-steps", "4800"]
    in_parts(DQN, tmp_path / "it", stopper, [])
    train.main(["--resume", str(tmp_path / "it"), *longer])
    in_parts([*DQN, *longer], tmp_path / "longer", stopper, [])
    extended, whole = results(tmp_path / "it"), results(tmp_path / "longer")
    assert [line["plies"] for line in whole["metrics"]] == [960, 1_920, 2_880]
    assert [line["plies"] for line in extended["metrics"]] == [960, 1_920, 2_400, 2_880]
    assert extended["state"] == whole["state"]
    assert extended["model"] == whole["model"]


def test_a_run_of_before_a_setting_was_added_goes_on(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings(config: Config) -> dict[str, Any]:
        return {name: value for name, value in now(config).items() if name not in DQNConfig.added}

    now, as_before = run_folder.settings, [*DQN, "--learning-rate-hold", "0", "--counterexamples", "0"]
    in_parts(as_before, tmp_path / "whole", stopper, [])
    with monkeypatch.context() as before:
        for module in (checkpoint, run_folder):
            before.setattr(module, "settings", settings)
        folder = stopped(tmp_path / "it", stopper, as_before)
        assert DQNConfig.added.keys().isdisjoint(json.loads((folder / "config.json").read_text())["config"])
    train.main(["--resume", str(folder)])
    assert_same(tmp_path / "whole", folder)


def shown_steps(folder: Path, tag: str) -> list[int]:
    """Return the steps of a tag as TensorBoard itself reads them, where it has no data server that is quicker."""
    events = plugin_event_accumulator.EventAccumulator(str(folder))
    events.Reload()
    return [event.step for event in events.Tensors(tag)]


@pytest.mark.usefixtures("stopper")
def test_tensorboard_shows_each_step_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_or_die(kept: Checkpoints, snapshot: State) -> None:
        if snapshot.counters["evaluations"]:
            raise UserError("gone")
        write(kept, snapshot)

    folder, write = tmp_path / "it", Checkpoints.write
    start = [*DQN, "--run-dir", str(folder)]
    for times in (1, 2):  # evaluates, and is gone before it writes a checkpoint of that
        with monkeypatch.context() as killed:
            killed.setattr(Checkpoints, "write", write_or_die)
            with pytest.raises(UserError, match="gone"):
                train.main(start)
        start = ["--resume", str(folder)]
        assert len(metrics(folder)) == 3
        resumed = Path(shutil.copytree(folder, tmp_path / f"after {times} deaths"))
        train.main(["--resume", str(resumed)])
        steps = [line["plies"] for line in metrics(resumed)]
        assert steps == [960, 1_920, 2_400]
        assert shown_steps(resumed, "eval/optimal_states") == steps
        events = EventAccumulator(str(resumed))
        events.Reload()
        assert [event.step for event in events.Scalars("eval/optimal_states")] == steps


def test_tensorboard_shows_the_last_player_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_pictures(monkeypatch.setattr)
    folder = tmp_path / "it"
    with monkeypatch.context() as killed:  # draws its last player, and is gone before it says that it has ended
        killed.setattr(Checkpoints, "finish", lambda *_: (_ for _ in ()).throw(UserError("gone")))
        with pytest.raises(UserError, match="gone"):
            train.main([*DQN, "--run-dir", str(folder)])
    train.main(["--resume", str(folder)])
    steps = [line["plies"] for line in metrics(folder)]
    assert len(steps) == 3
    for tag in ("q/opening", "game/self_play/text_summary", "eval/optimal_states", "time/training_s"):
        assert shown_steps(folder, tag) == steps, tag


def test_tensorboard_shows_all_steps_in_order_though_the_clock_was_set_back(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """TensorBoard reads a folder's files by their names, and takes back what it has read of a step and later ones."""
    now = time.time_ns()
    folder = tmp_path / "it"
    start = [*DQN, "--eval-every", "320", "--run-dir", str(folder)]
    for days, stop in ((0, 30), (-3, 20), (-9, 20), (1, 20), (-1, -1)):
        monkeypatch.setattr(time, "time_ns", lambda days=days: now + days * DAY)
        monkeypatch.setattr(time, "time", lambda days=days: (now + days * DAY) / 1e9)
        stopper.left = stop
        with pytest.raises(KeyboardInterrupt) if stop > 0 else contextlib.nullcontext():
            train.main(start)
        start = ["--resume", str(folder)]
    steps = [line["plies"] for line in metrics(folder)]
    assert len(steps) == 8
    assert len(list(folder.glob("events.*"))) == 5
    read = DirectoryWatcher(str(folder), EventFileLoader, lambda path: "tfevents" in path).Load()
    tagged = [event.step for event in read for value in event.summary.value if value.tag == "eval/optimal_states"]
    assert tagged == steps
    events = EventAccumulator(str(folder))
    events.Reload()
    assert [event.step for event in events.Scalars("eval/optimal_states")] == steps
