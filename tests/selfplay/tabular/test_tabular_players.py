"""Players read boards of either perspective, choose greedily, and are as good as their training makes them."""

from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import MinimaxQ, TDBackup, TDValue, match_up_curves
from selfplay.tabular.tabular_players import (
    AfterstatePlayer,
    MinimaxQPlayer,
    TabularPlayer,
    reachable_rows,
    rows_and_seats,
)
from tests.selfplay.tabular.rows import row_of
from tests.tictactoe.rule_book import MARKS, Board, RuleBook, empty_cells, mover_and_opponent, seat_to_move, with_mark
from tictactoe import Rules, batch

RULES = Rules()
BOARDS = list(RuleBook(3, 3, 3).histories())
OPEN_BOARDS = [board for board in BOARDS if not RuleBook(3, 3, 3).finished(board)]
RANDOM = np.random.default_rng(1000)
AFTERSTATES = AfterstatePlayer(RULES, RANDOM.standard_normal((2, 3**9)))
MINIMAX_Q = MinimaxQPlayer(RULES, RANDOM.standard_normal((3**9, 9)))
EACH = pytest.mark.parametrize("player", [AFTERSTATES, MINIMAX_Q], ids=["afterstates", "minimax-q"])


def observe(boards: list[Board], perspective: str) -> np.ndarray:
    mover, opponent = np.array([mover_and_opponent(board) for board in boards]).T
    ply = np.array([9 - len(empty_cells(board)) for board in boards])
    observation: np.ndarray = batch.observe(RULES, batch.State(mover, opponent, ply), perspective)
    return observation


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
def test_rows_are_base_3_numbers_of_either_perspective(perspective: str) -> None:
    rows, seats = rows_and_seats(RULES, observe(BOARDS, perspective))
    assert rows.tolist() == [row_of(board) for board in BOARDS]
    assert seats.tolist() == [seat_to_move(board) for board in BOARDS]


def test_reachable_rows_are_those_of_the_rule_book() -> None:
    assert sorted(reachable_rows(RULES)) == sorted(row_of(board) for board in BOARDS)


@EACH
def test_one_observation_gets_one_cell_and_a_value_for_each_cell(player: TabularPlayer) -> None:
    some = observe(OPEN_BOARDS[::300], "absolute")
    for board, values, cell in zip(some, player.q_values(some), player.act(some), strict=True):
        np.testing.assert_array_equal(player.q_values(board), values)
        chosen = player.act(board)
        assert (type(chosen), chosen) == (int, cell)
        wanted = int((values == np.nanmin(values)).argmax())
        assert player.act(board, np.eye(9)[wanted]) == wanted


def test_an_afterstate_players_values_are_those_of_the_boards_after_each_move() -> None:
    values = AFTERSTATES.q_values(observe(OPEN_BOARDS, "mover"))
    for board, cells in zip(OPEN_BOARDS, values, strict=True):
        seat = seat_to_move(board)
        for cell, value in enumerate(cells):
            if cell in empty_cells(board):
                assert value == AFTERSTATES.table[seat, row_of(with_mark(board, cell, MARKS[seat]))]
            else:
                assert np.isnan(value)


def test_a_minimax_players_values_are_the_tables_as_the_mover_wants_them_high() -> None:
    values = MINIMAX_Q.q_values(observe(OPEN_BOARDS, "absolute"))
    moves = MINIMAX_Q.act(observe(OPEN_BOARDS, "absolute"))
    for board, cells, move in zip(OPEN_BOARDS, values, moves, strict=True):
        seat = seat_to_move(board)
        row = MINIMAX_Q.table[row_of(board)]
        assert np.array_equal(cells, row if seat == 0 else -row)
        assert move == (row.argmax() if seat == 0 else row.argmin())


@EACH
def test_moves_are_the_same_in_both_perspectives_and_only_marked_ones(player: TabularPlayer) -> None:
    observation = observe(OPEN_BOARDS, "mover")
    moves = player.act(observation)
    assert np.array_equal(moves, player.act(observe(OPEN_BOARDS, "absolute")))
    mask = observation[..., 0].reshape(-1, 9)
    mask[:, 4] &= mask.sum(axis=1) == 1
    masked = player.act(observation, mask)
    assert mask[np.arange(len(mask)), masked].all()
    assert (masked != moves).any()
    allowed = mask[np.arange(len(mask)), moves] == 1
    assert np.array_equal(masked[allowed], moves[allowed])


def test_the_first_of_equals_is_taken() -> None:
    player = AfterstatePlayer(RULES, np.zeros(3**9))
    assert player.act(observe([tuple("........."), tuple("XO.......")], "mover")).tolist() == [0, 2]
    assert player.act(observe([tuple(".........")], "mover"), np.array([[0, 0, 0, 1, 1, 1, 1, 1, 1]])).tolist() == [3]


@EACH
def test_another_boards_observation_is_refused(player: TabularPlayer) -> None:
    with pytest.raises(ValueError, match=r"\(1, 4, 4, 3\)"):
        player.act(np.zeros((1, 4, 4, 3)))


def test_minimax_q_is_unbeatable_after_its_training() -> None:
    learner = MinimaxQ(MinimaxQConfig(seed=1000))
    learner.play(learner.config.games)  # 10,000,000 games, about 2 s
    evaluation: Any = selfplay.evaluate(learner.player(), RULES)
    assert evaluation.unbeatable
    assert evaluation.optimal_states > 4_400


def test_afterstate_q_reproduces_the_published_match_ups() -> None:
    seeds = range(1000, 1020)
    curves = [match_up_curves(AfterstateQConfig(seed=seed)) for seed in seeds]
    # X / O / draws in percent, the mean of the seeds: exact, then published, in whole percent and cut off.
    expected = {
        "random against random": ((58.5, 28.8, 12.7), 1.0),
        "learner against random": ((91, 3, 5), 1.5),
        "random against learner": ((12, 70, 17), 3.5),
    }
    assert curves[0].keys() == expected.keys()
    for name, (shares, tolerance) in expected.items():
        found = np.mean([of_seed[name][-1] for of_seed in curves], axis=0) / 100
        np.testing.assert_allclose(found, shares, atol=tolerance)


def test_td_value_hardly_loses_after_its_training() -> None:
    learner = TDValue(TDValueConfig(seed=1000, opponent="self"))
    learner.play(learner.config.games)
    evaluation: Any = selfplay.evaluate(learner.player(), RULES)
    assert evaluation.first.loss + evaluation.second.loss < 0.01


def test_greedy_games_of_td_backup_become_draws() -> None:
    learner = TDBackup(TDBackupConfig(seed=1000))
    learner.play(100_000)
    learner.finish()
    assert (learner.greedy_outcomes[1_000:] == -1).all()
    evaluation: Any = selfplay.evaluate(learner.player(), RULES)
    assert evaluation.first.loss + evaluation.second.loss < 0.01
    assert evaluation.optimal_states > 4_200
