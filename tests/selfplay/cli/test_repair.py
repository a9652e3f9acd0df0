"""`selfplay repair` writes a folder of its own, prints its evaluation, and refuses in one line."""

import json
import re
from pathlib import Path

import pytest

import selfplay
from selfplay import players
from selfplay.cli import certify, prove, repair, train
from selfplay.judging import check_certificate
from selfplay.learning import folder as run_folder
from selfplay.learning.api import SHIPPED_FOLDER
from selfplay.tabular.config import MinimaxQConfig
from tests.children import at_terminal
from tests.runs import content_of, refused, save, saved
from tests.selfplay.dqn.scripted import config_with, make


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of an untrained player."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    config = config_with(mask=True, rows=2, cols=4, k=3)
    save(folder, config, make(config).player())
    return folder


def test_a_run_is_repaired_beside_itself(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, folder = content_of(run), run.parent / "run-repaired"
    repair.main([str(run)])
    assert content_of(run) == before
    output = capsys.readouterr().out
    assert output.startswith("0 positions corrected: can go wrong from ")
    assert "PROVED UNBEATABLE" in output
    assert f"The repaired player is in {folder}." in output
    assert f"selfplay certify {folder}" in output
    assert {path.name for path in folder.iterdir()} == {"config.json", "evaluation.json", "model.safetensors"}
    number = len(selfplay.load(folder).tensors()["shared.hidden.0.bias"]) - 16
    assert number > 0
    assert json.loads((folder / "evaluation.json").read_text())["unbeatable"] is True
    prove.main([str(folder)])
    output = capsys.readouterr().out
    assert "PROVED UNBEATABLE" in output
    assert f"It was repaired after its training: in {number} positions, from run." in output
    certify.main([str(folder)])
    assert check_certificate.main(str(folder / certify.NAME)) == 0
    assert "run-repaired" in refused(train.main, ["--resume", str(folder)])


def test_at_a_terminal_its_rounds_have_lines_of_their_own_above_the_spinner(run: Path) -> None:
    shown = at_terminal("repair", str(run)).read()
    before = re.split(r"\n|\x1b\[2K", shown.partition("0 positions corrected:")[0])[-1]  # on the line, if not erased
    assert not re.sub(r"\x1b\[\?25l", "", before)  # which hides the cursor


def test_off_a_terminal_what_takes_long_has_lines_too(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ply alone can take minutes, and so can other moves that are tried."""
    assert players.LINE_SECONDS < 60
    monkeypatch.setattr(players, "LINE_SECONDS", 0.002)
    repair.main([str(run)])
    assert re.search(r"(?m)^as O: ply \d of 8, \d+ positions$", capsys.readouterr().out)


def test_each_repair_has_a_folder_of_its_own(run: Path) -> None:
    elsewhere = run.parent / "elsewhere"
    for _ in range(2):
        repair.main([str(run)])
    assert (run.parent / "run-repaired-2" / "model.safetensors").exists()
    repair.main([str(run), "--run-dir", str(elsewhere), "--solver"])
    assert " positions with a solver, from run" in (elsewhere / "config.json").read_text()
    assert "elsewhere: has files in it already" in refused(repair.main, [str(run), "--run-dir", str(elsewhere)])


def test_a_player_that_nothing_beats_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repair.main([str(SHIPPED_FOLDER), "--run-dir", str(tmp_path / "repaired")])
    assert "There is nothing to correct, so nothing was written." in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("here")
def test_what_cannot_be_repaired_is_refused_in_one_line() -> None:
    run_folder.create(Path("table"))
    run_folder.write_config(Path("table"), MinimaxQConfig(), {})
    saved(Path("run"))
    assert "is a run of minimax-q, and only a DQN can be repaired" in refused(repair.main, ["table"])
    assert "nowhere/config.json: cannot be read" in refused(repair.main, ["nowhere"])
    assert "leads to more than 5 positions at one ply" in refused(repair.main, ["run", "--positions", "5"])
    assert not Path("run-repaired").exists()
