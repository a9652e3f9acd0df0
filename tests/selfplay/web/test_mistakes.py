"""The mistakes and the games lost are those of the evaluation, and what is said of them is true."""

from typing import Any

import pytest

import selfplay
from selfplay.evaluation.agents import AgentPolicy, BuiltInPolicy, player_policy
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.exact import NAMES
from selfplay.evaluation.report import verdict_text
from selfplay.evaluation.verdict import Verdict
from selfplay.position import Position, read_board
from selfplay.web import mistakes
from selfplay.web.mistakes import ILLEGAL, evaluate
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import FirstTwo, ScriptedPlayer, random_table, stubborn
from tests.selfplay.web.positions import value
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.search import Bounds

SEED = 1000
COMPARED = 100
"""Mistakes that are compared one by one."""
VALUES = {name: value for value, name in NAMES.items()} | {"illegal": ILLEGAL}


def scripted(player: Any, rules: Rules | None = None) -> AgentPolicy:
    return AgentPolicy(player, rules or Rules(), "mover", twice=False)


def value_after(position: Position, cell: int) -> int:
    """Return what a move is worth to the seat that makes it."""
    return -value(position.after(cell)) if cell in position.empty else ILLEGAL


def learned(player: Any, position: Position, cell: int) -> Any:
    """Return what must be said of what a player has learned of a move."""
    return None if player is None else pytest.approx(float(player.q_values(position.observation)[0][cell]), abs=1e-5)


@pytest.mark.parametrize(
    "make_policy",
    [
        pytest.param(lambda: scripted(ScriptedPlayer(stubborn)), id="stubborn"),
        pytest.param(lambda: scripted(random_table(Rules(), SEED, careless=0.1)), id="random"),
        pytest.param(lambda: scripted(FirstTwo()), id="sampling"),
        pytest.param(lambda: BuiltInPolicy(OPPONENTS["rule"], Rules()), id="rule"),
        pytest.param(
            lambda: player_policy(make(config_with(seed=SEED, symmetry="canonical")).player()), id="canonical"
        ),
    ],
)
def test_they_are_those_of_the_evaluation(make_policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "MOST_MISTAKES", 10_000)
    policy: AgentPolicy = make_policy()
    shown, evaluation = evaluate(policy, None), evaluate_policy(policy)
    check_mistakes(policy, shown.mistakes, evaluation)
    seats = evaluation.first, evaluation.second
    assert shown.games_lost["complete"]
    assert shown.games_lost["number"] == [seat.losses + seat.illegal for seat in seats]
    for seat in (0, 1):
        games = [game for game in shown.games_lost["games"] if game["seat"] == seat]
        assert len(games) == min(shown.games_lost["number"][seat], mistakes.MOST_GAMES)
        assert [len(game["cells"]) for game in games] == sorted(len(game["cells"]) for game in games)
        for game in games[::5]:
            check_game(policy, None, game)


def check_mistakes(policy: AgentPolicy, shown: dict[str, Any], evaluation: Verdict) -> None:
    """Compare the mistakes with the solution of the game."""
    states = shown["states"]
    assert shown["verdict"] == verdict_text(evaluation)
    assert (shown["kind"], shown["complete"]) == ("optimal", True)
    assert shown["number"] == len(states) == (evaluation.decision_states or 0) - (evaluation.optimal_states or 0)
    assert sum(state["to"] == "illegal" for state in states) == evaluation.illegal_states
    assert len({state["board"] for state in states}) == len(states)
    given_away = [VALUES[state["from"]] - VALUES[state["to"]] for state in states]
    assert min(given_away) > 0
    assert given_away == sorted(given_away, reverse=True)
    for state in states[:: len(states) // COMPARED + 1]:
        position = read_board(policy.rules, state["board"])
        assert policy.probabilities(*position.words)[0, state["move"]] > 0
        assert VALUES[state["from"]] == value(position)
        assert VALUES[state["to"]] == value_after(position, state["move"])
        assert state["best"] == [cell for cell in position.empty if value_after(position, cell) == value(position)]


def check_game(policy: AgentPolicy, player: Any, game: dict[str, Any]) -> None:
    """Play a game, and compare what is said of each move with the solution of the game."""
    position, turning = Position(policy.rules), None
    for ply, cell in enumerate(game["cells"]):
        if ply % 2 == game["seat"]:
            assert policy.probabilities(*position.words)[0, cell] > 0
            assert VALUES[game["exact"][ply]] == value_after(position, cell)
            assert game["learned"][ply] == learned(player, position, cell)
            if turning is None and value_after(position, cell) < value(position):
                turning = ply
        else:
            assert (game["exact"][ply], game["learned"][ply]) == (None, None)
        last = ply == len(game["cells"]) - 1
        assert (cell not in position.empty) is (last and game["illegal"])
        if cell in position.empty:
            position = position.after(cell)
            assert position.over is last
    assert game["turning"] == turning is not None
    assert game["illegal"] or position.winner == 1 - game["seat"]


def test_of_many_mistakes_the_worst_are_shown_with_what_was_learned() -> None:
    player = make(config_with(seed=SEED)).player()
    policy = player_policy(player)
    shown, games_lost = evaluate(policy, player)
    assert shown["number"] > len(shown["states"]) == mistakes.MOST_MISTAKES
    assert {(state["from"], state["to"]) for state in shown["states"]} == {("win", "illegal")}
    for state in shown["states"][::10]:
        assert state["learned"] == learned(player, read_board(Rules(), state["board"]), state["move"])
    for game in games_lost["games"][::20]:
        check_game(policy, player, game)


def test_an_optimal_player_makes_no_mistakes() -> None:
    shown = evaluate(player_policy(selfplay.load("shipped")), None)
    assert (shown.mistakes["number"], shown.mistakes["states"]) == (0, [])
    assert (shown.games_lost["number"], shown.games_lost["games"]) == ([0, 0], [])


def test_on_a_board_that_is_not_solved_the_beaten_positions_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "MOST_MISTAKES", 20)
    player = make(config_with(rows=2, cols=7, k=3, symmetry="none", seed=SEED)).player()
    policy = player_policy(player)
    shown, games_lost = evaluate(policy, player)
    whole = selfplay.counterexamples(player, player.rules)
    beaten = set(zip(whole.mover.tolist(), whole.opponent.tolist(), strict=True))
    assert (shown["kind"], shown["complete"], shown["number"]) == ("beaten", True, len(whole.mover))
    for state in shown["states"]:
        position = read_board(player.rules, state["board"])
        assert (position.mover, position.opponent) in beaten
        assert state["move"] == int(policy.cells(*position.words)[0])
        assert state["best"]
    given_away = [VALUES[state["from"]] - VALUES[state["to"]] for state in shown["states"]]
    assert given_away == sorted(given_away, reverse=True)
    assert {game["seat"] for game in games_lost["games"]} == {0, 1}


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 cells the last one is the sign of a word."""
    monkeypatch.setattr(mistakes, "POSITIONS_OF_MANY_CELLS", 3)
    monkeypatch.setattr(mistakes, "SEARCHED", 1)
    rules = Rules(8, 8, 3)
    last_empty = ScriptedPlayer(lambda mine, theirs: max(set(range(64)) - mine - theirs))
    shown, games_lost = evaluate(scripted(last_empty, rules), None)
    assert (shown["complete"], games_lost["complete"], games_lost["number"]) == (False, False, [None, None])
    assert shown["number"] >= len(shown["states"]) > 0
    assert "too many positions to follow" in shown["verdict"]
    for state in shown["states"]:
        assert read_board(rules, state["board"]).mover >= 0
    assert any(63 in game["cells"] for game in games_lost["games"])
    assert all(game["turning"] is None for game in games_lost["games"])


@pytest.mark.parametrize(("known_below", "turning"), [(9, 3), (7, None)])
def test_no_turning_point_is_claimed_behind_a_move_of_unknown_value(known_below: int, turning: int | None) -> None:
    def exact_results(position: Position) -> dict[int, Bounds]:
        known = len(position.empty) < known_below
        values = {cell: value_after(position, cell) for cell in position.empty}
        return {cell: Bounds(worth, worth) if known else Bounds(-1, 1) for cell, worth in values.items()}

    game = mistakes._game_lost(None, Rules(), 1, (0, 4, 1, 8, 2), exact_results)
    assert game["turning"] == turning
