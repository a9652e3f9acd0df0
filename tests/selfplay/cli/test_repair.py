"""`selfplay repair` writes a folder of its own with a proved player, and leaves the run as it is."""

import json
from pathlib import Path

import pytest

import selfplay
from selfplay.cli import certify, prove, repair, train
from selfplay.judging import check_certificate
from selfplay.judging.verdict import verdict_text
from selfplay.learning import folder as run_folder
from selfplay.learning.load import SHIPPED_FOLDER
from selfplay.players import REPAIRED
from selfplay.tabular.config import MinimaxQConfig
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
    words = " ".join(capsys.readouterr().out.split())
    assert " ".join(verdict_text(selfplay.evaluate(folder)).split()) in words
    assert {path.name for path in folder.iterdir()} == {"config.json", "evaluation.json", "model.safetensors"}
    units = len(selfplay.load(folder).tensors()["shared.hidden.0.bias"]) - 16
    note = run_folder.read_config(folder)[REPAIRED]
    assert units > 0
    assert str(units) in note
    assert "run" in note
    assert json.loads((folder / "evaluation.json").read_text()) == selfplay.evaluate(folder).to_dict()
    assert selfplay.evaluate(folder).unbeatable
    prove.main([str(folder)])
    assert note in capsys.readouterr().out
    certify.main([str(folder)])
    assert check_certificate.main(str(folder / certify.NAME)) == 0
    assert "run-repaired" in refused(train.main, ["--resume", str(folder)])


def test_each_repair_has_a_folder_of_its_own(run: Path) -> None:
    elsewhere = run.parent / "elsewhere"
    (run.parent / "run-repaired").mkdir(exist_ok=True)
    repair.main([str(run)])
    assert (run.parent / "run-repaired-2" / "model.safetensors").exists()
    repair.main([str(run), "--run-dir", str(elsewhere)])
    assert "elsewhere" in refused(repair.main, [str(run), "--run-dir", str(elsewhere)])


def test_a_player_that_nothing_beats_is_left_alone(tmp_path: Path) -> None:
    repair.main([str(SHIPPED_FOLDER), "--run-dir", str(tmp_path / "repaired")])
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("here")
def test_what_cannot_be_repaired_is_refused() -> None:
    run_folder.create(Path("table"))
    run_folder.write_config(Path("table"), MinimaxQConfig(), {})
    saved(Path("run"))
    assert "minimax-q" in refused(repair.main, ["table"])
    assert "nowhere" in refused(repair.main, ["nowhere"])
    assert "5 positions" in refused(repair.main, ["run", "--positions", "5"])
    flat = config_with(hidden=())
    save(Path("flat"), flat, make(flat).player())
    assert "hidden" in refused(repair.main, ["flat"])
    assert not Path("run-repaired").exists()
