"""What an agent's own play leads to, against the whole tree's evaluation, and what is said where that is too much."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from selfplay.evaluation.evaluation import Evaluation, Proof, SeatEvaluation, evaluate
from selfplay.evaluation.judge import Judge
from selfplay.evaluation.reach import Unfinished, Unproved, assess, evaluate_reach, follow
from selfplay.evaluation.walk import Ends, Ply, Reached, TooManyError, Walk, distinct, replies

import selfplay
from selfplay.agent import Agent
from selfplay.algorithms import SHIPPED_FOLDER
from selfplay.evaluation.report import evaluation_table, live_score, verdict
from selfplay.training.metrics import evaluation_metrics, metrics_evaluation
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import ScriptedPlayer, first_empty, optimal_player, stubborn
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
    monkeypatch.setattr("selfplay.evaluation.walk.BOARDS", 7)  # so that equal positions come from many parts
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
    kept: list[Ply] = []
    follow(judge(agent.agent, rules), seat, 10_000, kept=kept)
    widest = max(len(ply.mine) for ply in kept)
    plies = 0
    for limit in range(1, widest, 20):
        found = follow(judge(agent.agent, rules), seat, limit)
        assert isinstance(found, Unfinished)
        assert found.positions == sum(len(ply.mine) for ply in kept[: (found.plies + 1 - seat) // 2])
        assert plies <= found.plies < rules.cells
        assert found.losses <= whole.losses
        plies = found.plies
    assert plies > 3
    assert follow(judge(agent.agent, rules), seat, widest) == whole


@pytest.mark.parametrize("seat", [0, 1])
def test_a_part_of_the_positions_is_random_and_what_it_finds_is_true(seat: int) -> None:
    rules, agent = Rules(3, 4, 3), ScriptedPlayer(first_empty)
    whole, parts = follow(judge(agent, rules), seat, 10_000), []
    for salt in (1, 2):
        kept: list[Ply] = []
        found = follow(judge(agent, rules), seat, 30, salt, kept)
        assert isinstance(found, Unfinished)
        assert 0 < found.losses < whole.losses
        assert max(len(ply.mine) for ply in kept) == 30
        parts.append(kept[-1].theirs.tolist())
    assert parts[0] != parts[1]


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(3, 4, 3), Rules(3, 3, 2), Rules(2, 5, 3)], ids=str)
def test_games_that_cannot_be_lost_any_more_need_not_be_followed(
    rules: Rules, symmetry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(rows=rules.rows, cols=rules.cols, k=rules.k, symmetry=symmetry, mask=True)
    saved = 0
    for player, turned in ((make(config).player(), symmetry == "canonical"), (optimal_player(rules), False)):
        for seat in (0, 1):
            of_player = Judge(player, rules, "mover", twice=False, symmetric=turned, legal=True)
            monkeypatch.setattr("selfplay.evaluation.reach.SETTLED_ABOVE", 16)
            every, some = list[Ply](), list[Ply]()
            whole = follow(of_player, seat, 10_000, kept=every)
            monkeypatch.setattr("selfplay.evaluation.reach.SETTLED_ABOVE", 1)
            found = follow(of_player, seat, 10_000, kept=some)
            assert isinstance(found, SeatEvaluation)
            assert isinstance(whole, SeatEvaluation)
            for name in ("losses", "illegal", "best_response"):
                assert getattr(found, name) == getattr(whole, name)
            assert found.loss == pytest.approx(whole.loss, abs=1e-12)
            saved += sum(len(ply.mine) for ply in every) - sum(len(ply.mine) for ply in some)
    assert saved > 0 or rules.k == 2  # where games end before any is settled


def test_a_settled_game_is_one_that_no_reply_can_win_any_more() -> None:
    rules = Rules(3, 4, 3)
    player = make(config_with(rows=3, cols=4, mask=True)).player()
    of_player = Judge(player, rules, "mover", twice=False, legal=True)
    for seat in (0, 1):
        whole, some = Walk(of_player, seat, 10_000), Walk(of_player, seat, 10_000, settle=True)
        for walk in (whole, some):
            walk.run(lambda *_: None)
        assert some.lost.lines == whole.lost.lines > 0
        assert some.settled.chance > 0
        assert some.settled.chance + some.won.chance + some.drawn.chance == pytest.approx(1 - some.lost.chance)
        assert some.positions < whole.positions


def test_an_agent_that_may_mark_a_taken_cell_is_followed_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.evaluation.reach.SETTLED_ABOVE", 1)

    def careless(mine: set[int], theirs: set[int]) -> int:
        return first_empty(mine, theirs) if len(mine | theirs) < 7 else 0

    player = ScriptedPlayer(careless)
    assert follow(judge(player, Rules()), 1, 10_000).illegal > 0


def test_each_ply_is_reported() -> None:
    told: list[tuple[int, int, int]] = []
    assess(judge(ScriptedPlayer(first_empty), Rules(1, 13, 3)), report=lambda *what: told.append(what))
    assert [(seat, ply) for seat, ply, _ in told[:3]] == [(0, 0), (0, 2), (0, 4)]
    assert told[0][2] == 1
    assert {seat for seat, _, _ in told} == {0, 1}


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
    after, _ = distinct(Rules(1, 5, 3), replies(Rules(1, 5, 3), level, 2, lost), 10)
    assert (lost.lines, after.lines.tolist()) == (2**62, [2**62])
    both, _ = distinct(Rules(1, 5, 3), [after, after, after], 10)
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
