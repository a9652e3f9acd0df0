"""The analysis of a position is what the player thinks and what the solution of the game says."""

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.judge.ask import AgentPolicy, choices_policy, player_policy
from selfplay.position import Position, read_board
from selfplay.protocols import Player
from selfplay.tabular.players import AfterstatePlayer
from selfplay.text import NAMES
from selfplay.web import analysis
from selfplay.web.analysis import analyse
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.judge.players import FirstTwo, ScriptedPlayer, policy_of, stubborn
from tests.selfplay.web.positions import exact_result, plies_left, right_replies, texts, value
from tests.selfplay.web.serving import serving
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import game_tree

SEED = 1000


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def table() -> Player:
    """Return a tabular player of random values."""
    return AfterstatePlayer(Rules(), np.random.default_rng(SEED).normal(size=3**9))


def network(**changes: Any) -> Player:
    return make(config_with(seed=SEED, **changes), separate="networks" in changes).player()


@pytest.mark.parametrize(
    ("make_player", "every"),
    [
        pytest.param(table, 7, id="table"),
        pytest.param(lambda: network(mask=True, networks="separate"), 41, id="a masked network for each seat"),
        pytest.param(lambda: network(symmetry="canonical"), 41, id="canonical"),
    ],
)
def test_it_is_what_player_and_solution_say(make_player: Callable[[], Player], every: int) -> None:
    player = make_player()
    for board, observation in list(zip(texts(ABSOLUTE), MOVER, strict=True))[::every]:
        position = read_board(Rules(), board)
        shown = analyse(player_policy(player), player, position, generator())
        learned, move = player.q_values(observation[None])[0], int(player.act(observation[None])[0])
        exact = [exact_result(position, cell) for cell in range(9)]
        assert shown == {
            "values": [None if np.isnan(each) else pytest.approx(float(each), abs=1e-5) for each in learned],
            "move": move,
            "moves": [move],
            "reply": int(player.act(observation[None], position.mask)[0]),
            "exact": exact,
            "plies": [1 + plies_left(position.after(cell)) if cell in position.empty else None for cell in range(9)],
            "replies": [right_replies(position.after(cell)) if cell in position.empty else None for cell in range(9)],
            "position": NAMES[value(position)],
            "gives_away": exact[move] != NAMES[value(position)],
        }


def test_a_finished_game_has_no_moves() -> None:
    player = network()
    for board in ("OOOXX.X..", "XXXXOOXOO", "XOXXOOOXX"):
        shown = analyse(player_policy(player), player, read_board(Rules(), board), generator())
        nothing = dict.fromkeys(("values", "move", "reply", "position", "gives_away", "plies", "replies"))
        assert shown == {"moves": [], "exact": [None] * 9} | nothing


def test_positions_are_legal_where_the_tree_has_them() -> None:
    rules = Rules(2, 3, 3)
    tree = game_tree(rules)
    reached = set(zip(tree.mover.tolist(), tree.opponent.tolist(), strict=True))
    legal = set()
    for number in range(3**6):
        board = "".join(".XO"[number // 3**cell % 3] for cell in range(6))
        with contextlib.suppress(selfplay.UserError):
            position = read_board(rules, board)
            legal.add((position.mover, position.opponent))
    assert legal == reached


@pytest.mark.parametrize(
    ("policy", "board", "moves", "replies"),
    [
        (policy_of(ScriptedPlayer(stubborn)), "X...O....", [0], [1, 2, 3, 5, 6, 7, 8]),
        (policy_of(FirstTwo()), "X........", [1, 2], [1, 2]),
        (choices_policy(OPPONENTS["heuristic"].choices, Rules()), "X........", [*range(1, 9)], [*range(1, 9)]),
    ],
    ids=["an illegal move", "several moves", "a built-in opponent"],
)
def test_an_agent_without_values_replies_with_any_legal_move_of_its_own_or_else_with_any(
    policy: AgentPolicy, board: str, moves: list[int], replies: list[int]
) -> None:
    shown = [analyse(policy, None, read_board(Rules(), board), generator(seed)) for seed in range(50)]
    certain = len(moves) == 1
    known = {"values": None, "moves": moves, "move": 0 if certain else None, "gives_away": True if certain else None}
    assert all(known.items() <= each.items() for each in shown)
    assert sorted({each["reply"] for each in shown}) == replies


def test_a_larger_board_is_searched_and_says_where_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    player = network(rows=4, cols=4, k=4)
    shown = analyse(player_policy(player), player, read_board(player.rules, "XXX.OO..O......."), generator())
    assert shown["position"] == "win"
    assert (shown["exact"][3], shown["exact"][6]) == ("win", "draw")
    monkeypatch.setattr(analysis, "POSITIONS", 1)
    analysis.exact_results.cache_clear()
    rules = Rules(6, 6, 4)
    dark = analyse(choices_policy(OPPONENTS["rule"].choices, rules), None, Position(rules), generator())
    analysis.exact_results.cache_clear()
    assert (dark["position"], dark["exact"]) == (None, [None] * 36)


def test_optimal_answers_on_4_4_4_without_the_board_being_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tictactoe.opponents.solve", None)
    monkeypatch.setattr("selfplay.judge.move_values.solve", None)
    with serving(rules=Rules(4, 4, 4)) as served:
        optimal = served.players()["optimal"]
        assert (optimal["rules"]["rows"], optimal["error"]) == (4, None)
        board = "XXX." + "OOO." + "." * 8
        shown = served.get(f"/api/analysis?player={optimal['index']}&board={board}").json
    assert (shown["moves"], shown["reply"], shown["position"]) == ([3], 3, "win")
