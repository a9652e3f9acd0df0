"""Each learner moves its values as computed by hand, plays by its generator, and continues from its state."""

import copy
import json
from typing import Any, Literal

import numpy as np
import pytest

from selfplay.errors import UserError
from selfplay.tabular import kernels
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import AfterstateQ, MinimaxQ, TDBackup, TDValue, choice_table, make_learner
from tests.selfplay.tabular.rows import EMPTY_ROW, row_of
from tests.tictactoe.rule_book import RuleBook, bits, empty_cells, seat_to_move
from tictactoe import Rewards, Rules

BOOK = RuleBook(3, 3, 3)
# X plays cells 0, 1, 2 and wins; O plays 3, 4.
X_WINS = [row_of(board) for board in ("X........", "X..O.....", "XX.O.....", "XX.OO....", "XXXOO....")]
X_WINS_CELLS = [0, 3, 1, 4, 2]
# X plays 0, 8 and 2; O plays 3, 4 and 5, and wins.
O_WINS = [row_of(board) for board in ("X........", "X..O.....", "X..O....X", "X..OO...X", "X.XOO...X", "X.XOOO..X")]
DRAW_CELLS = [0, 1, 2, 4, 3, 5, 7, 6, 8]


def rows_along(cells: list[int]) -> list[int]:
    """Return the row after each of these moves."""
    return [sum((ply % 2 + 1) * 3**cell for ply, cell in enumerate(cells[:end])) for end in range(1, len(cells) + 1)]


def minimax_q_along(cells: list[int]) -> tuple[MinimaxQ, tuple[list[int], list[int]]]:
    """Return a learner whose greedy game takes these cells, and the places of their values, 0.5 for their seat."""
    learner = MinimaxQ(MinimaxQConfig(epsilon=0, alpha=0.5, gamma=0.8))
    path = [EMPTY_ROW, *rows_along(cells)[:-1]], cells
    learner.table[:] = 0
    learner.table[path] = np.where(np.arange(len(cells)) % 2 == 0, 0.5, -0.5)
    return learner, path


def test_minimax_q_moves_each_value_towards_the_best_reply() -> None:
    learner, path = minimax_q_along(X_WINS_CELLS)
    assert learner.play(1).tolist() == [0]
    # 0.5 + 0.5 * (0.8 * -0.5 - 0.5) for X, the mirror image for O, and 0.5 + 0.5 * (1 - 0.5) at the end
    assert learner.table[path] == pytest.approx([0.05, -0.05, 0.05, -0.05, 0.75])
    assert np.count_nonzero(learner.table) == 5


def test_a_draw_is_worth_0_in_minimax_q() -> None:
    learner, path = minimax_q_along(DRAW_CELLS)
    assert learner.play(1).tolist() == [kernels.DRAW]
    assert learner.table[path] == pytest.approx([0.05, -0.05] * 4 + [0.25])


@pytest.mark.parametrize("loser", [0, 1])
def test_minimax_q_charges_a_taken_cell_to_the_seat_that_played_it(loser: int) -> None:
    cells = [[0, 3, 0], [0, 0]][loser]
    learner, path = minimax_q_along(cells)
    learner.table[EMPTY_ROW, 0] = 0.5
    assert learner.play(1).tolist() == [kernels.ILLEGAL + loser]
    # Towards the reward of the first seat: -1 if it has lost, +1 if the second has.
    assert learner.table[path][-1] == (-0.25 if loser == 0 else 0.25)


def test_separate_tables_of_minimax_q_differ_where_the_second_seat_moves() -> None:
    shared, separate = (MinimaxQ(MinimaxQConfig(tables=tables)).table for tables in ("shared", "separate"))
    same = (shared == separate).all(axis=1)
    assert same[[EMPTY_ROW, X_WINS[1], X_WINS[3]]].all()
    assert not same[[X_WINS[0], X_WINS[2]]].any()
    assert abs(separate.mean()) < 0.01
    assert separate.std() == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize("seat", [0, 1])
def test_afterstate_q_walks_its_own_afterstates_back_from_the_result(seat: Literal[0, 1]) -> None:
    seen = set()
    for seed in range(100):
        config = AfterstateQConfig(seed=seed, seat=seat, exploration=0, alpha=0.5, gamma=0.8, draw_reward=0.25)
        learner = AfterstateQ(config)
        outcome = int(learner.play(1)[0])
        (rows,) = learner.table.nonzero()
        cells = [np.base_repr(int(row), 3) for row in rows]
        assert all(text.count("1") - text.count("2") == 1 - seat for text in cells)
        # Each value was 0 and moved by 0.5 towards 0.8 times the one behind it, the last towards 0.8 times the result.
        result = {seat: 1.0, 1 - seat: -1.0, kernels.DRAW: 0.25}[outcome]
        expected = [result * 0.4**number for number in range(1, len(rows) + 1)]
        assert sorted(learner.table[rows]) == pytest.approx(sorted(expected))
        seen.add(outcome)
    assert seen == {0, 1, kernels.DRAW}


def test_afterstate_q_plays_the_first_of_equals_and_td_backup_any_of_them() -> None:
    openings: dict[str, set[int]] = {"afterstate-q": set(), "td-backup": set()}
    for seed in range(100):
        for learner in (
            AfterstateQ(AfterstateQConfig(seed=seed, exploration=0)),
            TDBackup(TDBackupConfig(seed=seed, exploit=1, draw_first=1)),
        ):
            learner.play(1)
            openings[learner.config.algorithm] |= {cell for cell in range(9) if learner.table[3**cell] != 0}
    assert openings == {"afterstate-q": {0}, "td-backup": set(range(9))}


def test_td_backup_gives_each_seat_its_own_result() -> None:
    learner = TDBackup(TDBackupConfig(exploit=1, alpha=0.5, gamma=0.8))
    learner.table[O_WINS] = 10.0  # far above every rival, so that the game takes this path
    assert learner.play(1).tolist() == [1]
    # The loser goes to 0, the winner to 1: V = 10 / 2 + 0.8 * r / 2.
    loser = [5.0, 5.0 + 0.4 * 5.0, 5.0 + 0.4 * 7.0]
    winner = [5.4, 5.0 + 0.4 * 5.4, 5.0 + 0.4 * 7.16]
    assert learner.table[O_WINS[4::-2]] == pytest.approx(loser, abs=1e-12)
    assert learner.table[O_WINS[5::-2]] == pytest.approx(winner, abs=1e-12)


def test_td_backup_values_a_draw_by_seat() -> None:
    # On 1x2 with two in a row every game is a draw of one move each.
    learner = TDBackup(TDBackupConfig(rules=Rules(1, 2, 2), alpha=0.5, gamma=0.8, draw_first=0.1, draw_second=0.5))
    assert learner.play(1).tolist() == [kernels.DRAW]
    assert sorted(learner.table[learner.table != 0]) == pytest.approx([0.5 * 0.8 * 0.1, 0.5 * 0.8 * 0.5])


def td_value_along(rows: list[int], **settings: Any) -> TDValue:
    """Return two learners whose greedy game takes this path, on which every open position is worth 2."""
    learner = TDValue(TDValueConfig(opponent="self", exploration=0, alpha=0.5, **settings))
    for ply, row in enumerate(rows[:-1]):
        learner.table[ply % 2, row] = 2
    return learner


@pytest.mark.parametrize("back_up_losses", [True, False])
def test_td_value_backs_up_between_own_afterstates_and_a_loss(back_up_losses: bool) -> None:
    learner = td_value_along(X_WINS, back_up_losses=back_up_losses)
    assert learner.play(1).tolist() == [0]
    # X: 2 towards 2, then 2 towards the win, 1. O: 2 towards 2, then its last position towards 0.
    assert learner.table[0, X_WINS[::2]] == pytest.approx([2, 1.5, 1])
    assert learner.table[1, X_WINS[1::2]] == pytest.approx([2, 1 if back_up_losses else 2])


def test_td_value_backs_up_a_draw_only_for_the_seat_that_completes_it() -> None:
    rows = rows_along(DRAW_CELLS)
    learner = td_value_along(rows)
    assert learner.play(1).tolist() == [kernels.DRAW]
    assert learner.table[0, rows[::2]] == pytest.approx([2, 2, 2, 1, 0])
    assert learner.table[1, rows[1::2]] == pytest.approx([2] * 4)


def test_td_value_starts_from_what_each_seat_has_won_and_lost() -> None:
    table = TDValue(TDValueConfig()).table
    rows = [row_of(board) for board in ("XXXOO....", "OOOXX.X..", "XOXXOOOXX", ".........", "X...O....")]
    assert table[0, rows].tolist() == [1, 0, 0, 0.5, 0.5]
    assert table[1, rows].tolist() == [0, 1, 0, 0.5, 0.5]


def test_td_value_backs_up_nothing_after_random_moves_but_losses() -> None:
    learner = TDValue(TDValueConfig(opponent="self", exploration=1, back_up_losses=False))
    initial = learner.table.copy()
    learner.play(200)
    assert np.array_equal(learner.table, initial)

    learner = TDValue(TDValueConfig(opponent="self", exploration=1, alpha=0.5))
    learner.play(200)
    changed = learner.table != initial
    assert changed.any()
    assert set(np.unique(learner.table[changed])) <= {0.5**power for power in range(2, 20)}


def test_td_value_takes_the_seats_in_turn() -> None:
    learner = TDValue(TDValueConfig())
    for game in range(6):
        before = learner.table.copy()
        learner.play(1)
        assert (learner.table != before).any(axis=1).tolist() == [game % 2 == 0, game % 2 == 1]


@pytest.mark.parametrize("opponent", ["random", "optimal"])
def test_the_opponent_of_td_value_picks_among_its_cells(opponent: str) -> None:
    table = choice_table(Rules(), opponent)
    for board, (_, best) in BOOK.minimax().items():
        cells = best if opponent == "optimal" or BOOK.finished(board) else empty_cells(board)
        assert table[row_of(board)] == bits(cells)


@pytest.mark.parametrize(
    ("config", "coins"),
    [
        (MinimaxQConfig(seed=1000, epsilon=1), (0, 1)),
        (AfterstateQConfig(seed=1000, seat="none"), ()),
        (AfterstateQConfig(seed=1000, seat=1, exploration=1), (1,)),
        (TDValueConfig(seed=1000, opponent="self", exploration=1), (0, 1)),
        (TDBackupConfig(seed=1000, exploit=0), (0, 1)),
    ],
    ids=str,
)
def test_random_games_are_those_of_the_generator(config: TabularConfig, coins: tuple[int, ...]) -> None:
    """`coins` are the seats that first sample whether to move at random, which they always do here."""
    learner = make_learner(config)
    rng = copy.deepcopy(learner.rng)
    for outcome in learner.play(300):
        board, finished = BOOK.empty_board, False
        while not finished:
            if seat_to_move(board) in coins:
                rng.random()
            cells = list(range(9)) if isinstance(config, MinimaxQConfig) else empty_cells(board)
            move = BOOK.play(board, cells[int(rng.random() * len(cells))], Rewards())
            board, finished = move.board, move.terminated
        assert outcome == (kernels.ILLEGAL + 1 - move.winner if move.illegal else move.winner)
    assert learner.rng.random() == rng.random()


def test_a_learner_explores_with_the_probability_that_is_set() -> None:
    learner = MinimaxQ(MinimaxQConfig(seed=1000, epsilon=0.3))
    greedy = 0
    for _ in range(1_000):
        learner.table[EMPTY_ROW] = [0, 0, 0, 0, 0, 10, 0, 0, 0]
        learner.table[1:] = 1
        learner.play(1)
        greedy += int(learner.table[EMPTY_ROW, 5] != 10)
    assert greedy / 1_000 == pytest.approx(0.7 + 0.3 / 9, abs=0.05)


EACH = pytest.mark.parametrize(
    "config",
    [
        MinimaxQConfig(seed=1000, games=1_000),
        AfterstateQConfig(seed=1000, games=1_000),
        TDValueConfig(seed=1000, games=1_000),
        TDBackupConfig(seed=1000, games=1_000, greedy_games=200),
    ],
    ids=lambda config: config.algorithm,
)


def through_json(state: dict[str, Any]) -> dict[str, Any]:
    """Return a state as a checkpoint does: a copy of the table, and the rest from JSON."""
    values = {name: value for name, value in state.items() if name != "table"}
    return {**json.loads(json.dumps(values)), "table": state["table"].copy()}


@EACH
def test_metrics_are_shares_of_the_games_since_the_last_call(config: TabularConfig) -> None:
    learner, again = make_learner(config), make_learner(config)
    learner.advance(400)
    learner.metrics()
    learner.advance(400)
    again.play(400)
    outcomes = again.play(400).tolist()
    metrics = learner.metrics()
    assert metrics["games/draws"] == outcomes.count(-1) / 400
    assert metrics["games/first_wins"] == (outcomes.count(0) + outcomes.count(3)) / 400
    assert metrics["games/second_wins"] == (outcomes.count(1) + outcomes.count(2)) / 400
    assert metrics["games/illegal"] == (outcomes.count(2) + outcomes.count(3)) / 400
    assert learner.metrics() == dict.fromkeys(metrics, 0)


def test_each_ply_of_a_game_is_counted() -> None:
    for cells in ([0, 0], [0, 3, 0], X_WINS_CELLS, DRAW_CELLS):
        learner, _ = minimax_q_along(cells)
        learner.table[EMPTY_ROW, 0] = 0.5
        learner.play(1)
        assert learner.plies == len(cells)


TABLE = np.zeros(3**9)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("table", TABLE[:-1]),
        ("table", np.where(np.arange(3**9) == 7, np.nan, 0)),
        ("plies", -1),
        ("counts", 5),
        ("generator", {}),
    ],
)
def test_a_foreign_state_is_refused_and_changes_nothing(name: str, value: Any) -> None:
    learner = TDBackup(TDBackupConfig(seed=1000))
    learner.advance(100)
    before = through_json(learner.state())
    with pytest.raises(UserError, match=name):
        learner.restore({**before, name: value})
    with pytest.raises(UserError, match=name):
        learner.restore({other: value for other, value in before.items() if other != name})
    after = learner.state()
    assert np.array_equal(after.pop("table"), before.pop("table"))
    assert after == before
