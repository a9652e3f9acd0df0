"""A resumed run takes no settings but its own, has its folder for itself, and keeps its last good checkpoint."""

import fcntl
import os
from pathlib import Path

import pytest

import selfplay
from selfplay.algorithms import read_settings
from selfplay.commands import train
from selfplay.errors import UserError
from selfplay.runs.checkpoints import Checkpoints
from tests.runs import DQN, Stopper, content_of, in_parts, same, stopped


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
    before = content_of(folder)
    named = [args[0]] if args[0] == "minimax-q" else []
    with pytest.raises(UserError) as caught:
        train.main([*named, "--resume", str(folder), *args[len(named) :]])
    assert gist in str(caught.value)
    assert "\n" not in str(caught.value)
    assert content_of(folder) == before


def test_force_takes_other_settings_and_writes_them_down(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    train.main(["dqn", "--resume", str(folder), "--learning-rate", "0.001", "--force"])
    assert getattr(read_settings(folder)[0], "learning_rate", None) == 0.001
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
