"""The mistakes and the games lost are those of the evaluation, and what is said of them is true."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from selfplay.evaluation.agents import AgentPolicy, player_policy
from selfplay.evaluation.counterexamples import find_counterexamples
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.exact import NAMES, exact_moves
from selfplay.evaluation.report import verdict_text
from selfplay.evaluation.verdict import Verdict
from selfplay.position import Position, read_board
from selfplay.web import mistakes
from selfplay.web.analysis import ILLEGAL
from selfplay.web.mistakes import evaluate
from tests.runs import refused
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import FirstTwo, ScriptedPlayer, policy_of, random_table, stubborn
from tests.selfplay.web.positions import value
from tictactoe import Rules
from tictactoe.search import Bounds

SEED = 1000
COMPARED = 100
"""Mistakes that are compared one by one."""
VALUES = {name: value for value, name in NAMES.items()} | {"illegal": ILLEGAL}


def value_after(position: Position, cell: int) -> int:
    """Return what a move is worth to the seat that makes it."""
    return -value(position.after(cell)) if cell in position.empty else ILLEGAL


def learned(player: Any, position: Position, cell: int) -> Any:
    """Return what must be said of what a player has learned of a move."""
    return None if player is None else pytest.approx(float(player.q_values(position.observation)[0][cell]), abs=1e-5)


@pytest.mark.parametrize(
    "make_policy",
    [
        pytest.param(lambda: policy_of(ScriptedPlayer(stubborn)), id="stubborn"),
        pytest.param(lambda: policy_of(random_table(Rules(), SEED, careless=0.1)), id="random"),
        pytest.param(lambda: policy_of(FirstTwo()), id="sampling"),
        pytest.param(
            lambda: player_policy(make(config_with(seed=SEED, symmetry="canonical")).player()), id="canonical"
        ),
    ],
)
def test_they_are_those_of_the_evaluation(make_policy: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mistakes, "MOST_MISTAKES", 10_000)
    policy: AgentPolicy = make_policy()
    player: Any = policy.agent if hasattr(policy.agent, "q_values") else None
    shown, evaluation = evaluate(policy, player), evaluate_policy(policy)
    check_mistakes(policy, player, shown["mistakes"], evaluation)
    lost = shown["games_lost"]
    assert lost["complete"]
    assert lost["number"] == [seat.losses + seat.illegal for seat in (evaluation.first, evaluation.second)]
    for seat in (0, 1):
        games = [game for game in lost["games"] if game["seat"] == seat]
        assert len(games) == min(lost["number"][seat], mistakes.MOST_GAMES)
        assert [len(game["cells"]) for game in games] == sorted(len(game["cells"]) for game in games)
        for game in games[::5]:
            check_game(policy, player, game)


def check_mistakes(policy: AgentPolicy, player: Any, shown: dict[str, Any], evaluation: Verdict) -> None:
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
        assert state["learned"] == learned(player, position, state["move"])


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


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 64 cells the last one is the sign of a word."""
    monkeypatch.setattr(mistakes, "POSITIONS_OF_MANY_CELLS", 3)
    monkeypatch.setattr(mistakes, "SEARCHED", 1)
    rules = Rules(8, 8, 3)
    last_empty = ScriptedPlayer(lambda mine, theirs: max(set(range(64)) - mine - theirs))
    shown, games_lost = evaluate(policy_of(last_empty, rules), None).values()
    assert (shown["complete"], games_lost["complete"], games_lost["number"]) == (False, False, [None, None])
    assert shown["number"] >= len(shown["states"]) > 0
    assert "too many positions to follow" in shown["verdict"]
    for state in shown["states"]:
        assert read_board(rules, state["board"]).mover >= 0
    assert any(63 in game["cells"] for game in games_lost["games"])
    assert all(game["turning"] is None for game in games_lost["games"])


def test_a_player_that_nothing_beats_on_a_larger_board_has_no_mistakes() -> None:
    first_empty = ScriptedPlayer(lambda mine, theirs: min(set(range(13)) - mine - theirs))
    shown, games_lost = evaluate(policy_of(first_empty, Rules(1, 13, 13)), None).values()
    assert (shown["complete"], shown["number"], shown["states"]) == (True, 0, [])
    assert (games_lost["number"], games_lost["games"]) == ([0, 0], [])


@pytest.mark.parametrize(
    ("seconds", "limit", "listed"), [(7, None, None), (20, 2, "games"), (16, 2, ""), (40, 4, "mistakes and games")]
)
def test_what_takes_too_long_is_left_out(
    seconds: int, limit: int | None, listed: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of the two searches takes 8 seconds, and is at its first query after them."""
    now = [0.0]

    def slow(policy: AgentPolicy, *args: Any) -> Any:
        now[0] += 8
        policy.moves(*Position(policy.rules).words)
        return find_counterexamples(policy, *args)

    monkeypatch.setattr(mistakes, "monotonic", lambda: now[0])
    monkeypatch.setattr(mistakes, "find_counterexamples", slow)
    monkeypatch.setattr(mistakes, "FEW", 2)
    monkeypatch.setattr(mistakes, "POSITIONS_OF_MANY_CELLS", 4)
    first_empty = ScriptedPlayer(lambda mine, theirs: min(set(range(20)) - mine - theirs))
    policy = policy_of(first_empty, Rules(4, 5, 3))
    if limit is None:
        assert "selfplay prove has no time limit" in refused(evaluate, policy, None, seconds)
        return
    shown, games_lost = evaluate(policy, None, seconds).values()
    assert shown["number"] == len(find_counterexamples(policy, limit, np.random.default_rng(0)).mover)
    assert ("mistakes" in str(listed)) == (len(shown["states"]) > 0)
    assert ("games" in str(listed)) == (len(games_lost["games"]) > 0)


@pytest.mark.parametrize(("known_below", "turning"), [(9, 3), (7, None)])
def test_no_turning_point_is_claimed_behind_a_move_of_unknown_value(
    known_below: int, turning: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def exact_results(rules: Rules, mover: int, opponent: int, _: int) -> Mapping[int, Bounds]:
        known = rules.cells - (mover | opponent).bit_count() < known_below
        return exact_moves(rules, mover, opponent, 0) if known else dict.fromkeys(range(9), Bounds(-1, 1))

    monkeypatch.setattr(mistakes, "exact_results", exact_results)
    game = mistakes._game_lost(None, Rules(), 1, (0, 4, 1, 8, 2))
    assert game["turning"] == turning
