"""What the page shows of a position is what the player thinks and what the solution of the game says."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.agent import Player
from selfplay.evaluation.agents import AgentPolicy, built_in_policy, player_policy
from selfplay.evaluation.exact import NAMES
from selfplay.position import Position, read_board
from selfplay.tabular.players import AfterstatePlayer
from selfplay.web import insight
from selfplay.web.insight import look
from tests.runs import refused
from tests.selfplay.decisions import MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import FirstTwo, ScriptedPlayer, stubborn
from tests.selfplay.web.serving import serving
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import game_tree

SEED = 1000


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def text(mover: int, opponent: int, cells: int) -> str:
    """Return a position as it stands in a link."""
    first, second = (mover, opponent) if mover.bit_count() == opponent.bit_count() else (opponent, mover)
    return "".join("X" if first >> cell & 1 else "O" if second >> cell & 1 else "." for cell in range(cells))


def table() -> Player:
    """Return a tabular player that has learned nothing, each value another."""
    return AfterstatePlayer(Rules(), np.random.default_rng(SEED).normal(size=3**9))


def network(**changes: Any) -> Player:
    return make(config_with(seed=SEED, **changes), separate="networks" in changes).player()


@pytest.mark.parametrize(
    ("make_player", "every"),
    [
        pytest.param(table, 1, id="table"),
        pytest.param(lambda: network(mask=True, networks="separate"), 7, id="a masked network for each seat"),
        pytest.param(lambda: network(symmetry="canonical"), 7, id="canonical"),
    ],
)
def test_it_is_what_player_and_solution_say(make_player: Callable[[], Player], every: int) -> None:
    rules, player = Rules(), make_player()
    tree, solution = game_tree(rules), solve(rules)
    values, moves = np.asarray(player.q_values(MOVER)), player.act(MOVER)
    judge = player_policy(player)
    for number, state in list(enumerate(tree.decisions))[::every]:
        mover, opponent = int(tree.mover[state]), int(tree.opponent[state])
        value, best = solution.lookup(mover, opponent)
        board = text(mover, opponent, 9)
        shown = look(judge, player, read_board(rules, board), generator())
        known = [None if np.isnan(value) else pytest.approx(value, abs=1e-5) for value in values[number].tolist()]
        assert shown["values"] == known
        assert shown["position"] == NAMES[value]
        following = {cell: solution.lookup(opponent, mover | 1 << cell)[0] for cell in range(9) if board[cell] == "."}
        assert shown["exact"] == [NAMES[-following[cell]] if cell in following else None for cell in range(9)]
        move = int(moves[number])
        assert (shown["move"], shown["moves"]) == (move, [move])
        assert shown["gives_away"] is (move not in best)
        assert board[shown["reply"]] == "."
        assert (shown["seat"], shown["result"], shown["line"]) == (board.count("X") - board.count("O"), None, [])
        assert shown["known"] == "solved"


@pytest.mark.parametrize(
    ("board", "result", "line", "seat"),
    [
        ("XXXOO....", "X", [0, 1, 2], 1),
        ("OOOXX.X..", "O", [0, 1, 2], 0),
        ("XXXXOOXOO", "X", [0, 1, 2, 3, 6], 1),
        ("XOXXOOOXX", "draw", [], 1),
    ],
)
def test_a_game_that_is_over_has_a_result_and_no_moves(board: str, result: str, line: list[int], seat: int) -> None:
    player = selfplay.load("shipped")
    shown = look(player_policy(player), player, read_board(Rules(), board), generator())
    assert (shown["result"], shown["line"], shown["seat"]) == (result, line, seat)
    nothing = {"move": None, "moves": [], "reply": None, "position": None, "gives_away": None, "exact": [None] * 9}
    assert nothing.items() <= shown.items()


@pytest.mark.parametrize(
    ("board", "why"),
    [
        ("X", "9 characters"),
        ("X" + "." * 9, "9 characters"),
        ("x........", "9 characters"),
        ("X\n.......", "9 characters"),
        ("O........", "X has as many marks as O, or one more"),
        ("XX.......", "X has as many marks as O, or one more"),
        ("XXXOOO...", "X has a line, and would have to move again"),
        ("OOOXXX.XX", "X has as many marks as O, or one more"),
        ("XXX.OO.O.", "X has a line, and would have to move again"),
    ],
)
def test_what_no_game_leads_to_is_refused(board: str, why: str) -> None:
    assert why in refused(read_board, Rules(), board)


def test_two_lines_that_no_one_move_completes_are_refused() -> None:
    assert "X has lines that no one move completes" in refused(read_board, Rules(4, 4, 3), "XXX.OO.OXXX.OO..")


def test_positions_are_legal_where_the_tree_has_them() -> None:
    rules = Rules(2, 3, 3)
    tree = game_tree(rules)
    reached = {text(int(mover), int(opponent), 6) for mover, opponent in zip(tree.mover, tree.opponent, strict=True)}
    legal = set()
    for number in range(3**6):
        board = "".join(".XO"[number // 3**cell % 3] for cell in range(6))
        try:
            read_board(rules, board)
        except selfplay.UserError:
            continue
        legal.add(board)
    assert legal == reached


def test_an_illegal_move_is_shown_and_another_one_played() -> None:
    judge = AgentPolicy(ScriptedPlayer(stubborn), Rules(), "mover", twice=False)
    shown = look(judge, None, read_board(Rules(), "X...O...."), generator())
    assert (shown["move"], shown["gives_away"], shown["values"]) == (0, True, None)
    position = read_board(Rules(), "X...O....")
    replies = [look(judge, None, position, np.random.default_rng(number))["reply"] for number in range(99)]
    assert set(replies) == {1, 2, 3, 5, 6, 7, 8}


def test_who_draws_moves_has_several_and_replies_with_each() -> None:
    position = read_board(Rules(), "X........")
    sampling = AgentPolicy(FirstTwo(), Rules(), "mover")
    for judge, expected in ((built_in_policy(OPPONENTS["heuristic"], Rules()), [*range(1, 9)]), (sampling, [1, 2])):
        shown = [look(judge, None, position, np.random.default_rng(n)) for n in range(99)]
        assert all(each["moves"] == expected and each["move"] is each["gives_away"] is None for each in shown)
        assert {each["reply"] for each in shown} == set(expected)


def test_a_larger_board_is_searched_and_says_where_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    player = network(rows=4, cols=4, k=4)
    shown = look(player_policy(player), player, read_board(player.rules, "XXX.OO..O......."), generator())
    assert (shown["seat"], shown["known"], shown["position"]) == (0, "searched", "win")
    assert (shown["exact"][3], shown["exact"][6]) == ("win", "draw")
    monkeypatch.setattr(insight, "POSITIONS", 1)
    insight.exact_results.cache_clear()
    rules = Rules(6, 6, 4)
    dark = look(built_in_policy(OPPONENTS["rule"], rules), None, Position(rules), generator())
    insight.exact_results.cache_clear()
    assert (dark["known"], dark["position"], dark["exact"]) == ("searched", None, [None] * 36)


def test_optimal_answers_on_4_4_4_without_the_board_being_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe.opponents.solve", None)
    monkeypatch.setattr("selfplay.evaluation.exact.solve", None)
    with serving(rules=Rules(4, 4, 4)) as served:
        players = {each["name"]: each for each in served.ask("/api/players").json["players"]}
        assert (players["optimal"]["rows"], players["optimal"]["error"]) == (4, None)
        board = "XXX." + "OOO." + "." * 8
        shown = served.ask(f"/api/look?player={players['optimal']['index']}&board={board}").json
    assert (shown["moves"], shown["reply"], shown["position"]) == ([3], 3, "win")


def test_values_beyond_all_numbers_are_none() -> None:
    class Wild:
        rules = Rules()

        def q_values(self, _: Any) -> Any:
            return np.array([[np.nan, np.inf, -np.inf, 1, 2, 3, 4, 5, 6]])

    assert insight.learned(Wild(), Position(Rules())) == [None, None, None, 1, 2, 3, 4, 5, 6]  # type: ignore[arg-type]
