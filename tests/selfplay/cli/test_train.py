"""`train.py` with each algorithm: what it prints and leaves behind, and how a run ends early."""

import contextlib
import io
import json
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import selfplay
from selfplay.algorithms import ALGORITHMS
from selfplay.cli import prove, train
from tests.runs import ROOT, metrics, refused, unread

FILES = {"config.json", "model.safetensors", "metrics.jsonl", "evaluation.json", "progress.png", "checkpoint"}
FILES |= {"snapshots", "latest.json"}
OWN_FILES: dict[str, set[str]] = {
    "dqn": set(),
    "minimax-q": {"table.csv"},
    "afterstate-q": {"curves.csv", "curves.png"},
    "td-value": {"curves.csv", "curves.png"},
    "td-backup": {"groups.csv", "groups.png", "values.png"},
}
SMALL = ("--rows", "2", "--cols", "3", "--hidden", "32", "--num-envs", "32", "--warmup", "64")


@pytest.fixture(scope="module", params=OWN_FILES)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str]:
    """Return the algorithm of a run, its folder, and what was printed."""
    algorithm: str = request.param
    place = tmp_path_factory.mktemp("training")
    args = [algorithm, "--seed", "7", "--games", "2000", "--eval-every", "800"]
    if algorithm == "dqn":
        args = [*SMALL, "--batch-size", "64", "--eval-every", "2000", "--run-dir", "runs/it"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.chdir(place)
        train.main(args)
    (folder,) = (place / "runs").iterdir()
    return algorithm, folder, printed.getvalue()


def test_every_learner_is_an_algorithm() -> None:
    assert list(ALGORITHMS) == list(OWN_FILES)


def test_what_is_printed_and_where_the_run_lies(finished: tuple[str, Path, str]) -> None:
    algorithm, folder, output = finished
    if algorithm == "dqn":
        expected = ["PROVED UNBEATABLE", "It was proved from", "The run is in runs/it", "selfplay train --help"]
        expected += ["A game of the player against itself"]
    else:
        expected = ["game that beats the player as", "NOT unbeatable", f"selfplay train {algorithm} --help"]
        name = rf"{algorithm}-3x3x3-7-games-2000-eval-every-800-\d{{8}}-\d{{6}}"
        assert re.fullmatch(name, folder.name)
        assert re.search(r"2,000 games: lost [a-z ]+ [\d,]+ as X, [\d,]+ as O; illegal [a-z ]+ [\d,]+ as X", output)
    programs = [f"selfplay {command} runs/{folder.name}" for command in ("prove", "play", "web")]
    common = ["wins against random", " --logdir runs"]
    assert [text for text in (*common, *programs, *expected) if text not in output] == []


def test_what_the_run_folder_holds(finished: tuple[str, Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    algorithm, folder, output = finished
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert names == FILES | OWN_FILES[algorithm]
    assert (folder / "progress.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "config.json").read_text())["algorithm"] == algorithm
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert evaluation == selfplay.evaluate(selfplay.load(folder), selfplay.load(folder).rules).as_dict()
    lines = metrics(folder)
    assert lines[-1]["eval/optimal_states"] == evaluation["optimal_states"]
    steps = [line["plies" if algorithm == "dqn" else "games"] for line in lines]
    assert steps == sorted(set(steps))
    if algorithm == "dqn":
        assert evaluation["unbeatable"] is True
        assert lines[-1]["time/updates"] > lines[0]["time/updates"] > 0
    else:
        assert steps[:3] == [800, 1_600, 2_000]
        assert lines[0]["time/games_per_s"] > 0
    prove.main([str(folder)])
    proved = capsys.readouterr().out
    assert next(line for line in output.splitlines() if line.startswith(("PROVED", "NOT "))) in proved


def test_what_tensorboard_shows(finished: tuple[str, Path, str]) -> None:
    """It is what metrics.jsonl says, over plies or games, and the page about it explains it."""
    algorithm, folder, _ = finished
    unit = "plies" if algorithm == "dqn" else "games"
    events = EventAccumulator(str(folder))
    events.Reload()
    tags, lines = events.Tags(), metrics(folder)
    for tag in lines[-1].keys() - {unit}:
        shown = {event.step: event.value for event in events.Scalars(tag)}
        assert shown == {line[unit]: pytest.approx(line[tag], rel=1e-6) for line in lines if tag in line}
    assert tags["images"] == ["q/opening"]
    assert tags["tensors"] == ["game/self_play/text_summary"]
    hparams = {name for name in events.summary_metadata if name.startswith("_hparams_/")}
    assert hparams == {"_hparams_/session_start_info", "_hparams_/session_end_info"}  # see Events.hparams
    page = (ROOT / "docs" / "runs-and-tensorboard.md").read_text()
    for tag in {*tags["scalars"], *tags["images"], "game/self_play"}:
        documented = tag.replace("/second/", "/first/")
        assert f"`{documented}`" in page, documented


def test_minimax_q_goes_on_from_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    train.main(["minimax-q", "--games", "1000", "--run-dir", str(first)])
    train.main(["minimax-q", "--games", "0", "--from-table", str(first / "table.csv"), "--run-dir", str(again)])
    assert (again / "table.csv").read_bytes() == (first / "table.csv").read_bytes()
    assert (again / "evaluation.json").read_bytes() == (first / "evaluation.json").read_bytes()
    assert "\n0 games: lost " in capsys.readouterr().out
    (tmp_path / "bad.csv").write_text("1,2,3\n")
    flags = ["--from-table", str(tmp_path / "bad.csv"), "--run-dir", str(tmp_path / "third")]
    assert "bad.csv: must have 19,683 lines" in refused(train.main, ["minimax-q", *flags])
    assert not (tmp_path / "third").exists()


def test_an_interrupted_run_leaves_its_player(tmp_path: Path) -> None:
    program, folder = [sys.executable, str(ROOT / "train.py")], tmp_path / "it"
    command = [*program, *SMALL, "--batch-size", "64", "--stop", "never", "--eval-every", "2000", "--run-dir", "it"]
    # A shell that runs the tests in its background has them ignore the signal, which a child would inherit.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    training = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    signal.signal(signal.SIGINT, handler)
    written = folder / "metrics.jsonl"
    while not (written.exists() and written.read_text().count("\n") >= 2):
        assert training.poll() is None
        time.sleep(0.05)
    try:
        training.send_signal(signal.SIGINT)
        output, errors = training.communicate(timeout=60)
    finally:
        training.kill()
    assert training.returncode == 130
    assert errors == "python train.py: interrupted; the player so far is in it\n"
    assert output.endswith("selfplay play it\n")
    assert f"Go on with the run:\n  {shlex.join(program)} --resume it\n" in output
    assert "NOT unbeatable: some opponent beats it" in output or "PROVED" in output
    assert not (folder / "evaluation.json").exists()
    assert selfplay.load(folder).rules.cells == 6


def test_a_run_whose_reader_has_gone_keeps_its_player(tmp_path: Path) -> None:
    flags = ["--rows", "1", "--cols", "3", "--games", "200", "--eval-every", "100", "--run-dir", "it"]
    assert "Traceback" not in unread(ROOT / "train.py", "td-backup", *flags, cwd=tmp_path)[1]
    assert selfplay.load(tmp_path / "it").rules.cells == 3
    assert json.loads((tmp_path / "it" / "evaluation.json").read_text())["unbeatable"] is True


def test_a_board_too_large_to_solve_is_evaluated_by_the_positions_that_the_player_leads_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "it")
    flags = ["--rows", "3", "--cols", "6", "--total-steps", "1100", "--hidden", "16"]
    train.main([*flags, "--run-dir", folder])
    assert "NOT unbeatable: some opponent beats it. Its exploitability is 1." in capsys.readouterr().out
    evaluation = json.loads((tmp_path / "it" / "evaluation.json").read_text())
    assert (evaluation["unbeatable"], evaluation["optimal_states"]) == (False, None)
    prove.main([folder, "--positions", "100"])
    cut_short = capsys.readouterr().out
    assert "Its play leads to too many positions to follow to the end." in cut_short
    assert "plies followed" in cut_short
