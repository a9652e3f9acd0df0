"""Counterexamples are what following every game by the rule book finds, and so is the shortest game of all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.judge.ask import AgentPolicy, agent_policy, player_policy
from selfplay.judge.counterexamples import counterexamples_of, find_counterexamples
from selfplay.judge.evaluate import evaluate_policy, search_seat
from selfplay.judge.induct import play_distances
from selfplay.verdicts import counterexamples
from tests.selfplay.judge.hand_made_players import (
    FirstTwo,
    Marks,
    Moves,
    ScriptedPlayer,
    first_empty,
    lost_positions,
    moves_of,
    network_player,
    optimal_player,
    policy_of,
    positions,
    random_table,
    stubborn,
)
from tests.tictactoe.rule_book import book_of, cells_in
from tictactoe import Rules
from tictactoe.symmetry import representatives


def assert_loses(rules: Rules, moves: Moves, game: tuple[int, ...], seat: int) -> None:
    """Play a game by the rule book: each own move is the agent's, and the last ply of it loses for the agent."""
    book = book_of(rules)
    marks: list[frozenset[int]] = [frozenset(), frozenset()]
    for ply, cell in enumerate(game):
        mover, last = ply % 2, ply == len(game) - 1
        if mover == seat:
            assert cell in moves(marks[seat], marks[1 - seat])
        taken = cell in marks[0] | marks[1]
        marks[mover] = marks[mover] | {cell}
        wins = any(marks[mover].issuperset(each) for each in book.lines)
        assert (taken and mover == seat) or (wins and mover != seat) if last else not (taken or wins)


@pytest.mark.parametrize(
    ("make", "rules"),
    [
        (lambda _: ScriptedPlayer(first_empty), Rules()),
        (lambda _: ScriptedPlayer(stubborn), Rules(2, 4, 3)),
        (lambda rules: random_table(rules, 1, careless=0), Rules(3, 3, 2)),
        (lambda rules: random_table(rules, 2, careless=1), Rules()),
        (lambda rules: random_table(rules, 3, careless=0.1), Rules()),
        (lambda rules: random_table(rules, 4, careless=0.1), Rules(2, 4, 3)),
        (optimal_player, Rules()),
        (lambda _: FirstTwo(), Rules()),
        (lambda _: FirstTwo(), Rules(2, 4, 3)),
    ],
)
def test_they_are_what_following_every_game_finds(make: Callable[[Rules], Any], rules: Rules) -> None:
    agent = make(rules)
    moves, found = moves_of(agent, rules.cells), selfplay.counterexamples(agent, rules)
    expected: set[Marks] = set()
    for seat in (0, 1):
        lost = lost_positions(rules, moves, seat)
        expected |= lost.keys()
        plies = search_seat(agent_policy(agent, rules), seat, 10**6)[1]
        for ply, values in zip(plies, play_distances(agent_policy(agent, rules), plies), strict=True):
            for mine, theirs, distance in zip(*ply[:2], values.value, strict=True):
                marks = frozenset(cells_in(mine, rules.cells)), frozenset(cells_in(theirs, rules.cells))
                assert lost.get(marks, np.inf) == distance
        game = found.shortest[seat]
        assert (game is None) == (not lost)
        if game is not None:
            assert len(game) == min(plies for (_, theirs), plies in lost.items() if len(theirs) == seat) + seat
            assert_loses(rules, moves, game, seat)
    assert found.verdict.complete
    assert found.verdict.rules == rules
    listed = positions(found)
    cells = rules.cells
    assert {
        (frozenset(cells_in(mine, cells)), frozenset(cells_in(theirs, cells))) for mine, theirs in listed
    } == expected
    assert len(found.mover) == len(listed)


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(random_table(Rules(), 3, careless=0.1), Rules()),
        policy_of(FirstTwo(), Rules(2, 4, 3)),
        policy_of(FirstTwo(), Rules(3, 3, 2)),
        policy_of(ScriptedPlayer(first_empty), Rules(2, 2, 1)),
        player_policy(network_player(Rules(), 0)),
        player_policy(network_player(Rules(2, 4, 3), 1, canonical=True)),
        player_policy(network_player(Rules(), 2, mask=True, canonical=True)),
    ],
)
def test_every_lost_game_is_listed_the_shortest_first(policy: AgentPolicy) -> None:
    evaluation = evaluate_policy(policy)
    verdict = evaluation.verdict
    found, few = (counterexamples_of(evaluation, most_games) for most_games in (10**6, 5))
    for seat, counted in enumerate((verdict.first, verdict.second)):
        games = found.games[seat]
        assert len(games) == len(set(games)) == counted.losses + counted.illegal
        assert sum(len(game) % 2 != seat for game in games) == counted.illegal
        assert [len(game) for game in games] == sorted(map(len, games))
        assert few.games[seat] == games[:5]


def test_of_too_many_positions_a_part_is_followed_and_all_it_finds_is_true() -> None:
    rules, agent = Rules(3, 4, 3), ScriptedPlayer(first_empty)
    every, part = counterexamples(agent, rules), counterexamples(agent, rules, positions=20)
    assert every.verdict.complete
    assert not part.verdict.complete
    assert positions(part) < positions(every)
    assert len(part.mover) > 20
    again, other = (counterexamples(agent, rules, positions=20, seed=seed) for seed in (0, 1))
    assert positions(again) == positions(part) != positions(other)
    for seat, game in enumerate(part.shortest):
        assert game is not None
        assert_loses(rules, moves_of(agent, rules.cells), game, seat)


def test_those_of_a_symmetric_player_are_an_image_of_each_of_all() -> None:
    rules = Rules(3, 4, 3)
    player = network_player(rules, 3, canonical=True)
    found, every = (
        find_counterexamples(policy, 10**6, np.random.default_rng(0))
        for policy in (player_policy(player), policy_of(player, rules))
    )
    images = set(zip(*(side.tolist() for side in representatives(rules, every.mover, every.opponent)), strict=True))
    assert positions(found) == images
    assert len(found.mover) == len(images) < len(every.mover)
    assert [game and len(game) for game in found.shortest] == [game and len(game) for game in every.shortest]
