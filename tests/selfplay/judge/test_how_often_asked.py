"""How often an agent that takes one observation is asked."""

from collections import Counter
from typing import Any

import pytest

import selfplay
from selfplay.judge.ask import agent_policy, observe
from selfplay.judge.evaluate import search_seat

SHIPPED = selfplay.load("shipped")


def first_empty(observation: Any) -> int:
    return int(observation[..., 0].argmax())


def shipped(observation: Any) -> int:
    return int(SHIPPED.act(observation[None])[0])


class Counted:
    """A function that counts how often it is asked about each position."""

    def __init__(self, function: Any) -> None:
        self.function, self.asked = function, Counter[bytes]()

    def __call__(self, observation: Any) -> int:
        self.asked[observation.tobytes()] += 1
        return int(self.function(observation))


def own_play(function: Any) -> set[bytes]:
    """Return the observations of all positions that its own play leads to."""
    policy = agent_policy(function)
    plies = [ply for seat in (0, 1) for ply in search_seat(policy, seat, 10_000).plies]
    boards = [observe(policy.rules, ply.mine, ply.theirs, "absolute") for ply in plies]
    return {board.tobytes() for ply in boards for board in ply}


@pytest.mark.parametrize(("function", "unbeatable"), [(first_empty, False), (shipped, True)])
def test_a_function_is_asked_twice_where_its_play_leads(function: Any, unbeatable: bool) -> None:
    own, every = Counted(function), Counted(function)
    verdict, whole = selfplay.evaluate(own, every_state=False), selfplay.evaluate(every)
    assert own.asked.keys() == own_play(function)
    assert min(own.asked.values()) == 2
    first = 2 * (2 + 9)  # twice the empty board, on which two are asked at once, and twice each first move of X
    assert own.asked.total() == 2 * len(own.asked) + first
    assert 6 * own.asked.total() < every.asked.total()
    assert (verdict.first, verdict.second) == (whole.first, whole.second)
    assert verdict.unbeatable == whole.unbeatable == unbeatable
    assert (verdict.optimal, verdict.optimal_states, verdict.decision_states) == (False, None, None)
