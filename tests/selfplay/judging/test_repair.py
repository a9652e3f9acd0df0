"""A repair corrects moves that lose, as the solution says, and leaves a player that nothing beats."""

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from selfplay.errors import UserError
from selfplay.judging import repair as module
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.evaluate import search_seat
from selfplay.judging.exact import best_bounds, exact_moves
from selfplay.judging.repair import Position, RepairRound, repair
from selfplay.verdicts import evaluate
from tests.selfplay.judging.players import ScriptedPlayer, first_empty, optimal_player, random_table
from tests.tictactoe.rule_book import bits
from tictactoe import Rules, solve
from tictactoe.search import Bounds

MOST_ROUNDS = 100


class Corrected(ScriptedPlayer):
    """A scripted player that plays other moves in some positions, and prefers the first cells."""

    def __init__(self, rules: Rules, player: ScriptedPlayer, moves: Mapping[Position, int]) -> None:
        self.rules, self.player, self.moves = rules, player, moves
        super().__init__(self.cell)

    def cell(self, mine: set[int], theirs: set[int]) -> int:
        cell = self.moves.get((bits(mine), bits(theirs)))
        return self.player.choose(mine, theirs) if cell is None else cell

    def preferences(self, observation: Any) -> Any:
        return -np.broadcast_to(np.arange(float(self.rules.cells)), (len(observation), self.rules.cells))


def rounds_of(rules: Rules, player: ScriptedPlayer, positions: int = 10**6) -> list[RepairRound[Any]]:
    def patch(player: Any, moves: Mapping[Position, int]) -> Any:
        return Corrected(rules, player.player, dict(moves))

    rounds = list(itertools.islice(repair(Corrected(rules, player, {}), patch, positions), MOST_ROUNDS))
    assert len(rounds) < MOST_ROUNDS
    return rounds


def reached(rules: Rules, player: ScriptedPlayer) -> list[Position]:
    """Return the positions that a player's own play reaches."""
    plies = [ply for seat in (0, 1) for ply in search_seat(AgentPolicy(player, rules), seat, 10**6, keep_plies=True)[1]]
    return [pair for ply in plies for pair in zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True)]


@pytest.mark.parametrize("seed", range(3))
def test_a_planted_mistake_is_corrected_in_its_position(seed: int) -> None:
    rules = Rules()
    player = optimal_player(rules)
    for mine, theirs in np.random.default_rng(seed).permutation(reached(rules, player)).tolist():
        results = exact_moves(rules, mine, theirs, None)
        worse = [cell for cell, bounds in results.items() if bounds.most < 0 <= best_bounds(results).least]
        if worse:
            break
    wrong = Corrected(rules, player, {(mine, theirs): worse[-1]})
    assert not evaluate(wrong, rules).unbeatable
    first, last = rounds_of(rules, wrong)
    assert first.mistakes.corrections.keys() == {(mine, theirs)}
    assert (last.corrected, last.mistakes.beaten, last.mistakes.corrections) == (1, 0, {})
    assert evaluate(last.player, rules).unbeatable


@pytest.mark.parametrize(
    ("rules", "player"),
    [
        *((rules, random_table(rules, 1, careless=0.1)) for rules in (Rules(), Rules(2, 4, 3), Rules(3, 3, 2))),
        (Rules(1, 9, 2), random_table(Rules(1, 9, 2), 2, careless=0)),
        (Rules(1, 5, 2), ScriptedPlayer(first_empty)),  # it never loses as X, and could win
    ],
    ids=["3,3,3", "2,4,3", "3,3,2", "1,9,2", "1,5,2"],
)
def test_each_correction_replaces_a_mistake_by_the_preferred_move_that_keeps_the_value(
    rules: Rules, player: ScriptedPlayer
) -> None:
    solution = solve(rules)
    wanted = int(solution.value[0])  # to the first seat, of which alone a win can be kept
    *rounds, last = rounds_of(rules, player)
    assert rounds
    for each in rounds:
        assert each.mistakes.corrections.keys() <= set(reached(rules, each.player))
        assert len(each.mistakes.corrections) <= each.mistakes.beaten
        for (mine, theirs), cell in each.mistakes.corrections.items():
            assert solution.lookup(mine, theirs)[0] >= wanted
            empty = rules.cells_of(rules.empty_cells(mine, theirs))
            keeping = [other for other in empty if -solution.lookup(theirs, mine | 1 << other)[0] >= wanted]
            played = each.player.cell({*rules.cells_of(mine)}, {*rules.cells_of(theirs)})
            assert cell == min(keeping)
            assert played not in keeping  # a move that loses only because of later ones stays
    assert (last.mistakes.beaten, last.mistakes.corrections) == (0, {})
    verdict = evaluate(last.player, rules)
    assert verdict.first.best_response == wanted
    assert verdict.unbeatable == (wanted == 0)


def test_what_the_solver_does_not_know_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(rules: Rules, mover: int, opponent: int, _: int) -> dict[int, Bounds]:
        return dict.fromkeys(rules.cells_of(rules.empty_cells(mover, opponent)), Bounds(-1, 1))

    monkeypatch.setattr(module, "exact_moves", unknown)
    module._keeping.cache_clear()
    rules = Rules(2, 4, 3)
    *rounds, last = rounds_of(rules, ScriptedPlayer(first_empty))
    module._keeping.cache_clear()
    for each in rounds:
        for (mine, theirs), cell in each.mistakes.corrections.items():
            assert cell != each.player.cell({*rules.cells_of(mine)}, {*rules.cells_of(theirs)})
    tried = [correction for each in rounds for correction in each.mistakes.corrections.items()]
    assert len({position for position, _ in tried}) < len(set(tried)) == len(tried)
    assert evaluate(last.player, rules).unbeatable


def test_a_player_that_leads_to_too_many_positions_is_refused() -> None:
    with pytest.raises(UserError, match=r"\b10\b"):
        rounds_of(Rules(), ScriptedPlayer(first_empty), positions=10)
