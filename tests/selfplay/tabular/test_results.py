"""What the tabular learners write: tables and counts as CSV, and plots."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.learning.plots import png
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig
from selfplay.tabular.kernels import DRAW, ILLEGAL
from selfplay.tabular.learners import AfterstateQ, MinimaxQ, TDBackup, match_up_curves
from selfplay.tabular.results import (
    count,
    cumulative_counts,
    cumulative_figure,
    density_figure,
    group_counts,
    groups_figure,
    shares,
    write_curves,
)
from selfplay.tabular.table_csv import read_table
from tests.runs import refused
from tests.selfplay.tabular.references import row_of
from tests.tictactoe.rule_book import RuleBook

OUTCOMES = np.array([0, 1, DRAW, ILLEGAL, ILLEGAL + 1], dtype=np.int8)
LINES = ["0,0,0,0,0,0,0,0,0"] * 3**9


def test_a_table_comes_back_from_csv_bit_for_bit(tmp_path: Path) -> None:
    learner = MinimaxQ(MinimaxQConfig(seed=1000))
    table = learner.table
    table[0] = [0.1 + 0.2, 5e-324, -0.0, 1.7976931348623157e308, 1 / 3, -1e-300, 123456789.123456789, 2**53 + 2, 1]
    learner.write_report(tmp_path)
    assert read_table(tmp_path / "table.csv").tobytes() == table.tobytes()


@pytest.mark.parametrize(
    ("line", "text", "message"),
    [
        (0, "0,0,0,0,0,0,0,0", "line 1: must hold 9 finite numbers, but is '0,0,0,0,0,0,0,0'"),
        (6, "", "line 7: must hold 9 finite numbers, but is ''"),
        (99, "0,0,0,x,0,0,0,0,0", "line 100: must hold 9 finite numbers, but is '0,0,0,x,0,0,0,0,0'"),
        (19_682, "0,0,0,0,0,0,0,0,inf", "line 19683: must hold 9 finite numbers, but is '0,0,0,0,0,0,0,0,inf'"),
    ],
)
def test_a_bad_line_of_a_table_is_named(line: int, text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("\n".join([*LINES[:line], text, *LINES[line + 1 :]]))
    assert refused(read_table, path) == f"{path}, {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("\n".join([*LINES, LINES[0]]).encode(), "must have 19,683 lines, one per position of 3,3,3, but has 19,684"),
        (b"", "must have 19,683 lines, one per position of 3,3,3, but has 0"),
    ],
    ids=["too long", "empty"],
)
def test_a_bad_file_of_a_table_is_named(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_bytes(content)
    assert refused(read_table, path) == f"{path}: {message}"


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    assert "nowhere/q.csv: cannot be read" in refused(read_table, tmp_path / "nowhere" / "q.csv")


def test_outcomes_are_counted_game_by_game_in_groups_and_as_shares() -> None:
    assert cumulative_counts(OUTCOMES).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 2, 1], [2, 2, 1]]
    assert group_counts(OUTCOMES, 2).tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 0]]
    counts = count(np.repeat(OUTCOMES, [3, 1, 1, 1, 2]))
    assert counts.tolist() == [1, 3, 1, 1, 2]
    assert shares(counts) == {
        "games/first_wins": 5 / 8,
        "games/second_wins": 2 / 8,
        "games/draws": 1 / 8,
        "games/illegal": 3 / 8,
    }
    assert set(shares(count(OUTCOMES[:0])).values()) == {0}


def test_match_ups_are_played_per_seed_and_written_as_csv(tmp_path: Path) -> None:
    curves = match_up_curves(AfterstateQConfig(games=50), [1000, 1001])
    assert [counts.shape for counts in curves.values()] == [(2, 50, 3)] * 3
    second_seat = cumulative_counts(AfterstateQ(AfterstateQConfig(games=50, seat=1, seed=1001)).play(50))
    assert np.array_equal(curves["random against learner"][1], second_seat)
    write_curves(tmp_path / "curves.csv", curves, [1000, 1001], every=25)
    lines = (tmp_path / "curves.csv").read_text().splitlines()
    assert len(lines) == 1 + 3 * 2 * 2
    assert lines[0] == "match_up,seed,game,first_wins,second_wins,draws"
    assert lines[-1] == f"random against learner,1001,50,{','.join(map(str, second_seat[-1]))}"


def test_learned_values_are_split_by_whether_the_last_move_won() -> None:
    learner = TDBackup(TDBackupConfig(seed=1000))
    learner.play(1_000)
    book = RuleBook(3, 3, 3)
    expected: dict[bool, list[float]] = {True: [], False: []}
    for board in book.histories():
        value = float(learner.table[row_of(board)])
        if value:
            expected[book.has_line(board, "X") or book.has_line(board, "O")].append(value)
    winning, other = learner.learned_values()
    assert sorted(winning) == sorted(expected[True]) != []
    assert sorted(other) == sorted(expected[False]) != []


def test_plots_show_what_they_are_given() -> None:
    one = cumulative_counts(OUTCOMES)
    figure = cumulative_figure({"a": np.stack([one, cumulative_counts(0 * OUTCOMES)]), "b": one[None]})
    assert [axes.get_title() for axes in figure.axes] == ["a, 2 seeds", "b"]
    axes: Any = figure.axes[0]
    lines, bands = axes.get_lines(), [band.get_paths()[0].vertices for band in axes.collections]
    assert [(line.get_xdata()[-1], line.get_ydata()[-1]) for line in lines] == [(5, 3.5), (5, 1), (5, 0.5)]
    assert [sorted({*band[band[:, 0] == 5, 1]}) for band in bands] == [[2, 5], [0, 2], [0, 1]]
    assert axes.get_legend_handles_labels()[1][0] == "first seat wins 70.0%"

    bars = groups_figure(group_counts(OUTCOMES, 2), 2)
    heights = [[bar.get_height() for bar in group] for group in bars.axes[0].containers]
    assert heights == [[1, 0, 1], [1, 1, 0], [0, 1, 0]]

    density: Any = density_figure(np.array([0.9, 0.9]), np.array([0.1, 0.2, 0.3]))
    assert density.axes[0].get_legend_handles_labels()[1] == ["winning positions (2)", "other positions (3)"]
    for heights, edges, _ in (stairs.get_data() for stairs in density.axes[0].patches):
        assert np.sum(heights * np.diff(edges)) == pytest.approx(1)
    assert png(density_figure(np.array([]), np.array([]))).startswith(b"\x89PNG")
