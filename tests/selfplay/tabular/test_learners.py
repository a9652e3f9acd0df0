"""Every learner leaves the same bits as its plain reference, and moves its values as computed by hand."""

import copy
from typing import Any

import numpy as np
import pytest

from selfplay.tabular import kernels
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MinimaxQ, TDBackup, TDValue, make_learner
from tests.selfplay.tabular import references
from tests.selfplay.tabular.references import row_of
from tests.tictactoe.rule_book import Board
from tictactoe.arrays import compiled

GAMES = 2_000


def table_of(values: dict[Board, float], initial: np.ndarray) -> np.ndarray:
    table = initial.copy()
    for board, value in values.items():
        table[row_of(board)] = value
    return table


def reference(config: TabularConfig, initial: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return how the reference's games end, and its tables after them."""
    if isinstance(config, MinimaxQConfig):
        rng = np.random.Generator(np.random.PCG64(config.seed))
        tables = rng.standard_normal((1 if config.tables == "shared" else 2, 3**9, 9))
        outcomes = references.minimax_q(config, GAMES, tables, rng)
        of_second = [len(np.base_repr(row, 3).replace("0", "")) % 2 for row in range(3**9)]
        return outcomes, np.where(np.array(of_second)[:, None] == 1, tables[-1], tables[0])
    if isinstance(config, TDValueConfig):
        outcomes, seats = references.td_value(config, GAMES)
        return outcomes, np.stack([table_of(*pair) for pair in zip(seats, initial, strict=True)])
    if isinstance(config, AfterstateQConfig):
        outcomes, values = references.afterstate_q(config, GAMES)
    else:
        assert isinstance(config, TDBackupConfig)
        outcomes, values = references.td_backup(config, GAMES, config.greedy_games)
    return outcomes, table_of(values, initial)


@pytest.mark.parametrize(
    "config",
    [
        MinimaxQConfig(seed=1000),
        MinimaxQConfig(seed=1001, tables="separate", epsilon=0.2),
        MinimaxQConfig(seed=1002, alpha=1, gamma=1, epsilon=0.3),
        AfterstateQConfig(seed=1000),
        AfterstateQConfig(seed=1001, seat=1, alpha=0.5, gamma=1, exploration=0.5, draw_reward=-0.3),
        AfterstateQConfig(seed=1003, seat="none"),
        TDValueConfig(seed=1000),
        TDValueConfig(seed=1001, opponent="heuristic", back_up_losses=False),
        TDValueConfig(seed=1002, opponent="optimal", alpha=0.5, exploration=0.3),
        TDValueConfig(seed=1003, opponent="self"),
        TDBackupConfig(seed=1001, greedy_games=400, exploit=0.3, alpha=1, gamma=0.5, draw_first=0.4, draw_second=0.2),
        TDBackupConfig(seed=1002, greedy_games=100, rows=2, cols=4, k=3),
        TDBackupConfig(seed=1003, greedy_games=100, rows=1, cols=1, k=1),
    ],
    ids=str,
)
def test_a_learner_equals_its_reference(config: Any) -> None:
    learner: Any = make_learner(config)
    initial = learner.table.copy()
    outcomes, expected = reference(config, initial)
    played = learner.play(GAMES).tolist()
    if learner.finish():
        played += learner.greedy_outcomes.tolist()
    assert played == outcomes
    assert np.array_equal(learner.table, expected)
    changed = (learner.table != initial).reshape(2 if isinstance(config, TDValueConfig) else 1, -1).any(axis=1)
    assert changed.all() == (config != AfterstateQConfig(seed=1003, seat="none"))
    if isinstance(config, MinimaxQConfig):
        assert {0, 1, 2, 3} <= set(outcomes)


def test_trained_minimax_q_equals_its_reference_in_draws_too() -> None:
    config = MinimaxQConfig(seed=1000, epsilon=0.1)
    learner = MinimaxQ(config)
    learner.play(500_000)
    table, rng = learner.table.copy(), copy.deepcopy(learner.rng)
    outcomes = references.minimax_q(config, GAMES, table[None], rng)
    assert learner.play(GAMES).tolist() == outcomes
    assert np.array_equal(learner.table, table)
    assert {-1, 0, 1, 2, 3} == set(outcomes)


@pytest.mark.parametrize("kind", [MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig])
def test_games_in_chunks_leave_the_same_bits_as_all_at_once(kind: Any) -> None:
    config = kind(seed=1000)
    whole, parts = make_learner(config), make_learner(config)
    outcomes = whole.play(1_000)
    assert np.array_equal(np.concatenate([parts.play(games) for games in (1, 0, 332, 667)]), outcomes)
    assert np.array_equal(parts.table, whole.table)
    assert parts.rng.bit_generator.state == whole.rng.bit_generator.state
    assert parts.steps == whole.steps == 1_000


def test_a_loop_compiles_where_no_folder_takes_the_cache() -> None:
    names: dict[str, Any] = {}
    exec("def double(number):\n    return 2 * number", names)  # Numba finds no place to cache what is in no file
    assert compiled(names["double"])(21) == 42


# By hand, on a short game whose moves are forced through the table. X plays cells 0, 1, 2 and wins; O plays 3, 4.
X_WINS = [tuple(board) for board in ("X........", "X..O.....", "XX.O.....", "XX.OO....", "XXXOO....")]
# X plays 0, 8 and 2; O plays 3, 4 and 5, and wins.
O_WINS = [tuple(board) for board in ("X........", "X..O.....", "X..O....X", "X..OO...X", "X.XOO...X", "X.XOOO..X")]
EMPTY_BOARD = tuple(".........")


def greedy_minimax_q() -> tuple[MinimaxQ, np.ndarray]:
    """Return a learner that never explores, and its table of zeros."""
    learner = MinimaxQ(MinimaxQConfig(epsilon=0, alpha=0.5, gamma=0.8))
    learner.table[:] = 0
    return learner, learner.table


def test_minimax_q_moves_each_value_towards_the_best_reply() -> None:
    learner, q = greedy_minimax_q()
    path = [row_of(board) for board in (EMPTY_BOARD, *X_WINS[:-1])], [0, 3, 1, 4, 2]
    q[path] = [0.5, -0.5, 0.5, -0.5, 0.5]
    assert learner.play(1).tolist() == [0]
    # 0.5 + 0.5 * (0.8 * -0.5 - 0.5) for X, the mirror image for O, and 0.5 + 0.5 * (1 - 0.5) at the end
    assert q[path] == pytest.approx([0.05, -0.05, 0.05, -0.05, 0.75])
    assert np.count_nonzero(q) == 5


def test_minimax_q_charges_a_taken_cell_to_the_seat_that_played_it() -> None:
    learner, q = greedy_minimax_q()
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


@pytest.mark.parametrize("back_up_losses", [True, False])
def test_td_value_backs_up_between_own_afterstates_and_a_loss(back_up_losses: bool) -> None:
    learner = TDValue(TDValueConfig(opponent="self", exploration=0, alpha=0.5, back_up_losses=back_up_losses))
    rows = [row_of(board) for board in X_WINS]
    for ply, row in enumerate(rows[:-1]):
        learner.table[ply % 2, row] = 0.9  # so that greedy play takes this path
    assert learner.play(1).tolist() == [0]
    # X: 0.9 towards 0.9, then 0.9 towards the win, 1. O: 0.9 towards 0.9, then its last position towards 0.
    assert learner.table[0, rows[::2]].tolist() == pytest.approx([0.9, 0.95, 1.0])
    assert learner.table[1, rows[1::2]].tolist() == pytest.approx([0.9, 0.45 if back_up_losses else 0.9])


def test_td_value_starts_from_what_each_seat_has_won_and_lost() -> None:
    table = TDValue(TDValueConfig()).table
    rows = [row_of(tuple(board)) for board in ("XXXOO....", "OOOXX.X..", "XOXXOOOXX", ".........", "X...O....")]
    assert table[0, rows].tolist() == [1, 0, 0, 0.5, 0.5]
    assert table[1, rows].tolist() == [0, 1, 0, 0.5, 0.5]
