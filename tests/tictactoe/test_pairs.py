"""Check the pairs of cells by which the search shows that a seat cannot get a line."""

from functools import reduce
from operator import or_

import numpy as np
import pytest

from tictactoe import Rules, search

kernels = pytest.importorskip("tictactoe.compiled_search", reason="without Numba there is no search")


def check_pairs(rules: Rules, pairs: list[int], attacker: int, defender: int) -> None:
    """Check that no two pairs share a cell, and that every line without a mark of the defender holds one."""
    assert reduce(or_, pairs, 0).bit_count() == sum(pair.bit_count() for pair in pairs) == 2 * len(pairs)
    for line in rules.lines:
        empty = line & ~(attacker | defender)
        assert line & defender or any(pair & empty == pair for pair in pairs)


@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4), Rules(5, 5, 4), Rules(7, 7, 5), Rules(8, 8, 6)], ids=str)
def test_pairs_of_random_positions_stop_every_line(rules: Rules) -> None:
    random, room, board = np.random.default_rng(0), search._room(rules), search._board(rules)
    found = 0
    for _ in range(200):
        cells = [1 << cell for cell in random.permutation(rules.cells).tolist()]
        number = int(random.integers(rules.cells // 2))
        attacker, defender = sum(cells[: number // 3]), sum(cells[number // 3 : number])
        groups, lacking = kernels.pair_up(board, *search._words([attacker, defender]), room)
        for mark in [0, *cells[number:]] if lacking <= kernels.MOST_LACKING else []:
            if kernels.lacking_after(room, groups, *search._words([mark])) == 0:
                found += 1
                pairs = [int(pair) % 2**64 for pair in room.pairs[:groups] if pair]
                check_pairs(rules, pairs, attacker, defender | mark)
    assert found > 50


@pytest.mark.parametrize(
    ("rules", "attacker", "defender", "lacking"),
    [
        (Rules(4, 4, 4), 0, 0, 4),  # ten lines have 16 cells
        (Rules(), 0b1, 0b10000, 1),  # four lines have seven
        (Rules(), 0b11, 0b1110000, 1),  # the upper row has one
        (Rules(2, 3, 3), 0b111, 0, 2),  # and here none
        (Rules(), 0b1, 0b10100, 0),  # the left column and the lowest row have four
        (Rules(1, 7, 5), 0b1000, 0, 0),  # lines that overlap share a pair
    ],
)
def test_how_many_cells_pairs_lack(rules: Rules, attacker: int, defender: int, lacking: int) -> None:
    words = search._words([attacker, defender])
    assert kernels.pair_up(search._board(rules), *words, search._room(rules))[1] == lacking


def test_what_is_worth_trying_in_a_row_with_an_open_three() -> None:
    rules = Rules(1, 7, 5)
    room, cells = search._room(rules), 0b1100011
    groups, _ = kernels.pair_up(search._board(rules), *search._words([0b11100, 0]), room)
    assert kernels.worth_trying(room, groups, cells, True) == 0b100010
    assert kernels.worth_trying(room, groups, cells, False) == 0  # a mark on either of them stops the attacker
