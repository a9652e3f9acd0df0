"""The benchmarks of scaling measure what their panels say, and draw and tabulate what was measured."""

import csv
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from benchmarks.environment import faces
from benchmarks.measuring.spread import Spread
from benchmarks.measuring.turns import installed
from benchmarks.scaling import __main__ as scaling, memory, picture, rows
from benchmarks.scaling.picture import CSV_HEADER, Measurement
from benchmarks.scaling.rows import IN_NUMPY, IN_TORCH, PGX, PLAYING, PRODUCTS, TURNS, TWO_LAYERS, UPDATE, VECTOR
from benchmarks.training import loops
from selfplay.dqn.config import DQNConfig
from tests.benchmarks.reports import printed_rows
from tictactoe import Rules

CURVES = {
    "boards": [VECTOR, IN_NUMPY, IN_TORCH, PLAYING, PGX],
    "board size": [TURNS, VECTOR, IN_NUMPY, IN_TORCH, PLAYING],
    "batch size": [UPDATE, PRODUCTS],
    "width": [UPDATE, PRODUCTS, UPDATE + TWO_LAYERS, PRODUCTS + TWO_LAYERS],
    "board size, learning": [UPDATE, PRODUCTS],
}
LARGE = Rules(15, 15, 5)


@dataclass(frozen=True)
class SmallMemory(DQNConfig):
    """Hold little enough to be filled at once."""

    memory_size: int = 512


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BOARDS", (1, 4))
    monkeypatch.setattr(rows, "BATCHES", (8, 16))
    monkeypatch.setattr(rows, "WIDTHS", (16, 32))
    monkeypatch.setattr(rows, "FAMILY", (Rules(), LARGE))
    monkeypatch.setattr(rows, "FAMILY_BOARDS", 4)
    monkeypatch.setattr(rows, "CHUNK_PLIES", 18)
    monkeypatch.setattr(rows, "MEMORY_BOARDS", (64,))
    monkeypatch.setattr(rows, "DQNConfig", SmallMemory)
    monkeypatch.setattr(memory, "peak_bytes", lambda _, num_boards: 100 * num_boards)
    monkeypatch.setattr(faces, "pin", lambda _: None)


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_panel_is_measured_written_and_drawn(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    scaling.main(["--rounds", "2", "--processes", "2", "--seconds", "0.001", "--docs", str(tmp_path)])
    lines = read(tmp_path / "scaling.csv")
    assert tuple(lines[0]) == CSV_HEADER
    has_pgx = installed("pgx")
    points = {"boards": ["1", "4"], "batch size": ["8", "16"], "width": ["16", "32"]}
    for panel, curves in CURVES.items():
        of_panel = [line for line in lines if line["panel"] == panel]
        for point in points.get(panel, ["3,3,3"]):
            measured = dict.fromkeys(line["curve"] for line in of_panel if line["point"] == point)
            assert list(measured) == [curve for curve in curves if has_pgx or curve != PGX]
    large = [line["curve"] for line in lines if line["point"] == str(LARGE)]
    assert large == [TURNS]
    for line in lines:
        assert 0 < float(line["least"]) <= float(line["median"]) <= float(line["most"])
        assert line["measurements"] == ("1" if line["unit"] == "held B/board" else "2")
    with Image.open(tmp_path / "scaling.png") as drawn:
        assert drawn.format == "PNG"
        assert drawn.size == picture.SIZE
    named = [cells[0] for cells in printed_rows(capsys.readouterr().out) if cells[0]]
    assert named == CURVES["boards"][: 4 + has_pgx]


def test_the_points_go_as_far_as_the_page_says() -> None:
    assert (len(rows.BOARDS), rows.BOARDS[-1]) == (11, 1_048_576)
    assert (rows.BATCHES[0], rows.BATCHES[-1]) == (8, 8_192)
    assert (rows.WIDTHS[0], rows.WIDTHS[-1]) == (16, 4_096)
    assert [str(rules) for rules in rows.FAMILY] == ["3,3,3", "4,4,4", "5,5,4", "6,6,4", "7,7,5", "15,15,5"]


def test_a_curve_varies_what_its_panel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[DQNConfig] = []
    monkeypatch.setattr(loops, "learning", learned.append)
    points = {(panel.name, point.name): point.rows for panel in rows.panels() for point in panel.points}
    for place in ("batch size", "8192"), ("width", "64"), ("board size, learning", "4,4,4"):
        for row in points[place]:
            if UPDATE in row.name:
                row.make(np.random.default_rng(1000))
    default = DQNConfig()
    assert learned == [
        replace(default, batch_size=8_192),
        replace(default, hidden=(64,)),
        replace(default, hidden=(64, 64)),
        replace(default, rows=4, cols=4, k=4),
    ]


@pytest.mark.skipif(not memory.measurable(), reason="this system does not say how much memory a process has had")
def test_memory_grows_with_the_boards() -> None:
    few, many = (memory.peak_bytes(IN_NUMPY, boards) for boards in (16_384, 65_536))
    state, observation, mask = 24, 27, 9
    assert state + observation + mask < many / 65_536 < 1_000
    assert few < many / 2


def test_a_failing_process_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "false")
    with pytest.raises(RuntimeError, match="make_vec, 64 boards: "):
        memory.peak_bytes(VECTOR, 64)


@pytest.mark.parametrize(("curve", "held"), [(VECTOR, 9), (IN_NUMPY, 24), (IN_TORCH, 24), (PLAYING, 24 + 108)])
def test_what_a_board_holds(curve: str, held: int) -> None:
    assert memory.held_bytes(curve, 64) == 64 * held


def measurement(curve: str, x: int, rate: float, panel: str = "boards") -> Measurement:
    return Measurement(panel, curve, x, str(x), "plies/s", Spread(rate, rate / 2, 2 * rate), 3)


def test_the_table_says_what_one_board_costs_and_where_half_the_best_rate_begins() -> None:
    rates = {1: 100.0, 4: 390_000.0, 16: 520_000.0, 64: 1e6, 256: 9e5}
    assert list(scaling.boards_rows([measurement("ours", x, rate) for x, rate in rates.items()])) == [
        ["ours", "100 (50 to 200)", "10,000.0 (5,000.0 to 20,000.0)", "1.00 (0.50 to 2.00)", "64", "16"]
    ]


def test_a_panel_shows_each_curve_with_its_spread() -> None:
    updates = [measurement(UPDATE, 8, 1.0, panel)._replace(unit="updates/s") for panel in ("batch size", "width")]
    measured = [measurement(VECTOR, x, 100.0 * x) for x in (1, 4)]
    drawn = picture.figure([*measured, *updates])
    speed = drawn.axes[0]
    assert [np.asarray(line.get_ydata()).tolist() for line in speed.get_lines()] == [[100, 400]]
    band = speed.collections[0].get_paths()[0].vertices
    assert (np.asarray(band)[:, 1].min(), np.asarray(band)[:, 1].max()) == (50, 800)
    (per_step,) = drawn.axes[1].get_lines()
    assert np.asarray(per_step.get_ydata()).tolist() == [0.01, 0.01]
    assert (speed.get_xscale(), speed.get_yscale()) == ("log", "log")
