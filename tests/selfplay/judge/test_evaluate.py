"""The exact evaluation against every game played by the rule book, by the forms of policies that it follows."""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import selfplay
from selfplay.judge.ask import AgentPolicy, agent_policy, choices_policy, player_policy
from selfplay.judge.evaluate import evaluate_policy, search_seat
from selfplay.judge.follow import Frontier, Total, distinct, replies
from selfplay.judge.verdict import SeatVerdict, Verdict
from selfplay.protocols import Array
from selfplay.verdicts import evaluate
from tests.selfplay.judge.hand_made_players import (
    Marks,
    Sampler,
    Sampling,
    ScriptedPlayer,
    assert_close,
    certain,
    empty,
    first_choice,
    first_empty,
    game_by_game,
    network_player,
    optimal_player,
    policy_of,
    sampling_of,
    stubborn,
)
from tests.variants import VARIANTS
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS


def uniform(rules: Rules, marks: Marks, _seat: int) -> dict[int, Fraction]:
    cells = empty(rules, marks)
    return {cell: Fraction(1, len(cells)) for cell in cells}


def careless(rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
    """Sample the first empty cell or, in the second seat sometimes a taken one, the last cell of the board."""
    first, last = empty(rules, marks)[0], rules.cells - 1
    if first == last or seat == 0:
        return {first: Fraction(1)}
    return {first: Fraction(3, 4), last: Fraction(1, 4)}


def assert_every_number(verdict: Verdict, rules: Rules, sampling: Sampling) -> None:
    for seat, found in enumerate((verdict.first, verdict.second)):
        assert_close(found, game_by_game(rules, sampling, seat))


@pytest.mark.parametrize("choose", [first_empty, stubborn])
@pytest.mark.parametrize(
    "rules", [Rules(), Rules(2, 4, 3), Rules(1, 5, 2), Rules(5, 5, 2), Rules(6, 6, 2), *VARIANTS], ids=str
)
def test_every_number_of_a_seat_agrees_with_every_game(
    choose: Callable[[set[int], set[int]], int], rules: Rules
) -> None:
    verdict = evaluate(ScriptedPlayer(choose), rules)
    assert_every_number(verdict, rules, certain(choose))
    value = int(solve(rules).value[0]) if rules.cells <= 16 else 1
    first, second = verdict.first.best_response, verdict.second.best_response
    assert first is not None
    assert second is not None
    assert verdict.exploitability == ((value - first) + (-value - second)) / 2
    assert not verdict.unbeatable
    assert (verdict.decision_states is None) == (rules.cells > 16)


@pytest.mark.parametrize(
    ("sampling", "rules"),
    [
        (uniform, Rules(2, 3, 2)),
        (uniform, Rules(2, 3, 3)),
        (uniform, Rules(1, 1, 1)),
        (careless, Rules(2, 3, 3)),
        (careless, Rules(1, 3, 1)),
        (careless, Rules(2, 4, 3)),
    ],
)
def test_each_move_that_an_agent_may_sample_is_followed(sampling: Sampling, rules: Rules) -> None:
    verdict = evaluate(Sampler(rules, sampling), rules)
    assert_every_number(verdict, rules, sampling)
    if sampling is careless and rules.k > 1:
        assert (verdict.illegal_states or 0) > 0


class NearlyOptimal:
    """An agent that plays as the shipped player but, with a tiny probability, marks any cell."""

    def __init__(self, probability: float) -> None:
        self.probability = probability

    def probabilities(self, observation: Array) -> Array:
        probabilities = np.full((len(observation), 9), self.probability)
        probabilities[np.arange(len(observation)), selfplay.load("shipped").act(observation)] = 1
        return probabilities


@pytest.mark.parametrize("probability", [1e-13, 1e-200, 1e-320])
def test_no_probability_of_a_loss_is_too_small_to_count(probability: float) -> None:
    verdict = evaluate(NearlyOptimal(probability))
    assert verdict.ways_to_beat > 0
    assert (verdict.exploitability or 0) > 0
    assert (verdict.unbeatable, verdict.unexploitable, verdict.optimal) == (False, False, False)


@pytest.mark.parametrize(
    "make_policy",
    [
        lambda: policy_of(network_player(Rules(3, 4, 3), 1, mask=True), Rules(3, 4, 3)),
        lambda: policy_of(network_player(Rules(1, 6, 3), 3, mask=True), Rules(1, 6, 3)),
        lambda: first_choice("optimal", Rules(3, 4, 3)),
        lambda: player_policy(selfplay.load("shipped")),
        lambda: player_policy(network_player(Rules(3, 4, 3), 5, mask=True, canonical=True, networks=2)),
        lambda: player_policy(network_player(Rules(2, 5, 3), 6, canonical=True)),
        lambda: agent_policy(Sampler(Rules(2, 4, 3), careless)),
        lambda: choices_policy(OPPONENTS["rule"].choices, Rules(3, 4, 3), symmetric=True),
        lambda: choices_policy(OPPONENTS["heuristic"].choices, Rules()),
    ],
)
def test_the_forward_search_gives_the_numbers_of_every_game(
    make_policy: Callable[[], AgentPolicy], monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = make_policy()
    monkeypatch.setattr("selfplay.judge.follow.BOARDS", 97)  # so that equal positions come from many parts
    verdict = evaluate_policy(policy).verdict
    seats = [game_by_game(policy.rules, sampling_of(policy), seat) for seat in (0, 1)]
    for seat, expected in enumerate(seats):
        assert_close(search_seat(policy, seat, 10**6)[0], expected)
        assert_close((verdict.first, verdict.second)[seat], expected)
    assert verdict.unbeatable == (sum(seat.losses + seat.illegal for seat in seats) == 0)


def test_the_numbers_of_random_play_are_known() -> None:
    verdict = evaluate(Sampler(Rules(), uniform), Rules())
    shares = verdict.first.win, verdict.first.draw, verdict.first.loss
    assert shares == pytest.approx((737 / 1260, 8 / 63, 121 / 420), abs=1e-12)
    assert verdict.first.losses == 77_904  # the games that O wins, of the 255,168 games that there are
    assert -1 < (verdict.first.best_response or 0) < -0.5
    assert (verdict.unbeatable, verdict.illegal_states) == (False, 0)


def test_the_numbers_of_the_built_in_opponents_are_known() -> None:
    rule = evaluate_policy(choices_policy(OPPONENTS["rule"].choices, Rules())).verdict
    assert (rule.first.losses, rule.second.losses, rule.ways_to_beat) == (0, 16, 16)
    assert (rule.illegal_states, rule.optimal_states) == (0, 4_362)
    optimal = evaluate_policy(choices_policy(OPPONENTS["optimal"].choices, Rules())).verdict
    assert optimal.optimal
    assert optimal.unbeatable
    assert str(optimal.exploitability) == "0.0"  # and not -0.0


def test_on_a_board_that_the_first_seat_wins_optimal_play_is_unexploitable_but_not_unbeatable() -> None:
    verdict = evaluate_policy(first_choice("optimal", Rules(3, 4, 3))).verdict
    assert (verdict.first.best_response, verdict.second.best_response) == (1, -1)
    assert verdict.first.win == pytest.approx(1, abs=1e-12)
    assert verdict.second.losses > 0
    assert (verdict.unexploitable, verdict.optimal, verdict.unbeatable) == (True, True, False)


def test_an_illegal_game_in_the_seat_that_loses_anyway_spoils_the_proof() -> None:
    optimal = optimal_player(Rules(2, 3, 2))

    def choose(mine: set[int], theirs: set[int]) -> int:
        return optimal.choose(mine, theirs) if len(mine) == len(theirs) else min(theirs)

    verdict = evaluate(ScriptedPlayer(choose), Rules(2, 3, 2))
    assert verdict.exploitability == 0
    assert verdict.second.illegal > 0
    assert not verdict.unexploitable


@pytest.mark.parametrize("field", ["losses", "illegal", "plies"])
def test_one_bad_or_unfollowed_game_in_either_seat_is_no_proof(field: str) -> None:
    clean = SeatVerdict(0, 0, win=0.5, draw=0.5, loss=0.0, best_response=0)
    verdict = Verdict(clean, clean, 10, 10, 0)
    numbers = verdict.to_dict()
    assert [numbers[name] for name in ("unbeatable", "unexploitable", "optimal", "complete")] == [True] * 4
    bad = replace(clean, **{field: 1})
    for spoilt in (replace(verdict, first=bad), replace(verdict, second=bad)):
        assert (spoilt.unbeatable, spoilt.complete, spoilt.unexploitable) == (
            False,
            field != "plies",
            field == "losses",
        )
    assert not replace(verdict, optimal_states=9).optimal
    assert not replace(verdict, decision_states=None, optimal_states=None).optimal


@pytest.mark.parametrize("seat", [0, 1])
def test_a_search_that_is_cut_short_says_how_far_it_got_and_claims_no_more(seat: int) -> None:
    rules = Rules(3, 4, 3)
    policy = policy_of(ScriptedPlayer(first_empty), rules)
    whole, every = search_seat(policy, seat, 10_000)
    widest = max(len(ply.mine) for ply in every)
    plies = 0
    for limit in range(1, widest, 40):
        cut, _ = search_seat(policy, seat, limit)
        assert not cut.complete
        assert (cut.win, cut.draw, cut.loss) == (None,) * 3
        assert cut.best_response == (-1 if cut.losses else None)
        assert cut.plies is not None
        assert plies <= cut.plies < rules.cells
        assert cut.positions == sum(len(ply.mine) for ply in every[: (cut.plies + 1 - seat) // 2])
        assert cut.losses <= whole.losses
        plies = cut.plies
    assert plies > 3
    assert search_seat(policy, seat, widest)[0] == whole


@pytest.mark.parametrize(
    "policy",
    [
        player_policy(network_player(Rules(3, 4, 3), 1, mask=True, canonical=True)),
        player_policy(network_player(Rules(2, 5, 3), 3, mask=True)),
        first_choice("optimal", Rules(3, 4, 3), legal=True),
    ],
)
def test_games_that_cannot_be_lost_any_more_need_not_be_followed(
    policy: AgentPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [search_seat(policy, seat, 10_000) for seat in (0, 1)]
    monkeypatch.setattr("selfplay.judge.evaluate.SETTLED_ABOVE", 1)
    settled = [search_seat(policy, seat, 10_000) for seat in (0, 1)]
    for (verdict, _), (expected, _) in zip(settled, whole, strict=True):
        for name in ("losses", "illegal", "best_response", "loss"):
            assert getattr(verdict, name) == getattr(expected, name)
        assert (verdict.win is None) == (verdict.draw is None)
    fewer, every = (sum(len(ply.mine) for _, plies in each for ply in plies) for each in (settled, whole))
    assert fewer < every
    assert any(verdict.win is None for verdict, _ in settled)


def careless_in_the_middle(mine: set[int], theirs: set[int]) -> int:
    """Block all lines of 1,5,3 by its middle, and then mark a taken cell; if that is not possible, lose some games."""
    return min(theirs) if 2 in mine else first_empty(mine, theirs) if 2 in theirs else 2


@pytest.mark.parametrize(
    "policy",
    [
        policy_of(ScriptedPlayer(careless_in_the_middle), Rules(1, 5, 3)),
        choices_policy(OPPONENTS["heuristic"].choices, Rules()),
    ],
)
def test_an_agent_that_may_be_illegal_or_samples_is_followed_to_the_end(
    policy: AgentPolicy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.judge.evaluate.SETTLED_ABOVE", 1)
    for seat in (0, 1):
        assert_close(search_seat(policy, seat, 10**6)[0], game_by_game(policy.rules, sampling_of(policy), seat))


@pytest.mark.parametrize(
    ("rules", "shares", "result"), [(Rules(1, 3, 2), (1.0, 0.0), 1), (Rules(1, 4, 3), (None, None), 0)], ids=str
)
def test_where_games_are_settled_shares_are_known_only_if_it_wins_them_all(
    rules: Rules, shares: tuple[float | None, float | None], result: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.judge.evaluate.SETTLED_ABOVE", 1)
    # All lines go through the second cell. With it X wins every game on three cells, and none on four.
    player = ScriptedPlayer(lambda mine, theirs: first_empty(mine, theirs) if mine else 1)
    verdict, _ = search_seat(policy_of(player, rules, legal=True), 0, 99)
    assert verdict == SeatVerdict(0, 0, *shares, loss=0.0, illegal_loss=0.0, best_response=result)


def test_nobody_else_is_believed_to_be_symmetric_or_legal() -> None:
    player = network_player(Rules(), 0, mask=True, canonical=True)
    own, others = player_policy(player), policy_of(player)
    assert (own.symmetric, own.legal, others.symmetric, others.legal) == (True, True, False, False)
    unmasked = player_policy(network_player(Rules(), 0))
    assert (unmasked.symmetric, unmasked.legal) == (False, False)


def test_each_ply_is_reported() -> None:
    reports = []
    progress = SimpleNamespace(follow=lambda *report: reports.append(report))
    policy = policy_of(ScriptedPlayer(first_empty), Rules(1, 13, 3))
    evaluate_policy(replace(policy, progress=cast(Any, progress)), every_state=False)
    assert [(seat, ply) for seat, ply, _ in reports[:3]] == [(0, 0), (0, 2), (0, 4)]
    assert reports[0][2] == 1
    assert next(ply for seat, ply, _ in reports if seat == 1) == 1


def test_too_many_positions_are_noticed_before_all_are_made_and_never_forgotten() -> None:
    def parts(most: int) -> Iterator[Frontier]:
        for number in range(25):
            assert number < most
            yield Frontier(np.array([number]), np.array([32]), np.ones(1, int), np.ones(1))

    assert not distinct(Rules(2, 3, 3), parts(22), 10)[1]
    for size in range(9, 25):
        some, whole = distinct(Rules(2, 3, 3), itertools.islice(parts(25), size), 10, sample_seed=1)
        assert (len(some.mine), whole) == (min(size, 10), size <= 10)
    together = Frontier(*map(np.concatenate, zip(*parts(25), strict=True)))
    assert not distinct(Rules(2, 3, 3), [together], 10, sample_seed=1)[1]  # its sample alone is not too large


def test_more_games_than_a_word_holds_are_counted_exactly() -> None:
    lost = Total()
    frontier = Frontier(np.array([0b1]), np.array([0b110]), np.array([2**62]), np.ones(1))
    after, _ = distinct(Rules(1, 5, 3), replies(Rules(1, 5, 3), frontier, 2, lost), 10)
    assert (lost.games, after.games.tolist()) == (2**62, [2**62])
    thrice, _ = distinct(Rules(1, 5, 3), [after, after, after], 10)
    assert thrice.games.tolist() == [3 * 2**62]


def test_all_states_are_looked_at_on_small_boards() -> None:
    agent = ScriptedPlayer(first_empty)
    for cells, known in ((13, True), (17, False)):
        policy = policy_of(agent, Rules(1, cells, 1))
        assert (evaluate_policy(policy).verdict.decision_states is not None) is known
        assert evaluate_policy(policy, every_state=False).verdict.decision_states is None
    with pytest.raises(ValueError, match="9x8"):
        evaluate(agent, Rules(9, 8, 4))
