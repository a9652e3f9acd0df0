"""A resumed run takes no settings but its own, has its folder for itself, and keeps its last good checkpoint.

Files that are whole, but not what this program writes, or of another machine, are refused in a line.
"""

import fcntl
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from numpy.random import PCG64
from selfplay.training.checkpoints import Checkpoints

import selfplay
from selfplay.algorithms import read_settings
from selfplay.cli import train
from selfplay.errors import UserError, one_line
from tests.runs import DQN, TABULAR, Stopper, assert_same, content_of, forge, in_parts, refused, results, stopped


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["--seed", "4"], "--seed was 1000 and now is 4 (--force takes them)"),
        (["--mask", "--gamma", "0.5"], "--gamma was 0.99 and now is 0.5; --mask was False and now is True"),
        (["--total-steps", "1600"], "--total-steps was 2400 and now is 1600"),
        (["--hidden", "8", "8"], "--hidden was [16] and now is [8, 8]"),
        (["minimax-q"], "is a run of dqn, not of minimax-q"),
        (["--run-dir", "elsewhere"], "--run-dir and --resume both name the run's folder"),
        (["--gama", "1"], "unrecognized arguments: --gama"),
    ],
)
def test_other_settings_are_refused_with_the_difference(
    args: list[str], gist: str, tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper)
    before = content_of(folder)
    named = [args[0]] if args[0] == "minimax-q" else []
    assert gist in refused(train.main, [*named, "--resume", str(folder), *args[len(named) :]])
    assert content_of(folder) == before


def test_force_takes_other_settings_and_writes_them_down(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    train.main(["dqn", "--resume", str(folder), "--learning-rate", "0.001", "--force"])
    assert getattr(read_settings(folder)[0], "learning_rate", None) == 0.001


def test_force_cannot_fit_a_checkpoint_into_another_network(tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    with pytest.raises(UserError, match=r"agent_0\.adam_mean must be \(521,\), but is \(601,\)"):
        train.main(["--resume", str(folder), "--hidden", "8", "16", "--force"])


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
        refusals.append(refused(train.main, ["--resume", str(kept.folder)]))

    monkeypatch.setattr(Checkpoints, "write", intrude)
    in_parts(DQN, tmp_path / "it", stopper, [])
    assert set(refusals) == {f"{tmp_path / 'it'}: another process is training in it; wait for it or stop it"}


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


@pytest.mark.parametrize("names", ["*", "*.json"])
@pytest.mark.parametrize("args", [DQN, ["td-value", *TABULAR]], ids=["dqn", "td-value"])
def test_a_run_whose_checkpoints_are_gone_keeps_its_record_unless_by_force(
    args: list[str], names: str, tmp_path: Path, stopper: Stopper, capsys: pytest.CaptureFixture[str]
) -> None:
    in_parts(args, tmp_path / "whole", stopper, [])
    folder = stopped(tmp_path / "it", stopper, args, stop=70 if args == DQN else 8)
    for path in (folder / "checkpoint").glob(names):
        path.unlink()
    before = content_of(folder)
    lost = f"{folder}/checkpoint: holds no checkpoint of a run that has a record: none found room, or they are gone"
    way_out = "put them back, or begin the run and its record again with --force"
    assert refused(train.main, ["--resume", str(folder)]) == f"{lost}; {way_out}"
    assert content_of(folder) == before
    train.main(["--resume", str(folder), "--force"])
    assert capsys.readouterr().err == f"{folder}/checkpoint: holds no checkpoint yet; the run begins again\n"
    assert_same(tmp_path / "whole", folder)


def test_checkpoints_that_cannot_be_read_are_not_taken_for_none(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = stopped(tmp_path / "it", stopper)
    before = content_of(folder)

    def denying(listed: Callable[..., Any]) -> Callable[..., Any]:
        def deny(path: Any = ".") -> Any:
            if str(path).endswith("checkpoint"):
                raise PermissionError(13, "Permission denied", str(path))
            return listed(path)

        return deny

    with monkeypatch.context() as unreadable:  # root may read everything
        for name in ("listdir", "scandir"):
            unreadable.setattr(os, name, denying(getattr(os, name)))
        message = refused(train.main, ["--resume", str(folder)])
    assert message == f"{folder}/checkpoint: cannot be read (Permission denied); make it readable"
    assert content_of(folder) == before


def test_a_run_that_diverges_keeps_its_last_good_checkpoint(tmp_path: Path, stopper: Stopper) -> None:
    in_parts(DQN, tmp_path / "whole", stopper, [])
    folder = stopped(tmp_path / "it", stopper)
    newest = (folder / "checkpoint" / "2.safetensors").read_bytes()
    with pytest.raises(UserError, match="the loss is no longer finite; lower --learning-rate"):
        train.main(["--resume", str(folder), "--learning-rate", "1e30", "--force"])
    assert (folder / "checkpoint" / "2.safetensors").read_bytes() == newest
    with pytest.raises(UserError, match=r"2\.json: other settings .*: --learning-rate was 0\.012 and now is 1e\+30 "):
        train.main(["--resume", str(folder)])
    train.main(["--resume", str(folder), "--learning-rate", "1.2e-2", "--force"])
    assert_same(tmp_path / "whole", folder)


def test_a_run_goes_on_where_it_began_whatever_auto_is_there(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    folder = stopped(tmp_path / "it", stopper, [*DQN, "--device", "auto"])
    assert getattr(read_settings(folder)[0], "device", "") == "cpu"
    train.main(["--resume", str(folder)])


def test_a_run_of_another_device_goes_on_by_force(
    tmp_path: Path, stopper: Stopper, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    folder = stopped(tmp_path / "it", stopper)
    config = json.loads((folder / "config.json").read_text())
    config["config"]["device"] = "cuda"
    (folder / "config.json").write_text(json.dumps(config))
    forge(folder, {"generator": torch.zeros(8_192, dtype=torch.uint8)}, config={"device": "cuda"}, version="0.0.1")
    assert refused(train.main, ["--resume", str(folder)]).endswith("has no CUDA; use --device cpu")
    message = refused(train.main, ["--resume", str(folder), "--device", "cpu"])
    assert "--device was 'cuda' and now is 'cpu' (--force takes them)" in message
    train.main(["--resume", str(folder), "--device", "cpu", "--force"])
    assert getattr(read_settings(folder)[0], "device", "") == "cpu"
    assert results(folder)["metrics"][-1]["plies"] == 2_400


@pytest.mark.parametrize(
    ("args", "stop"), [(["--total-steps", "960"], 70), (["--total-steps", "1120"], 70), (["--total-steps", "96"], 20)]
)
def test_a_run_is_not_made_shorter_than_it_is(args: list[str], stop: int, tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper, stop=stop)
    played = {70: "1,120", 20: "320"}[stop]
    message = refused(train.main, ["--resume", str(folder), *args, "--force"])
    assert message == f"--total-steps must be above what has been played, {played}, got {args[1]}"


@pytest.mark.parametrize("algorithm", ["minimax-q", "td-backup"])
def test_a_tabular_run_is_not_made_shorter_but_may_be_evaluated_more_often(
    algorithm: str, tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper, [algorithm, *TABULAR], stop=4)
    message = refused(train.main, ["--resume", str(folder), "--games", "200", "--force"])
    assert message == "--games must be above what has been played, 280, got 200"
    train.main(["--resume", str(folder), "--eval-every", "100", "--force"])
    assert [line["games"] for line in results(folder)["metrics"]][:3] == [400, 500, 600]


MINIMAX_Q = ["minimax-q", *TABULAR]


@pytest.mark.parametrize(
    ("args", "tensors", "counters"),
    [
        (DQN, {"agent_0.updates": torch.tensor(-1)}, {}),
        (DQN, {"agent_0.memory_added": torch.tensor(-5)}, {}),
        (DQN, {"boards.mover": torch.full((16,), -1)}, {}),
        (DQN, {"boards.mover": torch.full((16,), 1 << 40)}, {}),
        (DQN, {"boards.mover": torch.zeros(16, dtype=torch.int64), "boards.opponent": torch.full((16,), 7)}, {}),
        (DQN, {"boards.ply": torch.full((16,), 9)}, {}),
        (DQN, {"generator": torch.zeros(8_192, dtype=torch.uint8)}, {}),
        (DQN, {}, {"proofs": 7}),
        (DQN, {}, {"updates": 10**30}),
        (DQN, {}, {"due": 10**30}),
        (DQN, {}, {"seconds": 1e300}),
        (DQN, {}, {"plies": 10**12}),
        (DQN, {}, {"evaluations": 10**15}),
        (MINIMAX_Q, {}, {"games_played": 0}),
        (MINIMAX_Q, {}, {"games_played": 10**13}),
        (MINIMAX_Q, {}, {"games_played": 1_000, "evaluations": 0}),
        (MINIMAX_Q, {}, {"counts": [10**9, 0, 0, 0, 0]}),
        (MINIMAX_Q, {}, {"generator": PCG64(0).state | {"state": {"state": 1 << 200, "inc": 1}}}),
    ],
    ids=str,
)
def test_a_forged_checkpoint_is_refused(
    args: list[str], tensors: dict[str, torch.Tensor], counters: dict[str, Any], tmp_path: Path, stopper: Stopper
) -> None:
    folder = stopped(tmp_path / "it", stopper, args, stop=70 if args == DQN else 4)
    forge(folder, tensors, **({"counters": counters} if counters else {}))
    message = refused(train.main, ["--resume", str(folder)])
    expected = "its counters|must" if args == DQN else "--games must be above"
    assert re.search(f"not one of such a run|no state of a generator|{expected}", message)


@pytest.mark.parametrize("name", ["\0", "table\0.csv", "\ud800"])
def test_a_table_whose_name_no_system_knows_is_refused(name: str, tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper, MINIMAX_Q, stop=4)
    config = json.loads((folder / "config.json").read_text())
    config["config"]["from_table"] = name
    (folder / "config.json").write_text(json.dumps(config))
    message = refused(train.main, ["--resume", str(folder)])
    assert message == f"{one_line(name)}: cannot be read (it is no name of a file)"


@pytest.mark.parametrize(
    "changes",
    [
        {"plies": "960"},
        {"plies": -1},
        {"plies": 10**30},
        {"plies": True},
        {"plies": None},
        {"loss/td": float("nan")},
        {"loss/td": 10**400},
        {"loss/td": 1e101},
        {"eval/first/win_vs_random": 10**300},
        {"eval/optimal_fraction": -1e308},
        {"loss/td": None},
        {"\ud800": 1},
        {"eval/first/best_response": 3},
        {"eval/second/losses": "many"},
        {"padding" * 10_000: 1},
    ],
    ids=lambda changes: str(changes)[-60:].encode("ascii", "replace").decode(),
)
def test_a_record_that_no_run_writes_is_refused(changes: dict[str, Any], tmp_path: Path, stopper: Stopper) -> None:
    folder = stopped(tmp_path / "it", stopper)
    path = folder / "metrics.jsonl"
    line = json.loads(path.read_text())
    path.write_text(json.dumps(line | changes) + "\n")
    gist = "metrics.jsonl: must have 1 whole lines, as its checkpoint counts, but line 1 is none; restore it"
    assert gist in refused(train.main, ["--resume", str(folder)])
    for name in ("plies", "time/training_s", "eval/first/losses", "eval/second/best_response"):
        path.write_text(json.dumps({key: value for key, value in line.items() if key != name}) + "\n")
        assert gist in refused(train.main, ["--resume", str(folder)])
    path.write_text(json.dumps(line) + "\n")
    train.main(["--resume", str(folder)])
