"""How often an agent that takes one observation is asked, and the line that says how far a slow evaluation is."""

import re
from collections import Counter
from functools import partial
from typing import Any

import pytest

import selfplay
from selfplay.judging.agents import AgentPolicy, observe
from selfplay.judging.evaluate import search_seat
from selfplay.judging.progress import Progress
from tictactoe import Rules

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
    policy = AgentPolicy(function, Rules())
    plies = [ply for seat in (0, 1) for ply in search_seat(policy, seat, 10_000, keep_plies=True).plies]
    boards = [observe(policy.rules, ply.mine, ply.theirs, "absolute") for ply in plies]
    return {board.tobytes() for ply in boards for board in ply}


@pytest.mark.parametrize(("function", "in_games"), [(first_empty, 0), (shipped, 32 * 9)])
def test_a_function_is_asked_twice_where_its_play_leads_and_in_games_if_it_is_unbeaten(
    function: Any, in_games: int
) -> None:
    own, every = Counted(function), Counted(function)
    verdict, whole = selfplay.evaluate(own, every_state=False), selfplay.evaluate(every)
    assert own.asked.keys() == own_play(function)
    assert min(own.asked.values()) == 2
    first = 1  # more, to find out how it is asked
    assert 2 * len(own.asked) + first <= own.asked.total() <= 2 * len(own.asked) + first + in_games
    assert 6 * own.asked.total() < every.asked.total()
    assert (verdict.first, verdict.second) == (whole.first, whole.second)
    assert verdict.unbeatable == whole.unbeatable == (in_games > 0)
    assert (verdict.optimal, verdict.optimal_states, verdict.decision_states) == (False, None, None)


def test_games_that_are_shown_after_the_verdict_ask_nothing_again(capsys: pytest.CaptureFixture[str]) -> None:
    from selfplay.cli import prove

    COUNTED.asked.clear()
    prove.main([f"{__name__}:COUNTED", "--no-every-state"])
    assert max(COUNTED.asked.values()) <= 3
    assert "17.7 %" in capsys.readouterr().out


COUNTED = Counted(first_empty)


@pytest.mark.parametrize(("seconds", "times"), [(0.0105, []), (1.0, [5, *range(35, 465, 30)])])
def test_a_line_after_five_seconds_and_then_every_thirty_says_how_far_it_is(
    seconds: float, times: list[int], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 0.0

    def slow(observation: Any) -> int:
        nonlocal now
        now += seconds
        return first_empty(observation)

    monkeypatch.setattr("selfplay.verdicts.Progress", partial(Progress, clock=lambda: now))
    selfplay.evaluate(slow, every_state=False)
    printed = capsys.readouterr()
    assert printed.out == ""
    lines = [[int(number) for number in re.findall(r": (\d+)", line)] for line in printed.err.splitlines()]
    assert [asked for asked, *_ in lines] == [time - 1 for time in times]  # the first question finds out how to ask
    followed = [boards for _, boards in lines]
    assert followed == sorted(followed)
