"""Corrections are moves behind which nothing beats a player as it plays, as following every game confirms."""

from itertools import pairwise
from unittest.mock import Mock

import numpy as np
import pytest

from selfplay.errors import UserError
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.evaluate import evaluate_policy, search_seat
from selfplay.judging.exact import best_bounds, exact_moves
from selfplay.judging.policy_repair import Corrections, Position, Preferences, keeping
from tests.selfplay.judging.players import ScriptedPlayer, first_empty, lost_positions, optimal_player, random_table
from tests.tictactoe.rule_book import bits, cells_in
from tictactoe import Rules, solve


def with_moves(player: ScriptedPlayer, moves: dict[Position, int]) -> ScriptedPlayer:
    """Return a player that plays these moves, and as another in all other positions."""

    def choose(mine: set[int], theirs: set[int]) -> int:
        cell = moves.get((bits(mine), bits(theirs)))
        return player.choose(mine, theirs) if cell is None else cell

    return ScriptedPlayer(choose)


def in_order(cells: int) -> Preferences:
    """Want the first cells most."""
    return lambda mine, _theirs: -np.broadcast_to(np.arange(float(cells)), (len(mine), cells))


def beaten_behind(rules: Rules, player: ScriptedPlayer, position: Position, cell: int) -> bool:
    """Tell, game by game, whether some replies beat a player behind a move."""
    changed, marks = with_moves(player, {position: cell}), [frozenset(cells_in(side, rules.cells)) for side in position]
    start = marks[0], marks[1]
    return start in lost_positions(rules, lambda mine, theirs: [changed.choose({*mine}, {*theirs})], 0, start)


@pytest.mark.parametrize("seed", range(4))
def test_a_planted_mistake_is_corrected_in_its_position(seed: int) -> None:
    rules, rng = Rules(), np.random.default_rng(seed)
    player = optimal_player(rules)
    assert evaluate_policy(AgentPolicy(player, rules)).unbeatable
    plies = [ply for seat in (0, 1) for ply in search_seat(AgentPolicy(player, rules), seat, 99, keep_plies=True)[1]]
    positions = [pair for ply in plies for pair in zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True)]
    planted: dict[Position, int] = {}
    for mine, theirs in rng.permutation(positions).tolist():
        results = exact_moves(rules, mine, theirs, None)
        worse = [cell for cell, bounds in results.items() if bounds.most < 0 <= best_bounds(results).least]
        if worse:
            planted = {(mine, theirs): worse[-1]}
    wrong = with_moves(player, planted)
    found = Corrections(10**6).find(AgentPolicy(wrong, rules), in_order(rules.cells))
    assert not found.verdict.unbeatable
    assert found.cells.keys() == planted.keys()
    assert evaluate_policy(AgentPolicy(with_moves(wrong, found.cells), rules)).unbeatable
    assert (
        Corrections(10**6).find(AgentPolicy(with_moves(wrong, found.cells), rules), in_order(rules.cells)).cells == {}
    )


@pytest.mark.parametrize(
    ("rules", "seed"), [(Rules(), 0), (Rules(), 1), (Rules(2, 4, 3), 2), (Rules(3, 3, 2), 3)], ids=str
)
def test_behind_a_correction_nothing_beats_it(rules: Rules, seed: int) -> None:
    rng = np.random.default_rng(seed)
    player = random_table(rules, seed, careless=0)
    wanted = rng.random((512, 512, rules.cells))
    found = Corrections(10**6).find(AgentPolicy(player, rules), lambda mine, theirs: wanted[mine, theirs])
    cured = {each: cell for each, cell in found.cells.items() if not beaten_behind(rules, player, each, cell)}
    assert cured == found.cells
    assert found.beaten >= len(cured)
    for each, cell in cured.items():
        before = player.choose(*(cells_in(side, rules.cells) for side in each))
        assert beaten_behind(rules, player, each, before)
        better = [
            other
            for other in cells_in(rules.full_board & ~(each[0] | each[1]), rules.cells)
            if other not in (before, cell) and wanted[each][other] > wanted[each][cell]
        ]
        assert all(beaten_behind(rules, player, each, other) for other in better)


@pytest.mark.parametrize("solver", [False, True])
def test_it_goes_on_where_no_single_move_helps(solver: bool) -> None:
    rules = Rules(2, 4, 3)
    player, solution = random_table(rules, 0, careless=0), solve(rules)
    report = Mock()
    corrections = Corrections(10**6, report, solver)
    moves: dict[Position, int] = {}
    beaten = []
    for _ in range(50):
        found = corrections.find(AgentPolicy(with_moves(player, moves), rules, twice=False), in_order(rules.cells))
        beaten.append(found.beaten)
        if not found.cells:
            break
        moves |= found.cells
        if solver:  # then no move is tried that loses
            assert all(solution.lookup(*each)[0] >= 0 for each in found.cells)
            after = [(theirs, mine | 1 << cell) for (mine, theirs), cell in found.cells.items()]
            assert all(solution.lookup(*each)[0] <= 0 for each in after)
    assert beaten[0] > 50
    assert beaten[-1] == 0
    if not solver:  # with a move that only loses later the next round starts from more positions, or as many
        assert any(after >= before for before, after in pairwise(beaten))
    assert evaluate_policy(AgentPolicy(with_moves(player, moves), rules)).unbeatable
    assert report.call_count > len(beaten) * rules.cells  # what other moves lead to is reported, too


@pytest.mark.parametrize(("rules", "seed"), [(Rules(1, 9, 2), 4), (Rules(1, 5, 2), 5)], ids=str)
def test_the_solver_keeps_a_win_of_the_first_seat(rules: Rules, seed: int) -> None:
    player, solution = random_table(rules, seed, careless=0), solve(rules)
    corrections = Corrections(10**6, solver=True)
    moves: dict[Position, int] = {}
    for _ in range(6):
        policy = AgentPolicy(with_moves(player, moves), rules, twice=False, legal=True)
        found = corrections.find(policy, in_order(rules.cells))
        assert all(solution.lookup(*each)[0] == 1 for each in found.cells)
        assert all(solution.lookup(theirs, mine | 1 << cell)[0] == -1 for (mine, theirs), cell in found.cells.items())
        moves |= found.cells
    assert not found.beaten
    assert found.verdict.unexploitable
    assert evaluate_policy(policy).unexploitable


def test_the_solver_leaves_what_it_does_not_know(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keeping(Rules(1, 4, 2), (0, 0b1)) == 0b10  # the cell beside the other mark has to be taken
    monkeypatch.setattr("selfplay.judging.policy_repair.SEARCHED", 1)
    assert keeping(Rules(5, 5, 3), (0, 0)) == Rules(5, 5, 3).full_board


def test_a_player_that_leads_to_too_many_positions_is_refused() -> None:
    with pytest.raises(UserError, match=r"leads to more than 10 positions at one ply.* raise --positions"):
        Corrections(10).find(AgentPolicy(ScriptedPlayer(first_empty), Rules()), in_order(9))
