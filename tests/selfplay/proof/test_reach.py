"""What an agent's own play leads to, against the whole tree's evaluation, and what is said where that is too much."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.agent import Agent
from selfplay.algorithms import SHIPPED_FOLDER
from selfplay.proof.evaluation import Evaluation, Proof, SeatEvaluation, evaluate
from selfplay.proof.judge import Judge
from selfplay.proof.reach import (
    Ends,
    Reached,
    TooManyError,
    Unfinished,
    Unproved,
    assess,
    distinct,
    evaluate_reach,
    follow,
    replies,
)
from selfplay.proof.report import evaluation_table, live_score, verdict
from selfplay.runs.record import evaluation_metrics, metrics_evaluation
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.proof.players import ScriptedPlayer, first_empty, optimal_player, stubborn
from tictactoe import Rules

UNPROVED = Unproved(
    SeatEvaluation(losses=0, illegal=0, win=0.75, draw=0.25, loss=0.0, best_response=0),
    Unfinished(plies=6, positions=1_234, losses=7, illegal=0),
)


def assert_same(found: Proof | Unproved, expected: Evaluation) -> None:
    assert isinstance(found, Proof)
    for seat, other in ((found.first, expected.first), (found.second, expected.second)):
        numbers, others = dataclasses.asdict(seat), dataclasses.asdict(other)
        for name in ("losses", "illegal", "best_response"):
            assert numbers.pop(name) == others.pop(name)
        assert numbers == pytest.approx(others, abs=1e-12)
    names = ("exploitability", "unbeatable", "unexploitable")
    assert [getattr(found, name) for name in names] == [getattr(expected, name) for name in names]


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(3, 4, 3), Rules(4, 3, 4), Rules(1, 6, 3)])
@pytest.mark.parametrize("seed", [0, 1])
def test_random_players_get_the_numbers_of_the_whole_tree(rules: Rules, mask: bool, seed: int) -> None:
    player = make(config_with(rows=rules.rows, cols=rules.cols, k=rules.k, mask=mask, seed=seed)).player()
    assert_same(evaluate_reach(player, rules), evaluate(player, rules))


@pytest.mark.parametrize("rules", [Rules(), Rules(3, 4, 3)])
def test_perfect_players_get_the_numbers_of_the_whole_tree(rules: Rules) -> None:
    player = optimal_player(rules)
    assert_same(evaluate_reach(player, rules), evaluate(player, rules))
    assert evaluate(player, rules).unexploitable


def test_the_shipped_player_gets_the_numbers_of_the_whole_tree() -> None:
    player = selfplay.load(SHIPPED_FOLDER)
    assert_same(evaluate_reach(player, player.rules), evaluate(player, player.rules))


class Recording:
    """Pass an agent's moves on and keep the positions that it was asked about."""

    def __init__(self, agent: Agent) -> None:
        self.agent = agent
        self.asked: list[bytes] = []

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        self.asked += [board.tobytes() for board in np.asarray(observation)]
        return self.agent.act(observation, action_mask)


def judge(agent: Any, rules: Rules) -> Judge:
    """Return the judge of an agent that is to be asked once."""
    return Judge(agent, rules, "mover", twice=False)


@pytest.mark.parametrize("seat", [0, 1])
def test_each_distinct_position_is_met_once(seat: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.proof.reach.BOARDS", 7)  # so that equal positions come from many parts
    agent = Recording(ScriptedPlayer(first_empty))
    found = follow(judge(agent, Rules(3, 4, 4)), seat, 10_000)
    assert found == follow(judge(agent.agent, Rules(3, 4, 4)), seat, 10_000)
    assert len(agent.asked) == len(set(agent.asked)) > 200


@pytest.mark.parametrize("seat", [0, 1])
def test_a_walk_that_is_cut_short_says_how_far_it_got_and_claims_no_more(seat: int) -> None:
    rules = Rules(3, 4, 3)
    agent = Recording(ScriptedPlayer(first_empty))
    whole = follow(judge(agent, rules), seat, 10_000)
    assert isinstance(whole, SeatEvaluation)
    plies = 0
    for limit in range(1, len(agent.asked), 20):
        found = follow(judge(agent.agent, rules), seat, limit)
        assert isinstance(found, Unfinished)
        assert found.positions <= limit
        assert plies <= found.plies < rules.cells
        assert found.losses <= whole.losses
        plies = found.plies
    assert plies > 3
    assert follow(judge(agent.agent, rules), seat, len(agent.asked) + 100) == whole


def test_positions_are_counted_before_all_are_made() -> None:
    def parts() -> Iterator[Reached]:
        for number in range(25):
            assert number < 22
            yield Reached(np.array([number]), np.array([32]), np.ones(1, int), np.ones(1))

    with pytest.raises(TooManyError):
        distinct(Rules(2, 3, 3), parts(), 10)


def test_a_cut_walk_proves_nothing_but_that_a_lost_line_is_lost() -> None:
    rules = Rules(3, 4, 3)
    beaten = evaluate_reach(ScriptedPlayer(first_empty), rules, positions=150)
    assert isinstance(beaten, Unproved)
    assert beaten.beatable
    assert beaten.as_dict()["unbeatable"] is False
    unknown = evaluate_reach(ScriptedPlayer(first_empty), rules, positions=5)
    assert isinstance(unknown, Unproved)
    assert not unknown.beatable
    assert unknown.as_dict()["unbeatable"] is None


def test_more_lines_than_a_word_holds_are_counted_exactly() -> None:
    lost = Ends()
    level = Reached(np.array([0b1]), np.array([0b110]), np.array([2**62]), np.ones(1))
    after = distinct(Rules(1, 5, 3), replies(Rules(1, 5, 3), level, 2, lost), 10)
    assert (lost.lines, after.lines.tolist()) == (2**62, [2**62])
    both = distinct(Rules(1, 5, 3), [after, after, after], 10)
    assert both.lines.tolist() == [3 * 2**62]


def test_what_is_evaluated_when() -> None:
    agent = ScriptedPlayer(stubborn)
    assert isinstance(assess(judge(agent, Rules(3, 4, 4))), Evaluation)
    for rules in (Rules(1, 13, 1), Rules(5, 5, 4)):
        assert type(assess(judge(agent, rules))) is Proof
    assert isinstance(assess(judge(agent, Rules(1, 13, 1)), every_state=True), Evaluation)
    with pytest.raises(ValueError, match="9x8 board has 72"):
        assess(judge(agent, Rules(9, 8, 4)))


def test_what_is_shown_of_a_proof_and_of_none() -> None:
    proof = evaluate_reach(selfplay.load(SHIPPED_FOLDER), Rules())
    assert live_score(proof) == "lost game lines 0 as X, 0 as O; illegal game lines 0 as X, 0 as O; exploitability 0"
    assert verdict(proof).endswith("in either seat. Its exploitability is 0.")
    assert live_score(UNPROVED) == "lost game lines 0 as X, ≥7 as O; illegal game lines 0 as X, ≥0 as O"
    assert verdict(UNPROVED).startswith("NOT unbeatable: some opponent beats it.")
    open_end = Unproved(UNPROVED.first, dataclasses.replace(UNPROVED.second, losses=0))
    assert verdict(open_end).startswith("NOT PROVED: no lost line was met.")
    cells = [list(column.cells) for column in evaluation_table(UNPROVED).columns]
    assert [column[:4] for column in cells[1:]] == [["all", "0", "0", "draw"], ["6 (1,234 positions)", "≥7", "≥0", "?"]]


@pytest.mark.parametrize("found", [evaluate_reach(selfplay.load(SHIPPED_FOLDER), Rules()), UNPROVED])
def test_metrics_hold_what_is_known_and_give_it_back(found: Proof | Unproved) -> None:
    metrics = evaluation_metrics(found)
    assert metrics_evaluation(metrics, Rules()) == found
    assert "eval/optimal_states" not in metrics
    assert ("eval/unbeatable" in metrics) == isinstance(found, Proof)
