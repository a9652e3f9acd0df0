"""Each update rule by hand, on a short game whose moves are forced through the table."""

import numpy as np
import pytest

from selfplay.tabular import kernels
from selfplay.tabular.afterstate_q import AfterstateQ
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.minimax_q import MinimaxQ
from selfplay.tabular.td_backup import TDBackup
from selfplay.tabular.td_value import TDValue
from tests.selfplay.tabular.references import row_of

# X plays cells 0, 1, 2 and wins; O plays 3, 4 between.
X_WINS = [tuple(board) for board in ("X........", "X..O.....", "XX.O.....", "XX.OO....", "XXXOO....")]
# X plays 0, 8 and 2; O plays 3, 4 and 5, and wins.
O_WINS = [tuple(board) for board in ("X........", "X..O.....", "X..O....X", "X..OO...X", "X.XOO...X", "X.XOOO..X")]
EMPTY_BOARD = tuple(".........")


def test_minimax_q_moves_each_value_towards_the_best_reply() -> None:
    learner = MinimaxQ(MinimaxQConfig(epsilon=0, alpha=0.5, gamma=0.8))
    q = learner.table[0]
    q[:] = 0
    rows = [row_of(board) for board in (EMPTY_BOARD, *X_WINS)]
    for row, cell, sign in zip(rows, (0, 3, 1, 4, 2), (1, -1, 1, -1, 1), strict=False):
        q[row, cell] = sign * 0.5
    assert learner.play(1).tolist() == [0]
    # 0.5 + 0.5 * (0.8 * -0.5 - 0.5) for X, the mirror image for O, and 0.5 + 0.5 * (1 - 0.5) at the end
    learned = [q[row, cell] for row, cell in zip(rows, (0, 3, 1, 4, 2), strict=False)]
    assert learned == pytest.approx([0.05, -0.05, 0.05, -0.05, 0.75])
    assert np.count_nonzero(q) == 5


def test_minimax_q_charges_a_taken_cell_to_the_seat_that_played_it() -> None:
    learner = MinimaxQ(MinimaxQConfig(epsilon=0, alpha=0.5, gamma=0.8))
    q = learner.table[0]
    q[:] = 0
    empty, after = row_of(EMPTY_BOARD), row_of(X_WINS[0])
    q[empty, 0] = 0.5
    # Of nine zeros the second seat takes the first cell, which X has just taken: O loses, so X's reward is 1.
    assert learner.play(1).tolist() == [kernels.ILLEGAL + 1]
    assert q[after, 0] == 0.5
    assert q[empty, 0] == 0.25


def test_afterstate_q_walks_its_own_afterstates_back_from_the_result() -> None:
    table = np.zeros(3**9)
    path = np.array([row_of(board) for board in O_WINS])
    table[path[2]] = 1.0
    kernels.back_up(table, path, len(path), 0, 0.2, 0.8, -1.0)
    last = 0.2 * (0.8 * -1.0)
    before = 1.0 + 0.2 * (0.8 * last - 1.0)
    first = 0.2 * (0.8 * before)
    assert table[path[[4, 2, 0]]].tolist() == [last, before, first]
    assert table[path[[1, 3, 5]]].tolist() == [0, 0, 0]


def test_afterstate_q_learns_nothing_of_the_opponents_positions() -> None:
    for seat in (0, 1):
        learner = AfterstateQ(AfterstateQConfig(seat=seat))
        learner.play(1_000)
        known = np.flatnonzero(learner.table)
        marks = np.array([[row // 3**cell % 3 for cell in range(9)] for row in known])
        ahead = (marks == 1).sum(axis=1) - (marks == 2).sum(axis=1)
        assert set(ahead) == {1 - seat}


def test_td_backup_gives_each_seat_its_own_result() -> None:
    learner = TDBackup(TDBackupConfig(exploit=1, alpha=0.5, gamma=0.8))
    path = [row_of(board) for board in O_WINS]
    learner.table[path] = 10.0  # far above every rival, so that the game takes this path
    assert learner.play(1).tolist() == [1]
    # The loser goes to 0, the winner to 1: V = 10 / 2 + 0.8 * r / 2.
    loser = [5.0, 5.0 + 0.4 * 5.0, 5.0 + 0.4 * 7.0]
    winner = [5.4, 5.0 + 0.4 * 5.4, 5.0 + 0.4 * 7.16]
    assert learner.table[path[4::-2]].tolist() == pytest.approx(loser, abs=1e-12)
    assert learner.table[path[5::-2]].tolist() == pytest.approx(winner, abs=1e-12)


def test_td_backup_values_a_draw_by_seat() -> None:
    # On 1x2 with two in a row every game is a draw of one move each.
    learner = TDBackup(TDBackupConfig(rows=1, cols=2, k=2, alpha=0.5, gamma=0.8, draw_first=0.1, draw_second=0.5))
    assert learner.play(1).tolist() == [-1]
    assert sorted(learner.table[learner.table != 0]) == pytest.approx([0.5 * 0.8 * 0.1, 0.5 * 0.8 * 0.5])


def forced(learner: TDValue, boards: list[tuple[str, ...]]) -> list[int]:
    """Set the learners' values so that greedy play takes this path: 0.9 for each step before the end."""
    rows = [row_of(board) for board in boards]
    for ply, row in enumerate(rows[:-1]):
        learner.table[ply % 2, row] = 0.9
    return rows


@pytest.mark.parametrize("back_up_losses", [True, False])
def test_td_value_backs_up_between_own_afterstates_and_a_loss(back_up_losses: bool) -> None:
    learner = TDValue(TDValueConfig(opponent="self", exploration=0, alpha=0.5, back_up_losses=back_up_losses))
    rows = forced(learner, X_WINS)
    assert learner.play(1).tolist() == [0]
    # X: 0.9 towards 0.9, then 0.9 towards the win, 1. O: 0.9 towards 0.9, then its last position towards 0.
    assert learner.table[0, rows[::2]].tolist() == pytest.approx([0.9, 0.95, 1.0])
    assert learner.table[1, rows[1::2]].tolist() == pytest.approx([0.9, 0.45 if back_up_losses else 0.9])


def test_td_value_backs_nothing_up_after_a_random_move() -> None:
    learner = TDValue(TDValueConfig(opponent="self", exploration=1, back_up_losses=False))
    before = learner.table.copy()
    learner.play(1_000)
    assert np.array_equal(learner.table, before)


def test_td_value_starts_from_what_each_seat_has_won_and_lost() -> None:
    table = TDValue(TDValueConfig()).table
    rows = [row_of(tuple(board)) for board in ("XXXOO....", "OOOXX.X..", "XOXXOOOXX", ".........", "X...O....")]
    assert table[0, rows].tolist() == [1, 0, 0, 0.5, 0.5]
    assert table[1, rows].tolist() == [0, 1, 0, 0.5, 0.5]


def test_the_learner_of_td_value_takes_the_seats_in_turn() -> None:
    learner = TDValue(TDValueConfig(seed=1000))
    start = learner.table.copy()
    learner.play(1)
    changed = [not np.array_equal(learner.table[seat], start[seat]) for seat in (0, 1)]
    assert changed == [True, False]
    middle = learner.table.copy()
    learner.play(1)
    assert np.array_equal(learner.table[0], middle[0])
    assert not np.array_equal(learner.table[1], middle[1])
