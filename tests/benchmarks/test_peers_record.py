"""The comparison with other libraries judges at the times it says, and keeps and shows what it saw."""

import time
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks.peers import __main__ as peers, judging, learners, report
from benchmarks.peers.judging import Judged, Training
from selfplay.errors import UserError
from selfplay.evaluation.evaluate import evaluate
from tictactoe import Rules

Planes = NDArray[np.int8]


class Time:
    """Tell the time that the test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class SlowFirstEmpty:
    """Take the first empty cell, and a hundred seconds for it."""

    def __init__(self, time: Time) -> None:
        self.time = time

    def act(self, observation: Planes, _: object = None) -> Planes:
        self.time.seconds += 100
        empty: Planes = observation[..., 0].reshape(len(observation), -1).argmax(axis=1)
        return empty


def test_the_clock_stands_still_during_evaluations() -> None:
    now = Time()
    player = SlowFirstEmpty(now)
    clock = judging.Clock(player, [2, 4.5], "ours", 1000, now)
    answers = []
    for updates in range(5):
        now.seconds += 1
        answers.append(clock(updates))
    assert answers == [True, True, True, True, False]
    assert [(line.seconds, line.updates) for line in clock.history] == [(2, 1), (5, 4)]
    first, expected = clock.history[0], evaluate(player, Rules())
    assert (first.first_losses, first.second_losses) == (expected.first.losses, expected.second.losses)
    assert first.bad_lines > 0


def test_a_run_tells_what_part_of_its_time_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, work = Time(), Time()

    def run(tick: judging.Tick) -> None:
        tick(0)
        wall.seconds += 8
        work.seconds += 6

    def twice(tick: judging.Tick) -> None:
        run(tick)
        run(tick)
        tick(0)

    monkeypatch.setattr(time, "perf_counter", wall)
    monkeypatch.setattr(time, "process_time", work)
    player = SlowFirstEmpty(Time())
    measured = judging.measure("ours", lambda _: Training(player, run), 1000, [1])
    assert measured.busy == 0.75
    by_the_processor = judging.measure("ours", lambda _: Training(player, twice), 1000, [7], time.process_time)
    assert [one.seconds for one in by_the_processor.history] == [12]
    assert peers.text(judging.Run([line("ours", 1, 2.04, 5)], 0.75)) == (
        "ours, seed 1: after 2.0 s and 10 updates 15 lost and 7 illegal lines, 4,000 optimal states; "
        "worked 75% of the time"
    )


def test_evaluations_are_denser_at_the_beginning() -> None:
    assert judging.times(300, 3) == pytest.approx([1, 300**0.5, 300])
    assert judging.times(60, 1) == [60]


def line(player: str, seed: int, seconds: float, losses: int, unbeatable: bool = False) -> Judged:
    return Judged(player, seed, seconds, 10, losses, 2 * losses, 3, 4, 4_000, 0.5, unbeatable)


def test_a_file_holds_what_was_written(tmp_path: Path) -> None:
    lines = [line("ours", 0, 1.5, 3), line("ours", 0, 3.25, 0, unbeatable=True)]
    judging.write(tmp_path / "peers.csv", lines)
    assert judging.read(tmp_path / "peers.csv") == lines
    assert judging.read(tmp_path / "none.csv") == []


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", ",".join(Judged._fields) + "\nours,0\n"])
def test_another_file_is_left_alone(content: str, tmp_path: Path) -> None:
    (tmp_path / "peers.csv").write_text(content)
    with pytest.raises(UserError, match=r"peers\.csv: is not a file of this benchmark"):
        peers.main(["--players", "--docs", str(tmp_path)])
    assert (tmp_path / "peers.csv").read_text() == content


def test_a_measurement_can_be_made_in_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = [line("ours", 1000, 9, 7), line("ours", 1001, 9, 7), line("tianshou", 1000, 9, 7)]
    judging.write(tmp_path / "peers.csv", earlier)
    piece = ["--players", "ours", "--seeds", "1001", "--seconds", "0.3", "--evaluations", "2"]
    peers.main([*piece, "--docs", str(tmp_path)])
    lines = judging.read(tmp_path / "peers.csv")
    trained = [(one.player, one.seed) for one in lines]
    assert trained == [("ours", 1000), ("ours", 1001), ("ours", 1001), ("tianshou", 1000)]
    assert lines[0] == earlier[0]
    assert lines[3] == earlier[2]
    assert 0.3 <= lines[2].seconds < 9
    assert (tmp_path / "peers.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "7 + 14" in printed
    assert f"{lines[2].first_losses} + {lines[2].second_losses}" in printed


def test_a_player_that_is_not_installed_is_left_out_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = learners.Learner("tianshou_dqn", ("no_such_package",))
    monkeypatch.setattr(learners, "LEARNERS", {**learners.LEARNERS, "tianshou": absent})
    quick = ["--seconds", "0.05", "--evaluations", "1", "--seeds", "1000"]
    peers.main(["--players", "tianshou", "ours", *quick])
    printed = capsys.readouterr().out
    assert "tianshou is left out: no no_such_package here; pip install -c constraints-bench.txt" in printed
    assert "ours, seed 1000" in printed
    with pytest.raises(UserError, match="nothing to show"):
        peers.main(["--players", "tianshou", *quick])


def test_the_table_shows_ends_and_bests() -> None:
    lines = [
        line("tianshou", 0, 2, 4),
        line("ours", 1, 2, 1, unbeatable=True),
        line("ours", 1, 8.04, 5),
        line("ours", 1, 4, 2, unbeatable=True),
    ]
    assert list(report.table_rows(lines)) == [
        ["ours", "1", "10", "5 + 10", "3 + 4", "4,000", "10", "2 of 3", "2.0"],
        ["tianshou", "0", "10", "4 + 8", "3 + 4", "4,000", "19", "0 of 1", "never"],
    ]


def test_the_readme_has_a_row_for_each_player() -> None:
    lines = [
        line("ours, searched", 0, 2, 1, unbeatable=True),
        line("ours, searched", 0, 4, 2),
        line("ours, searched", 1, 2, 3),
        line("tianshou", 0, 2, 4),
        line("ours", 0, 2, 0),
    ]
    assert list(report.readme_rows(lines)) == [
        ["ours", "0 + 0", "3 + 4", "7", "never"],
        ["ours, searched", "2 + 4; 3 + 6", "3 + 4; 3 + 4", "10; 16", "first after 2.0 s, at 1 of 2; never"],
        ["tianshou", "4 + 8", "3 + 4", "19", "never"],
    ]


def test_the_figure_tells_five_seeds_and_searched_settings_apart() -> None:
    lines = [line(name, seed, 1, 2) for name in ("ours", "ours, searched") for seed in range(5)]
    drawn = report.figure(lines).axes[0].get_lines()
    assert len({(str(curve.get_marker()), str(vars(curve)["_dash_pattern"])) for curve in drawn}) == 10


def test_every_name_of_the_figure_is_inside_of_it() -> None:
    names = [name + searched for name in report.COLOURS for searched in ("", judging.SEARCHED)]
    drawn = report.figure([line(name, 0, 1, 2) for name in names])
    drawn.draw_without_rendering()
    [legend] = drawn.legends
    box = legend.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= drawn.bbox.x1
    assert len(legend.get_texts()) == len(names)


def test_the_figure_shows_each_evaluation_of_each_seed() -> None:
    lines = [line("ours", 0, 1, 2), line("ours", 0, 2, 0), line("ours", 1, 1, 3), line("open-spiel", 0, 1, 5)]
    drawn = report.figure([replace_illegal(one) for one in lines]).axes[0].get_lines()
    assert [np.asarray(curve.get_ydata()).tolist() for curve in drawn] == [[6, 0], [9], [15]]
    assert [curve.get_linestyle() for curve in drawn] == ["-", "--", "-"]  # solid for the first seed, dashed
    assert drawn[0].get_color() == drawn[1].get_color() != drawn[2].get_color()


def replace_illegal(one: Judged) -> Judged:
    return one._replace(first_illegal=0, second_illegal=0)
