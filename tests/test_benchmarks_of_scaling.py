"""The benchmarks of scaling measure what their panels say, and the profile leaves no time out and counts none twice."""

import csv
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.flop_counter import FlopCounterMode

import train
from benchmarks import (
    faces,
    memory,
    scaling,
    scaling_picture,
    scaling_rows,
    training_loops,
    training_profile,
    update_cost,
)
from benchmarks.face_loops import Played
from benchmarks.scaling_picture import CSV_HEADER, Measurement
from benchmarks.scaling_rows import IN_NUMPY, IN_TORCH, PGX, PLAYING, PRODUCTS, TURNS, TWO_LAYERS, UPDATE, VECTOR
from benchmarks.spread import Spread, spread
from benchmarks.training_profile import PARTS, REST, Profile, Stopwatch
from selfplay.config import PRESETS, DQNConfig
from selfplay.errors import UserError
from selfplay.interleaved import InterleavedAgents
from tests.selfplay.scripted import config_with
from tests.test_benchmarks_of_learners import printed_rows
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
    monkeypatch.setattr(scaling_rows, "BOARDS", (1, 4))
    monkeypatch.setattr(scaling_rows, "BATCHES", (8, 16))
    monkeypatch.setattr(scaling_rows, "WIDTHS", (16, 32))
    monkeypatch.setattr(scaling_rows, "FAMILY", (Rules(), LARGE))
    monkeypatch.setattr(scaling_rows, "FAMILY_BOARDS", 4)
    monkeypatch.setattr(scaling_rows, "CHUNK_PLIES", 18)
    monkeypatch.setattr(scaling_rows, "MEMORY_BOARDS", (64,))
    monkeypatch.setattr(scaling_rows, "DQNConfig", SmallMemory)
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
    has_pgx = faces.installed("pgx")
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
    of_four = {line["unit"]: line for line in lines if (line["curve"], line["point"]) == (PLAYING, "4")}
    assert float(of_four["s/step"]["least"]) == pytest.approx(4 / float(of_four["plies/s"]["most"]), rel=1e-3)
    with Image.open(tmp_path / "scaling.png") as picture:
        assert picture.format == "PNG"
        assert picture.size == scaling_picture.SIZE
    named = [cells[0] for cells in printed_rows(capsys.readouterr().out) if cells[0]]
    assert named == CURVES["boards"][: 4 + has_pgx]


def test_the_points_go_as_far_as_the_page_says() -> None:
    assert (len(scaling_rows.BOARDS), scaling_rows.BOARDS[-1]) == (11, 1_048_576)
    assert (scaling_rows.BATCHES[0], scaling_rows.BATCHES[-1]) == (8, 8_192)
    assert (scaling_rows.WIDTHS[0], scaling_rows.WIDTHS[-1]) == (16, 4_096)
    assert [str(rules) for rules in scaling_rows.FAMILY] == ["3,3,3", "4,4,4", "5,5,4", "6,6,4", "7,7,5", "15,15,5"]


def test_a_curve_varies_what_its_panel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[DQNConfig] = []
    monkeypatch.setattr(training_loops, "learning", learned.append)
    groups = [scaling_rows.batch_size(8_192), scaling_rows.width(64), scaling_rows.updates_of(Rules(4, 4, 4))]
    for group in groups:
        for row in group.rows:
            if UPDATE in row.name:
                row.make(np.random.default_rng(1000))
    default = DQNConfig()
    assert learned == [
        replace(default, batch_size=8_192),
        replace(default, hidden=(64,)),
        replace(default, hidden=(64, 64)),
        replace(default, rows=4, cols=4, k=4),
    ]


def test_playing_alone_never_learns_and_training_does(monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[int] = []
    learn = InterleavedAgents.learn

    def counted(agents: InterleavedAgents) -> object:
        updates.append(1)
        return learn(agents)

    monkeypatch.setattr(InterleavedAgents, "learn", counted)
    config = config_with(num_envs=8, warmup=0)
    assert training_loops.playing(config, steps=5)() == Played(40, 0)
    assert not updates
    assert training_loops.training(config, steps=5)() == Played(5, 0)
    assert len(updates) == 5


def test_an_update_is_of_the_networks_asked_for_and_from_a_full_memory() -> None:
    config = config_with(hidden=(24,), memory_size=500)
    agents = training_loops.filled(config)
    agent = agents.seats[0]
    assert agents.shared
    assert agent.memory.added >= 500
    assert (agent.memory.table[:500, :27].sum(dim=1) == 9).all()
    before = agent.state()["weights"].clone()
    agents.learn()
    assert agent.network.advantage.weight.shape == (9, 24)
    assert (agent.state()["weights"] != before).any()


@pytest.mark.parametrize(("double", "passes"), [(True, 3), (False, 2)])
def test_the_products_are_those_that_an_update_computes(
    double: bool, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(hidden=(24, 16), batch_size=8, memory_size=64, double=double)
    flops: list[int] = []
    multiply = torch.mm

    def counted(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        flops.append(2 * left.shape[0] * left.shape[1] * right.shape[1])
        return multiply(left, right, out=out)

    chunk = training_loops.update_products(config)
    monkeypatch.setattr(torch, "mm", counted)
    assert chunk() == Played(1, 0)
    weights = [27 * 24, 24 * 16, 16 * 9]
    assert sum(flops) == 2 * 8 * ((passes + 2) * sum(weights) - weights[0])
    agents = training_loops.filled(config)
    with FlopCounterMode(display=False) as counter:
        agents.learn()
    assert sum(flops) == counter.get_total_flops()


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
    with pytest.raises(UserError, match="a curve and a number of boards"):
        memory.main(["make_vec"])


@pytest.mark.parametrize(("curve", "held"), [(VECTOR, 9), (IN_NUMPY, 24), (IN_TORCH, 24), (PLAYING, 24 + 108)])
def test_what_a_board_holds(curve: str, held: int) -> None:
    assert memory.held_bytes(curve, 64) == 64 * held


def measurement(curve: str, x: int, rate: float, panel: str = "boards") -> Measurement:
    return Measurement(panel, curve, x, str(x), "plies/s", Spread(rate, rate / 2, 2 * rate), 3)


def test_the_table_says_what_one_board_costs_and_where_half_the_best_rate_begins() -> None:
    rates = {1: 100.0, 4: 390_000.0, 16: 520_000.0, 64: 1e6, 256: 9e5}
    assert scaling.boards_rows([measurement("ours", x, rate) for x, rate in rates.items()]) == [
        ["ours", "100 (50 to 200)", "10,000.0 (5,000.0 to 20,000.0)", "1.00 (0.50 to 2.00)", "64", "16"]
    ]


def test_a_panel_shows_each_curve_with_its_spread() -> None:
    updates = [measurement(UPDATE, 8, 1.0, panel)._replace(unit="updates/s") for panel in ("batch size", "width")]
    measured = [measurement(VECTOR, x, 100.0 * x) for x in (1, 4)]
    speed = scaling_picture.figure([*measured, *updates]).axes[0]
    assert [np.asarray(line.get_ydata()).tolist() for line in speed.get_lines()] == [[100, 400]]
    band = speed.collections[0].get_paths()[0].vertices
    assert (np.asarray(band)[:, 1].min(), np.asarray(band)[:, 1].max()) == (50, 800)
    assert (speed.get_xscale(), speed.get_yscale()) == ("log", "log")


def test_a_stopwatch_charges_every_instant_once(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    watch = Stopwatch()

    def passing(seconds: float, inner: Sequence[object] = ()) -> None:
        now[0] += seconds
        for call in inner:
            call()  # type: ignore[operator]

    adam = watch.timed("Adam", lambda: passing(2.0))
    update = watch.timed("forward and backward", lambda: passing(5.0, [adam, adam]))
    passing(1.0, [update])
    passing(0.5)
    watch.charge()
    assert {part: seconds for part, seconds in watch.seconds.items() if seconds} == {
        "forward and backward": 5.0,
        "Adam": 4.0,
        REST: 1.5,
    }
    assert watch.calls == {"forward and backward": 1, "Adam": 2}


def test_a_call_that_fails_is_charged_too() -> None:
    watch = Stopwatch()

    def failing() -> None:
        raise UserError("no")

    with pytest.raises(UserError, match="no"):
        watch.timed("act", failing)()
    assert watch.calls["act"] == 1
    before = dict(watch.seconds)
    watch.charge()
    assert {part for part in PARTS if watch.seconds[part] != before[part]} == {REST}


def test_a_profile_has_every_part_and_leaves_training_as_it_was() -> None:
    before = dict(vars(train)), dict(vars(InterleavedAgents))
    config = config_with(seed=1000, total_steps=2_048, num_envs=256, warmup=256, eval_every=1_024, stop="never")
    done = training_profile.profile(config)
    assert (dict(vars(train)), dict(vars(InterleavedAgents))) == before
    assert tuple(done.seconds) == tuple(PARTS)
    assert all(seconds > 0 for seconds in done.seconds.values())
    assert sum(training_profile.share([done], part) for part in PARTS) == pytest.approx(1)
    steps, updates = 8, 8
    of_steps = dict.fromkeys(("act", "remember"), steps) | {"step": 2 * steps, "observe": steps + 1}
    of_updates = dict.fromkeys(("sample", "targets", "forward and backward", "Adam", "target network"), updates)
    assert {part: done.calls[part] for part in of_steps | of_updates} == of_steps | of_updates
    assert done.calls["evaluation"] == 2


def test_shares_are_of_all_runs_together() -> None:
    seconds = dict.fromkeys(PARTS, 0.0)
    runs = [
        Profile(seconds | {"act": 1.0, REST: 1.0}, {"act": 10}, 1.9),
        Profile(seconds | {"act": 6.0, REST: 2.0}, {"act": 40}, 7.9),
    ]
    rows = {row[0]: row[1:3] for row in training_profile.table_rows({"a run": runs})}
    assert rows["act"] == ["70.0 (50.0 to 75.0)", "140,000"]
    assert rows[REST] == ["30.0 (25.0 to 50.0)", "60,000"]


def test_the_command_profiles_the_default_and_the_article(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        training_profile, "RUNS", {name: replace(config, hidden=(8,)) for name, config in training_profile.RUNS.items()}
    )
    training_profile.main(["--seeds", "1000", "--shorten", "10000", "--article-steps", "1100"])
    printed = capsys.readouterr().out
    assert "python train.py, seed 1000: 4 steps, 1 updates" in printed
    assert "--preset article, seed 1000: 100 steps, 1 updates" in printed
    assert " times as long as without" in printed
    assert set(PARTS) <= {cells[0] for cells in printed_rows(printed)}


def test_the_profile_is_of_the_runs_that_the_readme_tells_to_do() -> None:
    runs = training_profile.settings(training_profile.Flags())
    assert runs == {
        "python train.py": PRESETS["default"],
        "--preset article": replace(PRESETS["article"], total_steps=20_000),
    }


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")  # PyTorch's tracer reads it
def test_what_is_compiled_is_the_update(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_cost, "BACKEND", "eager")
    config = config_with(hidden=(8,), batch_size=16)
    weights = []
    for make in (lambda agents: agents.learn, update_cost.compiled_parts):
        agents = training_loops.filled(config)
        update = make(agents)
        for _ in range(3):
            update()
        weights.append(agents.seats[0].state()["weights"])
    torch.testing.assert_close(*weights)


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor:UserWarning")
def test_the_cost_of_an_update_is_printed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(update_cost, "BACKEND", "eager")
    monkeypatch.setattr(update_cost, "PRESETS", dict.fromkeys(PRESETS, config_with(hidden=(8,), batch_size=16)))
    update_cost.main(["--rounds", "2", "--seconds", "0.001"])
    rows = printed_rows(capsys.readouterr().out)
    assert [cells[0] for cells in rows if cells[0]] == ["python train.py"] * 6 + ["--preset article"] * 6
    compiled = [cells for cells in rows if cells[4]]
    assert len(compiled) == 4
    assert all(float(cells[4]) > 0 for cells in compiled)


def test_compiling_pays_after_as_many_updates_as_it_saves_the_time_of() -> None:
    even = spread([100.0])
    assert update_cost.Cost("default", "compiled", even, spread([1.25]), 10.0).cells()[-1] == "4,000"
    assert update_cost.Cost("default", "compiled", even, spread([0.9]), 10.0).cells()[-1] == "never"


@pytest.mark.parametrize(
    ("command", "args"),
    [
        (scaling, ["--rounds", "0"]),
        (scaling, ["--processes", "0"]),
        (scaling, ["--seconds", "0"]),
        (scaling, ["--docs", "nowhere"]),
        (training_profile, ["--seeds"]),
        (training_profile, ["--shorten", "0"]),
        (update_cost, ["--rounds", "0"]),
    ],
)
def test_nothing_to_measure_is_a_mistake(command: object, args: list[str]) -> None:
    with pytest.raises(UserError, match=r"at least one|nowhere: is not a folder"):
        command.main(args)  # type: ignore[attr-defined]
