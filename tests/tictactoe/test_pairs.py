"""Check the pairs of cells by which the search shows that a seat cannot get a line."""

import numpy as np
import pytest

from tictactoe import Rules, search

kernels = pytest.importorskip("tictactoe.compiled_search", reason="without Numba there is no search")


class Pairs:
    """The pairs that the search finds in one position."""

    def __init__(self, rules: Rules, attacker: int = 0, defender: int = 0) -> None:
        self.rules, self.attacker, self.defender = rules, attacker, defender
        self.room = search._room(rules)
        board = search._board(rules)
        self.groups, self.lacking = kernels.pair_up(board, *search._words([attacker, defender]), self.room)

    def lacking_after(self, cell: int) -> int:
        """Return how many cells are lacking after a mark of the defender."""
        lacking: int = kernels.lacking_after(self.room, self.groups, *search._words([1 << cell]))
        return lacking

    def worth_trying(self, attacks: bool) -> set[int]:
        """Return the empty cells that are worth trying."""
        empty = search._words([self.rules.legal_cells(self.attacker, self.defender)])
        return set(self.rules.cells_of(kernels.worth_trying(self.room, self.groups, *empty, attacks)))

    def cells(self) -> list[set[int]]:
        """Return the cells of each pair."""
        pairs = (set(self.rules.cells_of(int(pair))) for pair in self.room.pairs[: self.groups])
        return [pair for pair in pairs if pair]

    def check(self, defender: int) -> None:
        """Check that no two pairs share a cell, and that every line without a mark of the defender holds one."""
        pairs = self.cells()
        assert sum(map(len, pairs)) == len(set[int]().union(*pairs)) == 2 * len(pairs)
        for line in self.rules.lines:
            empty = set(self.rules.cells_of(line & ~(self.attacker | defender)))
            assert line & defender or any(pair <= empty for pair in pairs)


def marks(*cells: int) -> int:
    return sum(1 << cell for cell in cells)


def test_the_only_pairs_of_a_position_are_found() -> None:
    pairs = Pairs(Rules(), attacker=marks(0), defender=marks(2, 4))
    assert pairs.lacking == 0
    assert sorted(map(sorted, pairs.cells())) == [[3, 6], [7, 8]]  # the left column and the lowest row


def test_lines_that_overlap_share_a_pair() -> None:
    row = Rules(1, 7, 5)
    pairs = Pairs(row, attacker=marks(3))
    assert (pairs.lacking, pairs.cells()) == (0, [{2, 4}])
    pairs = Pairs(row, attacker=marks(2, 3))
    assert (pairs.lacking, pairs.cells()) == (0, [{1, 4}, {5, 6}])


@pytest.mark.parametrize(
    ("rules", "attacker", "defender", "lacking"),
    [
        (Rules(4, 4, 4), (), (), 4),  # ten lines have 16 cells
        (Rules(), (0,), (4,), 1),  # four lines have seven
        (Rules(), (0, 1), (4, 5, 6), 1),  # the upper row has one
        (Rules(2, 3, 3), (0, 1, 2), (), 2),  # and here none
    ],
)
def test_how_many_cells_pairs_lack(
    rules: Rules, attacker: tuple[int, ...], defender: tuple[int, ...], lacking: int
) -> None:
    assert Pairs(rules, marks(*attacker), marks(*defender)).lacking == lacking


def test_what_is_worth_trying_in_a_row_with_an_open_three() -> None:
    pairs = Pairs(Rules(1, 7, 5), attacker=marks(2, 3, 4))
    assert [pairs.lacking_after(cell) for cell in (0, 1, 5, 6)] == [1, 0, 0, 1]
    assert pairs.worth_trying(attacks=True) == {1, 5}
    assert pairs.worth_trying(attacks=False) == set()  # a mark on either of them stops the attacker


@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4), Rules(5, 5, 4), Rules(7, 7, 5), Rules(8, 8, 6)], ids=str)
def test_pairs_of_random_positions_stop_every_line(rules: Rules) -> None:
    random = np.random.default_rng(0)
    found = 0
    for _ in range(200):
        cells = random.permutation(rules.cells).tolist()
        number = int(random.integers(rules.cells // 2))
        attacker, defender = marks(*cells[: number // 3]), marks(*cells[number // 3 : number])
        pairs = Pairs(rules, attacker, defender)
        if pairs.lacking == 0:
            found += 1
            pairs.check(defender)
        if pairs.lacking <= kernels.MOST_LACKING:
            for cell in cells[number:]:
                if pairs.lacking_after(cell) == 0:
                    found += 1
                    pairs.check(defender | 1 << cell)
    assert found > 50
