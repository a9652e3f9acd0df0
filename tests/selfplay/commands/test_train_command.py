"""`python train.py` as a user runs it: what it prints and leaves behind, and how it explains mistakes."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

import selfplay
from selfplay.commands import train
from selfplay.dqn.config import PRESETS, DQNConfig
from tests.runs import ROOT, check_tensorboard, interrupt
from tests.selfplay.decisions import ABSOLUTE


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


SHORT = ("--rows", "2", "--cols", "3", "--total-steps", "200000", "--eval-every", "5000")


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("training")
    done = run(str(ROOT / "train.py"), *SHORT, "--run-dir", "runs/it", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return folder / "runs" / "it", done.stdout


def test_what_is_printed(finished: tuple[Path, str]) -> None:
    folder, output = finished
    for expected in (
        "A game of the player against itself",
        "lost game lines",
        "PROVED UNBEATABLE",
        "It was proved from",
        "The run is in runs/it",
        "-m selfplay prove runs/it",
        "-m selfplay play runs/it",
        "-m tensorboard.main --logdir runs",
        f"{ROOT / 'train.py'} --help",
    ):
        assert expected in output
    assert "Traceback" not in output
    assert folder.is_dir()


def test_what_the_run_folder_holds(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert names == {
        "config.json",
        "model.safetensors",
        "metrics.jsonl",
        "evaluation.json",
        "progress.png",
        "checkpoint",
    }
    assert (folder / "progress.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "evaluation.json").read_text())["unbeatable"] is True
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    plies = [line["plies"] for line in lines]
    assert plies == sorted(set(plies))
    assert lines[-1]["eval/first/losses"] == lines[-1]["eval/second/losses"] == 0
    assert lines[-1]["time/updates"] > lines[0]["time/updates"] > 0


def test_what_tensorboard_shows(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    check_tensorboard(folder, "plies")


def test_the_saved_player_is_proved_again(finished: tuple[Path, str]) -> None:
    folder, output = finished
    proved = run("-m", "selfplay", "prove", str(folder), cwd=folder)
    assert proved.returncode == 0, proved.stderr
    verdict = next(line for line in output.splitlines() if line.startswith("PROVED"))
    assert verdict in proved.stdout


def test_a_second_run_does_not_write_over_the_first(finished: tuple[Path, str]) -> None:
    folder, _ = finished
    before = (folder / "model.safetensors").read_bytes()
    again = run(str(ROOT / "train.py"), *SHORT, "--run-dir", str(folder), cwd=folder)
    assert again.returncode == 2
    assert again.stderr == f"python train.py: {folder}: has files in it already; choose a new or empty --run-dir\n"
    assert (folder / "model.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (("--sed", "3"), "perhaps you meant --seed"),
        (("--k", "5"), "got k=5 on a 3x3 board"),
        (("--rows", "9", "--cols", "8"), "a 9x8 board has 72 cells"),
        (("--memory-size", "1000000000000"), "need at least 260,000 GB of memory, and this machine has"),
        (("--memory-size", "1000000000", "--batch-size", "1000000000"), "lower --memory-size, --batch-size"),
        (("--run-dir", "/dev/null/x"), "choose another --run-dir"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(args: tuple[str, ...], gist: str, tmp_path: Path) -> None:
    done = run(str(ROOT / "train.py"), *args, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("python train.py: ")
    assert done.stderr.count("\n") == 1
    assert gist in done.stderr


@pytest.mark.skipif(torch.cuda.is_available(), reason="only a machine without CUDA must refuse it")
def test_cuda_is_refused_where_there_is_none(tmp_path: Path) -> None:
    done = run(str(ROOT / "train.py"), "--device", "cuda", cwd=tmp_path)
    assert done.returncode == 2
    assert "use --device cpu" in done.stderr


def test_a_bad_run_is_one_line_and_status_2_when_proved(tmp_path: Path) -> None:
    done = run("-m", "selfplay", "prove", str(tmp_path), cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"selfplay prove: {tmp_path / 'config.json'}: cannot be read")
    assert done.stderr.count("\n") == 1


def test_an_interrupted_run_leaves_its_player(tmp_path: Path) -> None:
    folder = interrupt(["--stop", "never", "--eval-every", "2000"], tmp_path, evaluations=2)
    assert selfplay.load(folder).act(ABSOLUTE).shape == (4520,)


def test_a_run_whose_reader_has_gone_keeps_its_player(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "train.py"), *SHORT, "--run-dir", "it"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as training:
        assert training.stdout is not None
        assert training.stderr is not None
        training.stdout.close()
        assert "Traceback" not in training.stderr.read()
    assert selfplay.load(tmp_path / "it").rules.cells == 6
    assert json.loads((tmp_path / "it" / "evaluation.json").read_text())["unbeatable"] is True


def test_a_run_that_diverges_says_so_and_keeps_its_last_good_player(tmp_path: Path) -> None:
    flags = ("--learning-rate", "1e30", "--total-steps", "6000", "--eval-every", "1000", "--run-dir", "it")
    done = run(str(ROOT / "train.py"), *flags, cwd=tmp_path)
    assert done.returncode == 2
    assert "the loss is no longer finite after" in done.stderr
    assert done.stderr.count("\n") == 1
    assert "NaN" not in (tmp_path / "it" / "metrics.jsonl").read_text()


def test_a_board_too_large_to_solve_is_judged_by_what_the_player_leads_to(tmp_path: Path) -> None:
    flags = ("--rows", "5", "--cols", "5", "--k", "4", "--total-steps", "12000", "--hidden", "16", "--run-dir", "it")
    done = run(str(ROOT / "train.py"), *flags, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "NOT unbeatable: some opponent beats it. Its exploitability is 1." in done.stdout
    evaluation = json.loads((tmp_path / "it" / "evaluation.json").read_text())
    player = selfplay.load(tmp_path / "it")
    assert evaluation == selfplay.evaluate_reach(player, player.rules).as_dict()
    assert (evaluation["unbeatable"], evaluation["optimal_states"]) == (False, None)
    proved = run("-m", "selfplay", "prove", "it", cwd=tmp_path)
    assert f"{evaluation['second']['illegal']:,}" in proved.stdout
    cut_short = run("-m", "selfplay", "prove", "it", "--positions", "100", cwd=tmp_path)
    assert "Its play leads to too many positions to follow to the end." in cut_short.stdout
    assert "plies followed" in cut_short.stdout


def test_flags_override_the_presets_values() -> None:
    article = train.read(["--preset", "article", "--seed", "4", "--batch-size", "64"])[0]
    assert article == dataclasses.replace(PRESETS["article"], seed=4, batch_size=64)
    assert train.read(["dqn"])[0] == train.read([])[0] == DQNConfig()
