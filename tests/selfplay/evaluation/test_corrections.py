"""Corrections are moves behind which nothing beats a player as it plays, which a walk line by line confirms."""

from typing import Any

import numpy as np
import pytest
from selfplay.evaluation.corrections import Corrections, Position
from selfplay.evaluation.evaluation import evaluate_tree
from selfplay.evaluation.judge import Judge

from selfplay.errors import UserError
from tests.selfplay.evaluation.players import ScriptedPlayer, first_empty, optimal_player
from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules, solve
from tictactoe.tree import FloatArray, IntArray


def bitboard(cells: set[int]) -> int:
    return sum(1 << cell for cell in cells)


def cells_of(word: int) -> frozenset[int]:
    return frozenset(cell for cell in range(64) if word >> cell & 1)


def with_moves(player: ScriptedPlayer, moves: dict[Position, int]) -> ScriptedPlayer:
    """Return a player that plays these moves, and as another in all other positions."""

    def choose(mine: set[int], theirs: set[int]) -> int:
        cell = moves.get((bitboard(mine), bitboard(theirs)))
        return player.choose(mine, theirs) if cell is None else cell

    return ScriptedPlayer(choose)


def in_order(mine: IntArray, _theirs: IntArray) -> FloatArray:
    """Want the first cells most."""
    return -np.broadcast_to(np.arange(9.0), (len(mine), 9))


def beaten_behind(rules: Rules, player: ScriptedPlayer, position: Position, cell: int) -> bool:
    """Tell, line by line, whether some replies beat a player behind a move."""
    book = RuleBook(rules.rows, rules.cols, rules.k)

    def has_line(marks: frozenset[int]) -> bool:
        return any(marks.issuperset(line) for line in book.lines)

    def lost(mine: frozenset[int], theirs: frozenset[int], cell: int) -> bool:
        if cell in mine | theirs:
            return True
        mine |= {cell}
        if has_line(mine):
            return False
        for reply in {*range(rules.cells)} - mine - theirs:
            after = theirs | {reply}
            full = len(mine | after) == rules.cells
            if has_line(after) or (not full and lost(mine, after, player.choose({*mine}, {*after}))):
                return True
        return False

    mine, theirs = map(cells_of, position)
    return lost(mine, theirs, cell)


@pytest.mark.parametrize("seed", range(8))
def test_a_planted_mistake_is_corrected_where_it_stands(seed: int) -> None:
    rules, rng = Rules(), np.random.default_rng(seed)
    player, solution = optimal_player(rules), solve(rules)
    led_to = Recorder(player)
    assert evaluate_tree(Judge(player, rules)).unbeatable
    Corrections(10**6).find(Judge(led_to, rules, twice=False), in_order)
    planted: dict[Position, int] = {}
    for position in rng.permutation(sorted(led_to.positions))[:30]:
        mine, theirs = map(int, position)
        value = solution.lookup(mine, theirs)[0]
        for cell in rng.permutation([cell for cell in range(9) if not (mine | theirs) >> cell & 1]).tolist():
            after = mine | 1 << cell
            if not rules.has_line(np.array([after]))[0] and (after | theirs) != rules.full_word:
                worst = -solution.lookup(theirs, after)[0]
                if worst < 0 <= value:
                    planted = {(mine, theirs): cell}
        if planted:
            break
    assert planted
    wrong = with_moves(player, planted)
    found = Corrections(10**6).find(Judge(wrong, rules), in_order)
    assert not found.evaluation.unbeatable
    assert found.cells.keys() == planted.keys()
    assert evaluate_tree(Judge(with_moves(wrong, found.cells), rules)).unbeatable
    assert Corrections(10**6).find(Judge(with_moves(wrong, found.cells), rules), in_order).cells == {}


class Recorder:
    """Play as another does, and note where it was asked."""

    def __init__(self, player: ScriptedPlayer) -> None:
        self._player = player
        self.positions: set[Position] = set()

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        for board in np.asarray(observation).reshape(len(observation), -1, 3):
            mine, theirs = (bitboard({*np.flatnonzero(board[:, plane]).tolist()}) for plane in (1, 2))
            self.positions.add((mine, theirs) if mine.bit_count() <= theirs.bit_count() else (theirs, mine))
        return self._player.act(observation, action_mask)


@pytest.mark.parametrize("rules", [Rules(), Rules(2, 4, 3), Rules(3, 3, 2)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_behind_a_correction_nothing_beats_it(rules: Rules, seed: int) -> None:
    rng = np.random.default_rng(seed)
    table: dict[Position, int] = {}

    def drawn(mine: set[int], theirs: set[int]) -> int:
        empty = sorted({*range(rules.cells)} - mine - theirs)
        return table.setdefault((bitboard(mine), bitboard(theirs)), int(rng.choice(empty)))

    player = ScriptedPlayer(drawn)
    wanted = rng.random((512, 512, rules.cells))
    found = Corrections(10**6).find(Judge(player, rules), lambda mine, theirs: wanted[mine, theirs])
    cured = {each: cell for each, cell in found.cells.items() if not beaten_behind(rules, player, each, cell)}
    assert cured == found.cells
    assert found.beaten >= len(cured)
    for each, cell in cured.items():
        before = table[each]
        assert beaten_behind(rules, player, each, before)
        better = [
            other
            for other in cells_of(rules.full_word & ~(each[0] | each[1]))
            if other not in (before, cell) and wanted[each][other] > wanted[each][cell]
        ]
        assert all(beaten_behind(rules, player, each, other) for other in better)


@pytest.mark.parametrize("solver", [False, True])
def test_it_goes_on_where_no_single_move_helps(solver: bool) -> None:
    rules, solution = Rules(), solve(Rules())
    player, corrections = ScriptedPlayer(first_empty), Corrections(10**6, solver=solver)
    moves: dict[Position, int] = {}
    beaten = []
    for _ in range(300):
        found = corrections.find(Judge(with_moves(player, moves), rules, twice=False), in_order)
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
    assert evaluate_tree(Judge(with_moves(player, moves), rules)).unbeatable


def test_a_player_that_leads_to_too_many_positions_is_refused() -> None:
    with pytest.raises(UserError, match=r"leads to more than 10 positions at one ply.* raise --positions"):
        Corrections(10).find(Judge(ScriptedPlayer(first_empty), Rules()), in_order)
