"""A run that is stopped or killed and resumed ends with the same bits, and takes no settings but its own."""

import fcntl
import json
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import selfplay
import train
from selfplay import checkpoint, tracking
from selfplay.checkpoint import Checkpoints
from selfplay.errors import UserError
from selfplay.run_folder import read_config
from selfplay.tabular import training

KILLS = 6
"""Random moments at which a run is killed."""

SMALL = ["--hidden", "16", "--num-envs", "16", "--batch-size", "32", "--memory-size", "700", "--warmup", "64"]
DQN = [*SMALL, "--total-steps", "2400", "--eval-every", "960", "--seed", "1000"]
ARTICLE = ["--preset", "article", "--total-steps", "420", "--eval-every", "150", "--memory-size", "200"]
TABULAR = ["--games", "1000", "--eval-every", "400", "--seed", "1000"]


class Stopper:
    """Press Ctrl-C, or send other signals, when a run asks for the nth time whether a checkpoint is due."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = -1
        self.signals = [signal.SIGINT]
        asked = Checkpoints.due

        def due(kept: Checkpoints) -> bool:
            self.left -= 1
            if self.left == 0:
                for number in self.signals:
                    signal.raise_signal(number)
            return asked(kept)

        monkeypatch.setattr(Checkpoints, "due", due)


@pytest.fixture
def stopper(monkeypatch: pytest.MonkeyPatch) -> Stopper:
    monkeypatch.setattr(training, "SLICE", 70)
    monkeypatch.setattr(tracking, "progress_figure", lambda *_: None)  # takes longer than all the rest of these runs
    monkeypatch.setattr(tracking, "png", lambda _: b"")
    monkeypatch.setattr(tracking.Tracker, "player", lambda *_: None)
    return Stopper(monkeypatch)


def in_parts(args: Sequence[str], folder: Path, stopper: Stopper, stops: Sequence[int]) -> None:
    """Train in this process, stopped so often."""
    start = [*args, "--run-dir", str(folder)]
    for stop in stops:
        stopper.left = stop
        with pytest.raises(KeyboardInterrupt, match=f"--resume {folder} goes on$"):
            train.main(start)
        start = ["--resume", str(folder)]
    stopper.left = -1
    train.main(start)


def left_behind(folder: Path) -> dict[str, Any]:
    """Return what a run has come to, times left out."""
    newest = max((folder / "checkpoint").glob("*.safetensors"), key=lambda path: int(path.stem))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {
        "model": (folder / "model.safetensors").read_bytes(),
        "state": {name: tensor.tolist() for name, tensor in load_file(newest).items()},
        "evaluation": (folder / "evaluation.json").read_bytes(),
        "metrics": [
            {name: value for name, value in line.items() if name == "time/updates" or not name.startswith("time/")}
            for line in lines
        ],
    }


def same(one: Path, other: Path) -> None:
    """Assert that two runs have come to the same, without a difference of megabytes in the report."""
    first, second = left_behind(one), left_behind(other)
    assert [name for name in first if first[name] != second[name]] == []
    assert first["metrics"]


@pytest.mark.parametrize(
    "args",
    [
        DQN,
        [*DQN, "--networks", "separate", "--target", "independent"],
        [*DQN, "--mask", "--target", "independent"],
        [*DQN, "--hard-update", "7", "--dueling", "--convolution", "4", "--no-double", "--no-symmetry"],
        [*DQN, "--networks", "separate", "--updates-per-step", "2"],
        ARTICLE,
    ],
    ids=" ".join,
)
def test_a_dqn_that_is_stopped_and_resumed_ends_with_the_same_bits(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    in_parts(args, tmp_path / "whole", stopper, [])
    for number, stops in enumerate([[1], [61, 1, 2], [100, 40]]):
        in_parts(args, tmp_path / str(number), stopper, stops)
        same(tmp_path / "whole", tmp_path / str(number))


@pytest.mark.parametrize(
    "args",
    [
        ["minimax-q", *TABULAR],
        ["minimax-q", *TABULAR, "--tables", "separate"],
        ["afterstate-q", *TABULAR],
        ["td-value", *TABULAR],
        ["td-value", *TABULAR, "--opponent", "self"],
        ["td-backup", *TABULAR, "--greedy-games", "90"],
    ],
    ids=" ".join,
)
def test_a_tabular_learner_that_is_stopped_and_resumed_ends_with_the_same_bits(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    in_parts(args, tmp_path / "whole", stopper, [])
    for number, stops in enumerate([[1], [8, 1], [4, 6]]):
        in_parts(args, tmp_path / str(number), stopper, stops)
        same(tmp_path / "whole", tmp_path / str(number))
    for path in (tmp_path / "whole").glob("*.csv"):
        assert (tmp_path / "0" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=" ".join)
def test_sigterm_asks_for_a_checkpoint_and_a_second_signal_waits_for_none(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    stopper.signals = [signal.SIGTERM]
    folder = stopped(tmp_path / "it", stopper, args, stop=5)
    assert newest(folder) == 1
    stopper.signals = [signal.SIGTERM, signal.SIGINT]
    stopper.left = 5
    with pytest.raises(KeyboardInterrupt):
        train.main(["--resume", str(folder)])
    assert newest(folder) == 1
    assert handlers == (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))


@pytest.mark.parametrize("args", [DQN, ["td-backup", *TABULAR]], ids=" ".join)
def test_a_finished_run_says_so_and_can_be_made_as_long_as_another(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    length, longer = ("--games", "2000") if "td-backup" in args else ("--total-steps", "4800")
    in_parts(args, tmp_path / "it", stopper, [])
    before = left_behind(tmp_path / "it")
    with pytest.raises(UserError, match=rf"is finished; {length} above \d+ goes on$"):
        train.main(["--resume", str(tmp_path / "it")])
    assert left_behind(tmp_path / "it") == before
    train.main(["--resume", str(tmp_path / "it"), length, longer])
    assert longer in (tmp_path / "it" / "config.json").read_text()
    in_parts([*args, length, longer], tmp_path / "longer", stopper, [])
    extended, whole = left_behind(tmp_path / "it"), left_behind(tmp_path / "longer")
    assert extended["model"] == whole["model"]
    assert extended["state"] == whole["state"]
    with pytest.raises(UserError, match="is finished"):
        train.main(["--resume", str(tmp_path / "it")])


def test_a_run_that_has_proved_what_it_should_is_not_made_longer(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(train, "proves", lambda _, stop: stop != "never")
    in_parts([*DQN, "--eval-every", "160"], tmp_path / "it", stopper, [25])  # in the middle of the streak
    lines = (tmp_path / "it" / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["plies"] for line in lines] == [160, 320, 480]
    longer = ["--resume", str(tmp_path / "it"), "--total-steps", "4800"]
    with pytest.raises(UserError, match="is finished: --stop unbeatable is proved; --stop never --force goes on"):
        train.main(longer)
    train.main([*longer, "--stop", "never", "--force"])
    assert left_behind(tmp_path / "it")["metrics"][-1]["plies"] == 4_800


def stopped(folder: Path, stopper: Stopper, args: Sequence[str] = DQN, stop: int = 70) -> Path:
    stopper.left = stop
    with pytest.raises(KeyboardInterrupt):
        train.main([*args, "--run-dir", str(folder)])
    return folder


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["--seed", "4"], "--seed was 1000 and now is 4 (--force takes them)"),
        (["--mask", "--gamma", "0.5"], "--gamma was 0.99 and now is 0.5; --mask was False and now is True"),
        (["--total-steps", "1600"], "--total-steps was 2400 and now is 1600"),
        (["--hidden", "8", "8"], "--hidden was [16] and now is [8, 8]"),
        (["minimax-q"], "is a run of dqn, not of minimax-q"),
        (["--run-dir", "elsewhere"], "--run-dir and --resume both name the run's folder"),
        (["--gama", "1"], "Unrecognized options: --gama"),
    ],
)
def test_other_settings_are_refused_with_the_difference(
    args: list[str], gist: str, tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    named = [args[0]] if args[0] == "minimax-q" else []
    with pytest.raises(UserError) as caught:
        train.main([*named, "--resume", str(folder), *args[len(named) :]])
    assert gist in str(caught.value)
    assert "\n" not in str(caught.value)
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_force_takes_other_settings_and_writes_them_down(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    train.main(["dqn", "--resume", str(folder), "--learning-rate", "0.001", "--force"])
    assert getattr(read_config(folder), "learning_rate", None) == 0.001
    with pytest.raises(UserError, match="is finished"):
        train.main(["--resume", str(folder)])


def test_force_cannot_fit_a_checkpoint_into_another_network(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    with pytest.raises(UserError, match=r"agent_0\.adam_mean must be \(521,\), but is \(601,\)"):
        train.main(["--resume", str(folder), "--hidden", "8", "16", "--force"])


def test_force_goes_with_resume() -> None:
    with pytest.raises(UserError, match="--force goes with --resume RUN"):
        train.main(["--force"])
    with pytest.raises(UserError, match="--checkpoint-interval must be above 0 s, got 0"):
        train.main(["--checkpoint-interval", "0"])


def test_a_second_process_is_refused(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    handle = os.open(folder, os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    with pytest.raises(UserError, match=f"{folder}: another process is training in it; wait for it or stop it"):
        train.main(["--resume", str(folder)])
    os.close(handle)
    train.main(["--resume", str(folder)])


def test_a_run_locks_its_folder(tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch) -> None:
    refusals = []

    def intrude(kept: Checkpoints, _: object) -> None:
        with pytest.raises(UserError) as caught:
            train.main(["--resume", str(kept.folder)])
        refusals.append(str(caught.value))

    monkeypatch.setattr(Checkpoints, "write", intrude)
    in_parts(DQN, tmp_path / "it", stopper, [])
    assert refusals == [f"{tmp_path / 'it'}: another process is training in it; wait for it or stop it"]


def test_a_read_only_folder_is_refused(tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stopped(tmp_path / "it", stopper)
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: path != folder and access(path, mode))
    with pytest.raises(UserError, match=f"{folder}: is not writable; copy the run elsewhere and resume it there"):
        train.main(["--resume", str(folder)])


def test_an_old_run_and_no_run_are_refused(tmp_path: Path) -> None:
    model = Path(selfplay.__file__).parent / "model"
    with pytest.raises(UserError, match="holds no checkpoints; was it made by an older version of this program"):
        train.main(["--resume", str(model)])
    with pytest.raises(UserError, match=r"config\.json: cannot be read .*; is this a run folder"):
        train.main(["--resume", str(tmp_path)])


def test_metrics_that_were_cut_are_named(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    (folder / "metrics.jsonl").write_text("")
    with pytest.raises(UserError, match=r"metrics\.jsonl: must have 1 whole lines, as its checkpoint counts"):
        train.main(["--resume", str(folder)])


def test_a_full_disk_stops_nothing_and_keeps_the_checkpoint_before(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    in_parts(DQN, tmp_path / "whole", stopper, [])
    folder = stopped(tmp_path / "it", stopper, stop=40)

    def full(path: Path, _: bytes) -> None:
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as broken:
        broken.setattr(checkpoint, "write_whole", full)
        stopper.left = 50
        with pytest.raises(KeyboardInterrupt):
            train.main(["--resume", str(folder)])
    gist = "no checkpoint could be written (No space left on device); the last one stays"
    assert f"{folder / 'checkpoint'}: {gist}" in " ".join(capsys.readouterr().err.split())
    assert [path.name for path in sorted((folder / "checkpoint").iterdir())] == ["1.json", "1.safetensors"]
    train.main(["--resume", str(folder)])
    same(tmp_path / "whole", folder)


def test_a_run_that_diverges_keeps_its_last_good_checkpoint(tmp_path: Path, stopper: Stopper) -> None:
    in_parts(DQN, tmp_path / "whole", stopper, [])
    folder = stopped(tmp_path / "it", stopper)
    newest = (folder / "checkpoint" / "1.safetensors").read_bytes()
    with pytest.raises(UserError, match=r"the loss is no longer finite after \d+ updates"):
        train.main(["--resume", str(folder), "--learning-rate", "1e30", "--force"])
    assert (folder / "checkpoint" / "1.safetensors").read_bytes() == newest
    with pytest.raises(UserError, match=r"1\.json: other settings .*: --learning-rate was 0\.008 and now is 1e\+30 "):
        train.main(["--resume", str(folder)])
    train.main(["--resume", str(folder), "--learning-rate", "8e-3", "--force"])
    same(tmp_path / "whole", folder)


def test_tensorboard_shows_each_step_once(tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = stopped(tmp_path / "it", stopper)
    with monkeypatch.context() as killed:  # evaluates once more, and is gone before it writes a checkpoint
        killed.setattr(Checkpoints, "write", lambda *_: (_ for _ in ()).throw(UserError("gone")))
        stopper.left = 60
        with pytest.raises(UserError, match="gone"):
            train.main(["--resume", str(folder)])
    assert (folder / "metrics.jsonl").read_text().count("\n") == 2
    train.main(["--resume", str(folder)])
    steps = [json.loads(line)["plies"] for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert steps == [960, 1_920, 2_400]
    events = EventAccumulator(str(folder))
    events.Reload()
    assert [event.step for event in events.Scalars("eval/optimal_states")] == steps


def train_with_many_checkpoints(args: list[str]) -> None:
    """Train in a process of its own, with as many checkpoints as the disk can take."""
    checkpoint.LARGEST_SHARE = 0.5
    training.SLICE = 500
    train.main([*args, "--checkpoint-interval", "0.001"])


def newest(folder: Path) -> int:
    return max((int(path.stem) for path in (folder / "checkpoint").glob("*.json")), default=0)


def killed_at_random(args: Sequence[str], folder: Path, chance: random.Random) -> list[int]:
    """Train in processes that are killed, then in one that may end; return the last checkpoint at each death.

    Every third is killed soon after it has begun, the others at some moment after their first checkpoint. About
    half of their time then goes into writing checkpoints.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    found = []
    for number in range(KILLS + 1):
        begun = (folder / "config.json").exists()
        start = ["--resume", str(folder)] if begun else [*args, "--run-dir", str(folder)]
        process = context.Process(target=train_with_many_checkpoints, args=(start,))
        process.start()
        if number < KILLS:
            before = newest(folder) if number % 3 else -1
            while process.is_alive() and not ((folder / "config.json").exists() and newest(folder) > before):
                time.sleep(0.001)
            time.sleep(chance.uniform(0, 0.15))
            process.kill()
        process.join()
        assert process.exitcode == (-signal.SIGKILL if number < KILLS else 0)
        found.append(newest(folder))
    return found


@pytest.mark.parametrize(
    "args",
    [
        [*DQN, "--total-steps", str(6_000 * KILLS), "--eval-every", "8000", "--stop", "never"],
        ["td-value", "--games", str(150_000 * KILLS), "--eval-every", "100000", "--seed", "1000"],
    ],
    ids=["dqn", "td-value"],
)
def test_a_run_killed_at_random_moments_ends_with_the_same_bits(
    args: list[str], tmp_path: Path, stopper: Stopper
) -> None:
    in_parts(args, tmp_path / "whole", stopper, [])
    found = killed_at_random(args, tmp_path / "it", random.Random(1000))
    print("checkpoints", found)
    assert len(set(found[:-1])) >= KILLS // 2, "most processes were killed before their first checkpoint"
    same(tmp_path / "whole", tmp_path / "it")
