"""A certificate is accepted if nothing beats the play in it, and not otherwise."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from selfplay.evaluation.built_in import BuiltIn
from selfplay.evaluation.evaluation import evaluate_tree
from selfplay.evaluation.judge import Asked, Judge, trusted

import selfplay
from selfplay.evaluation import check_certificate
from selfplay.evaluation.certificate import unbeatable_play
from tests.runs import refused
from tests.selfplay.evaluation.certificates import (
    BEATEN,
    POSITIONS,
    TINY,
    UNBEATABLE,
    FirstChoice,
    Known,
    content_of,
    lines_of,
    written,
)
from tests.selfplay.evaluation.players import ScriptedPlayer, optimal_player, stubborn
from tests.tictactoe.rule_book import cells_in
from tictactoe import Rules, planes, solve
from tictactoe.opponents import OPPONENTS
from tictactoe.symmetry import symmetries
from tictactoe.tree import FloatArray, IntArray


class Careless(FirstChoice):
    """Mark a taken cell as soon as the opponent can complete no line any more."""

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        cells = super().cells(mover, opponent)
        nothing_to_lose = ~self.rules.has_line(~mover & self.rules.full_word)
        taken: NDArray[np.int64] = planes.bits(self.rules.cells, opponent).argmax(axis=1)
        return np.where(nothing_to_lose, taken, cells)


def status(content: bytes, folder: Path) -> int:
    path = folder / "certificate.txt.gz"
    path.write_bytes(content)
    return check_certificate.main(str(path))


JUDGES: dict[str, Callable[[], Asked]] = {
    "shipped": lambda: trusted(selfplay.load("shipped")),
    "scripted": lambda: Judge(optimal_player(Rules()), Rules()),
    "draws": lambda: BuiltIn(OPPONENTS["optimal"], Rules()),
    "symmetric": lambda: FirstChoice(OPPONENTS["optimal"], Rules(), symmetric=True),
    "symmetric, draws": lambda: BuiltIn(OPPONENTS["optimal"], Rules(), symmetric=True),
    "flat": lambda: FirstChoice(OPPONENTS["optimal"], Rules(3, 4, 4)),
    "flat, symmetric": lambda: FirstChoice(OPPONENTS["optimal"], Rules(4, 3, 4), symmetric=True),
    "rule": lambda: FirstChoice(OPPONENTS["rule"], Rules(4, 4, 4), symmetric=True),
}


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("name", JUDGES)
def test_what_is_certified_is_accepted(
    name: str, masked: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = content_of(JUDGES[name](), masked)
    header, positions = lines_of(content)
    assert header["masked"] is masked
    assert header["symmetric"] is ("symmetric" in name or name == "rule")
    assert status(content, tmp_path) == UNBEATABLE
    # Each position that is listed is met, and there is none twice.
    assert f"{len(positions):,} positions" in capsys.readouterr().out
    assert len(set(positions)) == len(positions)


def test_the_same_play_makes_the_same_file() -> None:
    content = content_of(JUDGES["symmetric"]())
    assert content == content_of(JUDGES["symmetric"]())
    assert content[4:8] == bytes(4)  # where gzip writes the time


def test_of_a_masked_player_only_what_can_be_lost_is_listed(tmp_path: Path) -> None:
    judge = JUDGES["symmetric"]()
    header, whole = lines_of(content_of(judge))
    masked_header, positions = lines_of(content_of(judge, masked=True))
    assert set(positions) < set(whole)
    path = tmp_path / "certificate.txt.gz"
    assert check_certificate.main(str(written(path, masked_header, positions))) == UNBEATABLE
    assert check_certificate.main(str(written(path, header, positions))) == BEATEN
    # What is listed is needed: the opponent could still complete a line there.
    for left_out in positions:
        others = [position for position in positions if position != left_out]
        assert check_certificate.main(str(written(path, masked_header, others))) == BEATEN


class Table:
    """Hold a best move in each decision state of a board, or in one image of each."""

    def __init__(self, rules: Rules, symmetric: bool) -> None:
        self.header, self.met = lines_of(content_of(FirstChoice(OPPONENTS["optimal"], rules, symmetric)))
        self.rules, self.draws, self.symmetric, self.legal = rules, False, False, False
        solution = solve(rules)
        self.tree = solution.tree
        images = [self._image(state, symmetric) for state in range(len(self.tree))]
        self.positions = sorted({images[state][0] for state in self.tree.decisions})
        place = {position: number for number, position in enumerate(self.positions)}
        self.place = np.array([place.get(position, 0) for position, _ in images])
        """The number of each state's image, [S]."""
        self.turn = np.array([turn for _, turn in images])
        """The cell of the state that each cell of its image is, [S, A]."""
        self.moves = np.array([solution.lookup(*position)[1][0] for position in self.positions])

    def _image(self, state: int, symmetric: bool) -> tuple[tuple[int, int], list[int]]:
        """Return the least image of a state, and which of its cells each cell of the image is."""
        marks = int(self.tree.mover[state]), int(self.tree.opponent[state])
        turns = symmetries(self.rules).tolist() if symmetric else [list(range(self.rules.cells))]
        mine, theirs = ([sum((side >> cell & 1) << at for at, cell in enumerate(t)) for t in turns] for side in marks)
        return min(zip(zip(mine, theirs, strict=True), turns, strict=True))

    def line(self, place: int, move: int) -> str:
        """Return a line of the certificate; a star takes the place of a mark."""
        mine, theirs = self.positions[place]
        marks = "XO" if mine.bit_count() == theirs.bit_count() else "OX"
        found = ["." for _ in range(self.rules.cells)]
        for mark, side in zip(marks, (mine, theirs), strict=True):
            for cell in cells_in(side, self.rules.cells):
                found[cell] = mark
        found[move] = "*"
        return "".join(found)

    def cells(self, mover: IntArray, opponent: IntArray) -> NDArray[np.int64]:
        """Return what it plays, for the exact evaluation."""
        states = self.tree.find(mover, opponent)
        cells: NDArray[np.int64] = np.take_along_axis(self.turn[states], self.moves[self.place[states], None], 1)[:, 0]
        return cells

    def chances(self, mover: IntArray, opponent: IntArray) -> FloatArray:
        chances: FloatArray = np.eye(self.rules.cells)[self.cells(mover, opponent)]
        return chances


@pytest.mark.parametrize(
    ("rules", "symmetric", "illegal"),
    [(Rules(2, 3, 3), False, True), (Rules(2, 3, 3), True, True), (Rules(), True, False)],
)
def test_each_planted_move_is_found_if_and_only_if_it_can_be_beaten(
    rules: Rules, symmetric: bool, illegal: bool, tmp_path: Path
) -> None:
    table, path = Table(rules, symmetric), tmp_path / "certificate.txt.gz"
    lines = [table.line(place, move) for place, move in enumerate(table.moves)]
    assert check_certificate.main(str(written(path, table.header, lines))) == UNBEATABLE
    met = [place for place, line in enumerate(lines) if line in table.met]
    assert len(met) == len(table.met) < len(lines)
    outcomes = {True: 0, False: 0}
    for place in met:
        best = table.moves[place]
        taken = sum(table.positions[place])
        for move in range(rules.cells):
            if move == best or (taken >> move & 1 and not illegal):
                continue
            table.moves[place] = move
            planted = [*lines[:place], table.line(place, move), *lines[place + 1 :]]
            found = check_certificate.main(str(written(path, table.header, planted)))
            unbeatable = evaluate_tree(table).unbeatable
            assert found == (UNBEATABLE if unbeatable else BEATEN), table.line(place, move)
            assert not (unbeatable and taken >> move & 1)
            outcomes[unbeatable] += 1
        table.moves[place] = best
    assert min(outcomes.values()) > 10


CORNERS = {0, 2, 6, 8}


def test_the_game_that_beats_a_player_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = TINY | {"symmetric": False, "k": 1}
    path = written(tmp_path / "certificate.txt.gz", header, ["*........"])
    assert check_certificate.main(str(path)) == BEATEN
    assert (
        capsys.readouterr().out
        == """rows 3, cols 3, k 1, model_sha256 'ab'
NOT UNBEATABLE: as O the player loses by the cells (8,)

X marks cell 8:
...
...
..X
"""
    )


def test_every_listed_move_is_followed_and_what_is_missing_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "certificate.txt.gz"
    assert check_certificate.main(str(written(path, TINY, []))) == BEATEN
    assert "NOT PROVED: as O the player has no move listed after the cells" in capsys.readouterr().out
    header, positions = lines_of(content_of(JUDGES["symmetric"]()))
    root = next(position for position in positions if "X" not in position)
    for second in range(9):
        two = root[:second] + "*" + root[second + 1 :]
        # The moves of two lines of one position count as those of one line with two stars.
        for lines in ([two, *positions], [two if line == root else line for line in positions]):
            expected = UNBEATABLE if {root.index("*"), second} <= CORNERS else BEATEN
            assert check_certificate.main(str(written(path, header, lines))) == expected
            assert ("NOT PROVED: as X" in capsys.readouterr().out) == (expected == BEATEN)


def test_any_image_of_a_position_may_stand_for_all(tmp_path: Path) -> None:
    header, positions = lines_of(content_of(JUDGES["symmetric"]()))
    generator = np.random.default_rng(0)
    turned = ["".join(line[cell] for cell in generator.choice(symmetries(Rules()))) for line in positions]
    assert turned != positions
    path = tmp_path / "certificate.txt.gz"
    assert check_certificate.main(str(written(path, header, turned))) == UNBEATABLE
    assert check_certificate.main(str(written(path, header | {"symmetric": False}, turned))) == BEATEN


@pytest.mark.parametrize(
    ("judge", "gist"),
    [
        (Judge(ScriptedPlayer(stubborn), Rules()), "it: can be beaten"),
        (Known(Careless(OPPONENTS["optimal"], Rules()), legal=False), "it: can be beaten"),
        (BuiltIn(OPPONENTS["rule"], Rules()), "it: can be beaten"),
        (BuiltIn(OPPONENTS["optimal"], Rules(3, 4, 3)), "it: can be beaten"),
        (BuiltIn(OPPONENTS["optimal"], Rules(3, 3, 1)), "it: can be beaten"),
        (BuiltIn(OPPONENTS["optimal"], Rules(1, 1, 1)), "it: can be beaten"),
    ],
)
def test_who_can_be_beaten_gets_no_certificate(judge: Asked, gist: str) -> None:
    assert gist in refused(unbeatable_play, judge, POSITIONS, "it")


def test_who_leads_to_too_many_positions_gets_no_certificate() -> None:
    assert "it: leads to more than 5 positions" in refused(unbeatable_play, JUDGES["scripted"](), 5, "it")
