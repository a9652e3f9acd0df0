"""What the tabular learners write and read: tables and counts as CSV, and plots."""

from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import UserError
from selfplay.tabular import learners
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.game_outcomes import (
    cumulative_counts,
    group_counts,
)
from selfplay.tabular.kernels import DRAW, ILLEGAL
from selfplay.tabular.learners import AfterstateQ, MinimaxQ, TDBackup, TDValue
from selfplay.tabular.table_csv import read_table
from tests.runs import read

OUTCOMES = np.array([0, 1, DRAW, ILLEGAL, ILLEGAL + 1], dtype=np.int8)
LINES = ["0,0,0,0,0,0,0,0,0"] * 3**9


def is_png(path: Path) -> bool:
    return path.read_bytes().startswith(b"\x89PNG")


def last_line(path: Path, match_up: str) -> list[int]:
    """Return the last game of a match-up, and what is counted up to it."""
    line = [line for line in read(path) if line["match_up"] == match_up][-1]
    return [int(line[name]) for name in ("game", "first_wins", "second_wins", "draws")]


def test_a_table_comes_back_from_csv_bit_for_bit(tmp_path: Path) -> None:
    learner = MinimaxQ(MinimaxQConfig(seed=1000))
    learner.table[0] = [0.1 + 0.2, 5e-324, -0.0, 1e100, 1 / 3, -1e-300, 123456789.123456789, 2**53 + 2, 1]
    learner.write_report(tmp_path)
    path = tmp_path / "table.csv"
    assert read_table(path).tobytes() == learner.table.tobytes()
    loaded = MinimaxQ(MinimaxQConfig(games=0, from_table=path))
    assert loaded.table.tobytes() == learner.table.tobytes()


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (7, ""),
        (100, "0,0,0,x,0,0,0,0,0"),
    ],
)
def test_a_bad_line_of_a_table_is_named(line: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("\n".join([*LINES[: line - 1], text, *LINES[line:]]))
    with pytest.raises(UserError, match=rf"q\.csv, line {line}:"):
        read_table(path)


def test_a_table_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"q\.csv"):
        read_table(tmp_path / "q.csv")


def test_outcomes_are_counted_game_by_game_and_in_groups() -> None:
    assert cumulative_counts(OUTCOMES).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1], [1, 2, 1], [2, 2, 1]]
    assert group_counts(OUTCOMES, 2).tolist() == [[1, 1, 0], [0, 1, 1], [1, 0, 0]]


def test_afterstate_q_reports_the_three_match_ups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners, "CURVE_GAMES", 300)
    config = AfterstateQConfig(seed=1000, games=1_000)
    AfterstateQ(config).write_report(tmp_path)
    path = tmp_path / "curves.csv"
    assert len(read(path)) == 3 * 300
    played = cumulative_counts(AfterstateQ(config).play(300))
    assert last_line(path, "learner against random") == [300, *played[-1]]  # the games of the run itself
    nothing_learned = last_line(path, "random against random")
    assert last_line(path, "random against learner")[1] < nothing_learned[1] < played[-1, 0]
    assert is_png(tmp_path / "curves.png")


def test_td_value_reports_its_games_by_seat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = TDValueConfig(seed=1000, games=1_000)
    outcomes = TDValue(config).play(1_000)
    TDValue(config).write_report(tmp_path)
    path = tmp_path / "curves.csv"
    assert last_line(path, "learner against random") == [500, *cumulative_counts(outcomes[0::2])[-1]]
    assert last_line(path, "random against learner") == [500, *cumulative_counts(outcomes[1::2])[-1]]
    assert is_png(tmp_path / "curves.png")

    monkeypatch.setattr(learners, "CURVE_GAMES", 300)
    config = TDValueConfig(seed=1000, opponent="self", games=1_000)
    ((_, counts),) = learners.learning_curves(config).items()
    assert np.array_equal(counts, cumulative_counts(TDValue(config).play(300)))
    assert len(learners.learning_curves(TDValueConfig(games=1))) == 1


@pytest.mark.parametrize(("greedy_games", "last"), [(700, [500, 700]), (20_000, [*range(1_000, 20_001, 1_000)])])
def test_td_backup_reports_its_greedy_games_in_groups(greedy_games: int, last: list[int], tmp_path: Path) -> None:
    learner = TDBackup(TDBackupConfig(seed=1000, greedy_games=greedy_games))
    learner.play(1_000)
    assert learner.finish()
    learner.write_report(tmp_path)
    lines = read(tmp_path / "groups.csv")
    assert [int(line["last_game"]) for line in lines] == last
    assert [int(line["first_game"]) for line in lines] == [1, *(game + 1 for game in last[:-1])]
    assert sum(int(line["draws"]) for line in lines) / greedy_games == learner.metrics()["games/draws"]
    assert is_png(tmp_path / "groups.png")
    assert is_png(tmp_path / "values.png")
