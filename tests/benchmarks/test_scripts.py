"""Every script measures, prints and writes what the pages are filled in from, at the smallest settings."""

import importlib
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import tyro

import selfplay
from benchmarks import pictures
from benchmarks.environment import loops, speed
from benchmarks.learning import bigger_boards
from benchmarks.peers import evaluations
from benchmarks.sweeps import evidence
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan

QUICK = "--mask --num-envs 16 --hidden 8 --batch-size 32 --warmup 64 --memory-size 1000 --eval-every 512"
SCRIPTS = [
    ("environment.speed", "--rounds 1 --seconds 0.001"),
    ("learning.bigger_boards", "--rows 4x4x4 --seeds 1000 --total-steps 4096"),
    pytest.param("learning.lapses", "--rows default --most-seeds 1 --most-plies 7000", marks=pytest.mark.slow),
    ("learning.time_to_unbeatable", "--modes mask --seeds 1000 --total-steps 2048"),
    ("peers.__main__", "--players ours-plain --seeds 1000 --seconds 0.2"),
    ("peers.__main__", "--players stable-baselines3 --seeds 1000 --seconds 0.2"),
    ("peers.__main__", "--players cleanrl-style --seeds 1000 --seconds 0.2"),
    ("peers.__main__", "--players maskable-ppo --seeds 1000 --seconds 0.2"),
    ("peers.__main__", "--players open-spiel --seeds 1000 --seconds 0.2"),
    ("peers.__main__", "--players alphazero --seeds 1000 --seconds 0.2"),
]
"""Each script with its flags."""
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what no flag makes smaller small."""
    monkeypatch.setitem(bigger_boards.ROWS, "4x4x4", f"--rows 1 --cols 3 --k 3 {QUICK}")
    monkeypatch.setattr(evaluations, "CALIBRATION", 0.05)
    monkeypatch.setattr(evaluations, "WITHOUT_UPDATES", 0.1)
    monkeypatch.setattr(speed, "BOARDS", (1, 64))
    monkeypatch.setattr(speed, "pin_to_one_core", lambda: None)
    monkeypatch.setattr(loops, "FRESH_CELLS", 1 << 10)
    for name in ("ONE_BOARD_PLIES", "MANY_BOARDS_PLIES"):
        monkeypatch.setattr(speed, name, 32)


@pytest.mark.parametrize(("script", "flags"), SCRIPTS)
def test_a_script_measures_prints_and_writes(
    script: str, flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main: Any = importlib.import_module(f"benchmarks.{script}").main
    try:
        tyro.cli(main, args=[*shlex.split(flags), "--docs", str(tmp_path)])
    except ModuleNotFoundError as error:
        pytest.skip(f"no {error.name} here")
    assert "| --- |" in capsys.readouterr().out
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert written
    assert written <= {path.name for path in DOCS.rglob("*")}
    assert all('"commit"' in path.read_text() for path in tmp_path.glob("data/*.json"))


def test_a_sweep_is_saved(tmp_path: Path) -> None:
    plan = Plan(seeds="1000", set=("total_steps=1024",), each=("mask=true",))
    sweep = tmp_path / "sweeps" / "proof"
    for folder in (sweep, tmp_path / "evidence"):
        folder.mkdir(parents=True)
    plans.write(plan, sweep)
    for run in plans.all_runs(plan):
        selfplay.train(run.config, run_dir=sweep / run.name, progress=False)
    evidence.main([str(sweep), "--docs", str(tmp_path)])
    written = {str(path.relative_to(tmp_path)) for path in tmp_path.glob("[de]*/*")}
    assert written == {"data/evidence.json", "evidence/proof.csv"}
    assert len((tmp_path / "evidence/proof.csv").read_text().splitlines()) == 3


@pytest.mark.parametrize("name", pictures.PICTURES)
def test_a_picture_of_the_page_is_drawn_from_its_data_file(name: str, tmp_path: Path) -> None:
    for path in (*DOCS.glob("*.csv"), *DOCS.glob("evidence/*.csv"), *DOCS.glob("data/*.json")):
        copy = tmp_path / path.relative_to(DOCS)
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(path, copy)
    pictures.main((name,), tmp_path)
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.png")] == [f"{name}.png"]
    assert f"]({name}.png)" in (DOCS / "results.md").read_text()
