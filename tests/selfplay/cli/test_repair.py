"""`selfplay repair` writes a folder of its own, says what it has come to, and refuses in one line."""

import json
from pathlib import Path

import pytest

import selfplay
from selfplay.algorithms import SHIPPED_FOLDER
from selfplay.cli import certify, prove, repair, train
from selfplay.evaluation import check_certificate
from selfplay.tabular.config import MinimaxQConfig
from selfplay.training import folder as run_folder
from tests.runs import content_of, refused, save
from tests.selfplay.dqn.scripted import config_with, make


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of an untrained player."""
    monkeypatch.chdir(tmp_path)
    config = config_with(mask=True)
    save(tmp_path / "run", config, make(config).player())
    return Path("run")


def test_a_run_is_repaired_beside_itself(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = content_of(run)
    repair.main([str(run)])
    said = capsys.readouterr().out
    assert content_of(run) == before
    first, *_ = said.splitlines()
    assert first.startswith("0 positions corrected: beaten from ")
    assert "PROVED UNBEATABLE" in said
    folder = Path("run-repaired")
    assert {path.name for path in folder.iterdir()} == {"config.json", "evaluation.json", "model.safetensors"}
    number = len(selfplay.load(folder).tensors()["shared.hidden.0.bias"]) - 16
    assert json.loads((folder / "config.json").read_text())["repaired"] == f"in {number} positions, from run"
    assert json.loads((folder / "evaluation.json").read_text())["unbeatable"] is True
    prove.main([str(folder)])
    said = capsys.readouterr().out
    assert "PROVED UNBEATABLE" in said
    assert f"It was repaired after its training: in {number} positions, from run." in said
    certify.main([str(folder)])
    assert check_certificate.main(str(folder / certify.NAME)) == 0
    capsys.readouterr()
    prove.main([str(run)])
    assert "repaired" not in capsys.readouterr().out


def test_each_repair_has_a_folder_of_its_own(run: Path) -> None:
    for words in ([], [], ["--run-dir", "elsewhere", "--solver"]):
        repair.main([str(run), *words])
    assert all(Path(name, "model.safetensors").exists() for name in ("run-repaired", "run-repaired-2", "elsewhere"))
    assert " positions with a solver, from run" in Path("elsewhere", "config.json").read_text()
    assert "elsewhere: has files in it already" in refused(repair.main, [str(run), "--run-dir", "elsewhere"])


def test_a_player_that_nothing_beats_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    repair.main([str(SHIPPED_FOLDER), "--run-dir", "repaired"])
    assert "There is nothing to correct, so nothing was written." in capsys.readouterr().out
    assert not Path("repaired").exists()


def test_what_cannot_be_repaired_is_refused_in_one_line(run: Path) -> None:
    run_folder.create(Path("table"))
    run_folder.write_config(Path("table"), MinimaxQConfig(), {})
    assert "is a run of minimax-q, and only a DQN can be repaired" in refused(repair.main, ["table"])
    assert "nowhere/config.json: cannot be read" in refused(repair.main, ["nowhere"])
    assert "leads to more than 5 positions at one ply" in refused(repair.main, [str(run), "--positions", "5"])
    assert not Path("run-repaired").exists()


def test_training_does_not_go_on_behind_a_repair(run: Path) -> None:
    repair.main([str(run)])
    assert "run-repaired" in refused(train.main, ["--resume", "run-repaired"])
