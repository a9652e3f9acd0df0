"""The page's JavaScript is the twin of Python: players, answers, rules, exact results and lost games are the same."""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest

from selfplay.judge.ask import AgentPolicy, choices_policy, player_policy
from selfplay.judge.evaluate import evaluate_policy
from selfplay.position import Position
from selfplay.tabular.tabular_players import AfterstatePlayer, MinimaxQPlayer, TabularPlayer
from selfplay.web.evaluation_data import evaluation
from selfplay.web.player_data import answers_data, game_data, learned_data
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.judge.hand_made_players import FirstTwo, ScriptedPlayer, policy_of, random_table, stubborn
from tests.selfplay.web.position_oracle import outcome, position_of, random_boards, texts, truth, without_last
from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.symmetry import symmetries
from tictactoe.tree import game_tree

Call = Callable[..., Any]
SEED = 1000
BOARDS = texts(ABSOLUTE)
DQNS: list[dict[str, Any]] = [
    {"symmetry": "none"},
    {"networks": "separate"},
    {"symmetry": "augment"},
    {"symmetry": "canonical"},
    {"hidden": (24, 16), "symmetry": "none"},
    {"mask": True, "perspective": "absolute"},
    {"take_wins": True, "mask": True, "networks": "separate"},
    {"take_wins": True, "cols": 4},
    {"rows": 4, "cols": 4, "k": 4, "message_rounds": 1},
    {"message_rounds": 2, "message_width": 5, "hidden": (6, 4)},
    {"cols": 4, "message_rounds": 1, "message_width": 5, "hidden": (), "symmetry": "none"},
]
"""Settings of the networks that the page computes."""
LOOK = """async (entry, boards) => {
    const [player] = await openPlayers([entry]);
    return JSON.stringify(boards.split(" ").map((board) => [player.look(board, null), player.reply(board, null)]));
}"""
"""Returns what a player thinks of many boards, and its reply, as texts, for objects take ten times as long."""
GROUPS = """async (entry) => {
    const [player] = await openPlayers([entry]);
    const look = (board) => player.look(board, null);
    const games = lostGames(player.rules, look);
    return [games, groupsOf(player, look, { games, wrong: entry.evaluation.wrong })];
}"""


def network(**changes: Any) -> Any:
    return make(config_with(seed=SEED, **changes), separate="networks" in changes).player()


def table(player: type[TabularPlayer], *shape: int) -> TabularPlayer:
    """Return a player of random values."""
    return player(Rules(), np.random.default_rng(SEED).normal(size=shape))


def entry(rules: Rules, **data: Any) -> dict[str, Any]:
    """Return the data of a player in a page."""
    return game_data(rules) | {"name": "it", "kind": "own", "snapshots": {"steps": []}, "history": []} | data


def looks(call: Call, data: dict[str, Any], boards: list[str]) -> Any:
    return zip(
        map(position_of, [Rules(**data["rules"])] * len(boards), boards),
        json.loads(call("players.js", LOOK, data, " ".join(boards))),
        strict=True,
    )


def boards_of(rules: Rules) -> list[str]:
    """Return unfinished boards; of some on 4,4,4 too many cells are empty for the page to solve them."""
    if rules == Rules():
        return BOARDS[::27]
    return random_boards(rules, 6, 20) + (random_boards(rules, 13, 5) if rules.cells > 12 else [])


@pytest.mark.parametrize(
    "player",
    [
        *(pytest.param(network(**changes), id=str(changes)) for changes in DQNS),
        pytest.param(table(MinimaxQPlayer, 3**9, 9), id="minimax-q"),
        pytest.param(table(AfterstatePlayer, 3**9), id="afterstates"),
        pytest.param(table(AfterstatePlayer, 2, 3**9), id="afterstates, 2 tables"),
    ],
)
def test_a_player_has_the_values_and_moves_of_python_and_the_truth_is_that_of_all_games(
    player: Any, call: Call
) -> None:
    boards = boards_of(player.rules)
    for position, (shown, reply) in looks(call, entry(player.rules, **learned_data(player)), boards):
        values, move = player.q_values(position.observation)[0], int(player.act(position.observation)[0])
        known = truth(position) if len(position.legal) <= 12 else {"unsolved": True, "position": None, "plies": None}
        assert known.items() <= shown.items()
        assert shown["values"] == [None if np.isnan(each) else pytest.approx(float(each), abs=1e-5) for each in values]
        assert (shown["move"], shown["moves"]) == (move, [move])
        assert reply == shown["reply"] == int(player.act(position.observation, position.mask)[0])
        if known["position"] is not None:
            assert shown["gives_away"] == (shown["exact"][move] != shown["position"])


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(ScriptedPlayer(stubborn)),
        policy_of(FirstTwo()),
        *(choices_policy(OPPONENTS[name].choices, Rules()) for name in ("random", "heuristic")),
        policy_of(ScriptedPlayer(lambda mine, theirs: min(set(range(12)) - mine - theirs)), Rules(3, 4, 4)),
    ],
    ids=["illegal", "two moves", "random", "heuristic", "of 12 cells"],
)
def test_a_function_answers_as_in_python(policy: AgentPolicy, call: Call) -> None:
    for position, (shown, reply) in looks(call, entry(policy.rules, **answers_data(policy)), boards_of(policy.rules)):
        moves = list(policy.rules.cells_of(int(policy.moves(*position.words)[0])))
        assert (shown["moves"], shown["values"]) == (moves, None)
        assert shown["move"] == (None if policy.samples else moves[0])
        assert reply in ([cell for cell in moves if cell in position.legal] or position.legal)


@pytest.mark.parametrize(
    "policy", [policy_of(random_table(Rules(), SEED, careless=0.1)), player_policy(network(symmetry="none"))]
)
def test_the_games_that_a_player_loses_are_those_of_its_verdict_grouped_by_the_losing_move(
    policy: AgentPolicy, call: Call
) -> None:
    verdict, found = evaluate_policy(policy).verdict, evaluation(policy)
    games, groups = call("players.js", GROUPS, entry(policy.rules, evaluation=found, **answers_data(policy)))
    assert sorted(map(tuple, games)) == sorted(map(tuple, found["games"]))
    assert len(games) == sum(group["games"] for group in groups) == verdict.ways_to_beat > 0
    assert [group["games"] for group in groups] == sorted((group["games"] for group in groups), reverse=True)
    assert len({least_image(group) for group in groups}) == len(groups)
    for group in groups:
        position = position_of(policy.rules, group["board"])
        after = -outcome(without_last(position.after(group["move"])))[0] if group["move"] in position.legal else -2
        assert int(policy.moves(*position.words)[0]) == 1 << group["move"]
        assert after < outcome(position)[0]
        if group["game"] is not None:
            assert group["game"][group["ply"]] == group["move"]
            reached = reduce(Position.after, group["game"][: group["ply"]], Position(policy.rules))
            assert without_last(reached) == position


def least_image(group: dict[str, Any]) -> tuple[str, int]:
    """Return the least image of a board with a move."""
    turned = symmetries(Rules()).tolist()
    return min(("".join(group["board"][each] for each in origin), origin.index(group["move"])) for origin in turned)


@pytest.mark.parametrize(("rules", "every"), [(Rules(2, 3, 3), 1), (Rules(3, 3, 2), 7), (Rules(1, 6, 3), 1)])
def test_positions_are_those_that_games_reach_with_their_winners(call: Call, rules: Rules, every: int) -> None:
    tree = game_tree(rules)
    reached = set(zip(tree.mover.tolist(), tree.opponent.tolist(), strict=True))
    boards = ["".join(marks) for marks in product(".XO", repeat=rules.cells)][::every]
    script = "(rules, boards) => boards.map((board) => [problemOf(rules, board) === null, outcome(rules, board)])"
    for board, (accepted, end) in zip(boards, call("rules.js", script, asdict(rules), boards), strict=True):
        position = position_of(rules, board)
        legal = board.count("X") - board.count("O") in (0, 1) and (position.mover, position.opponent) in reached
        assert accepted == legal, board
        if legal:
            assert (end["winner"], end["over"]) == (position.winner, position.over), board


def test_lines_that_no_single_mark_can_have_finished_are_no_position(call: Call) -> None:
    """Of X, of O, and three of which any two have a mark in common."""
    for board in ("XXX.OO.OXXX.OO..", "OOO.XX.XOOO.XX.X", "XXX.XXOOXO....OO"):
        assert call("rules.js", "problemOf", asdict(Rules(4, 4, 3)), board) is not None
    for board in ("XXX.XOO.XOO.....", "XXXXOO.O........"):
        assert call("rules.js", "problemOf", asdict(Rules(4, 4, 3)), board) is None


class LosingLines(RuleBook):
    """The game in which a complete line loses."""

    def line_winner(self, seat: int) -> int:
        return 1 - seat


@pytest.mark.parametrize("kind", [RuleBook, LosingLines])
def test_one_function_says_what_a_line_means(call: Call, kind: type[RuleBook]) -> None:
    """Who has won a board or a list of moves, and every exact result, follow from it."""
    rules, book = Rules(2, 3, 2), kind(2, 3, 2)
    meaning = f"resultOfLine = () => {1 if kind is RuleBook else -1};"
    boards = {"".join(board): known for board, known in book.minimax().items()}
    script = f"(rules, lines, boards) => {{ {meaning} return boards.map(solver(rules, lines, '......')); }}"
    for (board, (value, best)), results in zip(
        boards.items(), call("solve.js", script, asdict(rules), book.lines, [*boards]), strict=True
    ):
        if best:
            signs = [score if score is None else (score > 0) - (score < 0) for score in results]
            assert [cell for cell, sign in enumerate(signs) if sign == value] == [*best], board
            assert max(sign for sign in signs if sign is not None) == value, board
    ended = f"(rules) => {{ {meaning} return [outcome(rules, 'XXO...').winner, loserOf(rules, [0, 2, 1])]; }}"
    winner = book.line_winner(0)
    assert call("groups.js", ended, asdict(rules)) == [winner, 1 - winner]


LOST = [[0, 1, 2, 3, 4], [1, 0, 3, 2, 4], [1, 0, 3, 2, 4, 5]]


@pytest.mark.parametrize(
    ("truth", "lost", "cells"),
    [
        ({"position": "win", "exact": ["win", "draw", "win"], "plies": [5, 7, 3]}, [[1, 2, 1]], [2]),
        ({"position": "draw", "exact": ["draw", "loss"]}, LOST, [0]),
        ({"position": "draw", "exact": ["draw", "loss", "draw"], "replies": [2, 1, 1]}, [[1, 2, 1]], [2]),
        ({"position": "loss", "exact": ["loss", None, "loss", "loss"], "plies": [2, None, 4, 4]}, [], [2, 3]),
        ({"position": None, "exact": [None, None]}, [], []),
    ],
)  # fmt: skip
def test_a_hint_wins_soonest_or_begins_a_way_to_win_or_leaves_fewest_right_replies_or_resists_longest(
    call: Call, truth: dict[str, Any], lost: list[list[int]], cells: list[int]
) -> None:
    """The player has lost games of five plies as O; one of six plies, or one that ends with a taken square, as X."""
    game, evaluated = {"start": "." * 9, "cells": [], "at": 0}, {"games": lost, "ways": [1], "complete": True}
    assert call("hint.js", "hintFor", asdict(Rules()), game, {"seat": 0}, truth, evaluated)["cells"] == cells
