"""Positions where training starts games are what the rule book finds of an agent's losing play."""

from typing import Any

import numpy as np
import pytest

from selfplay.judge import teach as module
from selfplay.judge.ask import agent_policy, player_policy
from selfplay.judge.counterexamples import find_counterexamples
from selfplay.judge.evaluate import evaluate_policy
from selfplay.judge.teach import (
    ANY,
    TOO_FEW,
    WHOLE,
    TrainingPositions,
    evaluate_for_training,
    next_enlargements,
    positions_followed,
)
from selfplay.protocols import Array
from tests.selfplay.judge.hand_made_players import (
    FirstTwo,
    ScriptedPlayer,
    first_empty,
    lost_positions,
    moves_of,
    network_player,
    policy_of,
    positions,
    random_table,
    stubborn,
)
from tests.tictactoe.rule_book import book_of, cells_in
from tictactoe import Rules, solve
from tictactoe.tree import game_tree


def starts(given: TrainingPositions) -> set[tuple[int, int, int]]:
    return set(zip(given.mover.tolist(), given.opponent.tolist(), given.move.tolist(), strict=True))


def word(cells: frozenset[int]) -> int:
    return sum(1 << cell for cell in cells)


@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4)], ids=str)
def test_an_evaluation_for_training_gives_the_verdict_and_the_counterexamples(rules: Rules) -> None:
    for choose in (first_empty, stubborn):
        policy = policy_of(ScriptedPlayer(choose), rules)
        given = evaluate_for_training(policy, every_state=False, generator=np.random.default_rng(0))
        found = find_counterexamples(policy, 10**6, np.random.default_rng(0))
        assert given.verdict == evaluate_policy(policy, every_state=rules.cells <= 12).verdict
        assert {start[:2] for start in starts(given) if start[2] == ANY} <= positions(found)
        assert len(starts(given)) == len(given.mover) == min(given.found, module.MOST_FOR_TRAINING)


@pytest.mark.parametrize(
    ("agent", "rules"),
    [
        (random_table(Rules(), 5, careless=0), Rules()),
        (random_table(Rules(), 6, careless=0.1), Rules()),
        (random_table(Rules(2, 4, 3), 7, careless=0.1), Rules(2, 4, 3)),
        (FirstTwo(), Rules()),
    ],
)
def test_they_are_the_lost_positions_and_those_after_a_losing_move_with_the_replies_that_win_soonest(
    agent: Any, rules: Rules
) -> None:
    lines, moves = book_of(rules).lines, moves_of(agent, rules.cells)
    given = evaluate_for_training(agent_policy(agent, rules), False, np.random.default_rng(0))
    lost = lost_positions(rules, moves, 0) | lost_positions(rules, moves, 1)
    expected = {(word(mine), word(theirs), ANY) for mine, theirs in lost}
    for mine, theirs in lost:
        for after in (mine | {cell} for cell in moves(mine, theirs) if cell not in mine | theirs):
            if any(after.issuperset(line) for line in lines):
                continue
            plies: dict[int, float] = {}
            for reply in {*range(rules.cells)} - after - theirs:
                replied = theirs | {reply}
                plies[reply] = lost.get((after, replied), np.inf)
                if any(replied.issuperset(line) for line in lines):
                    plies[reply] = 0
            soonest = min(plies.values(), default=np.inf)
            if soonest < np.inf:
                expected |= {(word(theirs), word(after), reply) for reply in plies if plies[reply] == soonest}
    assert starts(given) == expected
    assert given.found == len(given.mover) == len(expected)


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 7, 3)], ids=str)
def test_moves_that_are_valued_nearly_as_the_best_are_followed_for_training(rules: Rules) -> None:
    """The positions are those of a player that samples among these moves."""

    class Near:
        def probabilities(self, observation: Array) -> Array:
            values = player.q_values(observation)
            near = values >= values.max(axis=1, keepdims=True) - 0.05
            return near / near.sum(axis=1, keepdims=True)

    player = network_player(rules, 3, margin=0.05)
    given = evaluate_for_training(player_policy(player), False, np.random.default_rng(0))
    policy = agent_policy(Near(), rules, "mover")
    expected = find_counterexamples(policy, 10**6, np.random.default_rng(0))
    assert given.verdict == evaluate_policy(player_policy(player), every_state=rules.cells <= 12).verdict
    own = find_counterexamples(player_policy(player), 10**6, np.random.default_rng(0))
    assert {start[:2] for start in starts(given) if start[2] == ANY} == positions(expected)
    assert len(expected.mover) > len(own.mover)


def test_what_is_not_optimal_is_given_where_an_optimal_player_is_wanted() -> None:
    agent = random_table(Rules(), 3, careless=1)
    policy = policy_of(agent, Rules())
    given = evaluate_for_training(policy, every_state=True, generator=np.random.default_rng(0))
    solution, tree = solve(Rules()), game_tree(Rules())
    suboptimal, illegal = set(), 0
    for state in tree.decisions:
        mine, theirs = int(tree.mover[state]), int(tree.opponent[state])
        cell = agent.choose(cells_in(mine, 9), cells_in(theirs, 9))
        illegal += (mine | theirs) >> cell & 1
        if cell not in solution.lookup(mine, theirs)[1]:
            suboptimal.add((mine, theirs))
    assert starts(given) == {(*position, ANY) for position in suboptimal}
    verdict = given.verdict
    numbers = verdict.optimal_states, verdict.illegal_states, verdict.decision_states
    assert numbers == (4520 - len(suboptimal), illegal, 4520)
    assert 0 < illegal < len(suboptimal) < 4520


def test_a_sample_of_a_larger_board_grows_until_all_positions_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, policy = Rules(2, 9, 3), policy_of(ScriptedPlayer(first_empty), Rules(2, 9, 3))
    monkeypatch.setattr(module, "FOLLOWED", 1)
    assert [positions_followed(rules, enlargements) for enlargements in range(WHOLE)] == [1, 4, 16, 64, 256]
    sampled, whole = (
        evaluate_for_training(policy, False, np.random.default_rng(0), enlargements) for enlargements in (0, WHOLE)
    )
    wanted = evaluate_policy(policy, positions=10**6)
    assert not sampled.verdict.complete
    assert sampled.wait_factor == 1
    assert whole.verdict == wanted.verdict
    # Followed are so many times as many positions as the first sample may have: one of each of 18 plies.
    followed = sum(len(ply.mine) for search in wanted.searches for ply in search.plies)
    assert followed > 18
    assert whole.wait_factor == followed / 18


@pytest.mark.parametrize(
    ("enlargements", "found", "complete", "following"),
    [
        (0, TOO_FEW, False, 0),
        (2, TOO_FEW, False, 1),
        (2, TOO_FEW - 1, False, 3),
        (WHOLE - 1, 1, False, WHOLE - 1),  # the whole play is followed only after a sample without a counterexample
        (WHOLE - 1, 0, False, WHOLE),
        (WHOLE, 1, True, WHOLE - 1),
        (WHOLE, 0, True, WHOLE),
        (0, 0, True, 0),
    ],
)
def test_the_next_sample_is_larger_if_too_little_was_found(
    enlargements: int, found: int, complete: bool, following: int
) -> None:
    assert next_enlargements(enlargements, found, complete) == following
