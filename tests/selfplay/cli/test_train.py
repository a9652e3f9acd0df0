"""`selfplay train` with each algorithm: what it offers and leaves behind, and how a run ends early."""

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.cli import prove, train
from selfplay.runs.algorithms import ALGORITHMS
from tests.runs import ROOT, metrics, without_plots

FILES = {"config.json", "model.safetensors", "metrics.jsonl", "evaluation.json", "progress.png", "snapshots"}
FILES |= {"checkpoint.safetensors"}
OWN_FILES: dict[str, set[str]] = {
    "dqn": set(),
    "minimax-q": {"table.csv"},
    "afterstate-q": {"curves.csv", "curves.png"},
    "td-value": {"curves.csv", "curves.png"},
    "td-backup": {"groups.csv", "groups.png", "values.png"},
}
SMALL = ("--rows", "2", "--cols", "3", "--hidden", "32", "--num-envs", "32", "--warmup", "64")


@pytest.fixture(scope="module", params=ALGORITHMS)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path, str]:
    """Return the algorithm of a run, its folder, and what was printed."""
    algorithm: str = request.param
    place = tmp_path_factory.mktemp("training")
    args = [algorithm, "--seed", "7", "--games", "2000", "--eval-every", "800"]
    if algorithm == "dqn":
        args = [*SMALL, "--batch-size", "64", "--eval-every", "2000", "--run-dir", "runs/it"]
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as printed:
        patch.chdir(place)
        without_plots(patch.setattr)
        train.main(args)
    (folder,) = (place / "runs").iterdir()
    return algorithm, folder, printed.getvalue()


def evaluation(folder: Path) -> dict[str, Any]:
    verdict: dict[str, Any] = json.loads((folder / "evaluation.json").read_text())
    return verdict


def test_where_nothing_is_installed_a_line_says_so() -> None:
    ended = subprocess.run([sys.executable, "-IS", ROOT / "train.py"], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "selfplay" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_what_the_run_folder_holds(finished: tuple[str, Path, str], capsys: pytest.CaptureFixture[str]) -> None:
    algorithm, folder, output = finished
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert names == FILES | OWN_FILES[algorithm]
    assert (folder / "progress.png").read_bytes().startswith(b"\x89PNG")
    assert json.loads((folder / "config.json").read_text())["algorithm"] == algorithm
    lines, verdict = metrics(folder), evaluation(folder)
    assert verdict == selfplay.evaluate(selfplay.load(folder), selfplay.load(folder).rules).to_dict()
    assert lines[-1]["exact/optimal_states"] == verdict["optimal_states"]
    if algorithm == "dqn":
        assert verdict["unbeatable"]
        assert lines[-1]["time/updates"] > lines[0]["time/updates"] > 0
    else:
        assert folder.name.startswith(f"{algorithm}-3x3x3-7-games-2000-eval-every-800-")
        assert [line["games"] for line in lines][:3] == [800, 1_600, 2_000]
        assert lines[0]["time/games_per_s"] > 0
    assert ("--resume" in output) == (not verdict["unbeatable"])  # only an unproved run is to be continued
    prove.main([str(folder)])
    proved = capsys.readouterr().out
    assert next(line for line in output.splitlines() if line.startswith(("PROVED", "NOT "))).partition(":")[0] in proved


def test_a_run_that_is_stopped_has_the_status_of_an_interrupted_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_plots(monkeypatch.setattr)
    with pytest.raises(SystemExit) as ended:
        train.main(["td-backup", "--games", "40", "--run-dir", str(tmp_path / "it")], stop_when=lambda: True)
    assert ended.value.code == 130
    assert selfplay.open(tmp_path / "it").interrupted


def test_a_board_too_large_to_solve_is_evaluated_by_the_positions_that_the_player_leads_to(tmp_path: Path) -> None:
    flags = "--rows 3 --cols 6 --k 2 --total-steps 1100 --hidden 16 --run-dir"  # with k 2 games are short
    train.main([*flags.split(), str(tmp_path / "it")])
    verdict = evaluation(tmp_path / "it")
    assert (verdict["unbeatable"], verdict["exploitability"], verdict["optimal_states"]) == (False, 1, None)
