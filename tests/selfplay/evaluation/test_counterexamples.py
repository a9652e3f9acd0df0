"""Counterexamples are what a plain walk through every line finds, and the shortest line that beats a player is one."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from selfplay.evaluation.evaluation import evaluate_tree
from selfplay.evaluation.judge import Judge, trusted
from selfplay.evaluation.lessons import MOST, examine
from selfplay.evaluation.reach import Unproved, assess

import selfplay
from selfplay.evaluation.counterexamples import counterexamples, of_play
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import ScriptedPlayer, first_empty, optimal_player, stubborn
from tests.tictactoe.rule_book import RuleBook
from tictactoe import Rules, solve
from tictactoe.tree import game_tree

Moves = Callable[[frozenset[int], frozenset[int]], list[int]]


def random_table(rules: Rules, seed: int, careless: float) -> ScriptedPlayer:
    """Return a player that plays a cell drawn once for each position, in such a part of them whether empty or not."""
    rng = np.random.default_rng(seed)
    drawn: dict[tuple[frozenset[int], frozenset[int]], int] = {}

    def choose(mine: set[int], theirs: set[int]) -> int:
        key = frozenset(mine), frozenset(theirs)
        cells = sorted({*range(rules.cells)} - (set() if rng.random() < careless else mine | theirs))
        return drawn.setdefault(key, int(rng.choice(cells)))

    return ScriptedPlayer(choose)


def beaten(rules: Rules, moves: Moves, seat: int) -> dict[tuple[frozenset[int], frozenset[int]], int]:
    """Return the positions of an agent's play that some line loses, and in how many plies at least, line by line."""
    book = RuleBook(rules.rows, rules.cols, rules.k)
    found: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    never = 10**9

    def has_line(marks: frozenset[int]) -> bool:
        return any(marks.issuperset(line) for line in book.lines)

    def own(mine: frozenset[int], theirs: frozenset[int]) -> int:
        quickest = never
        if len(mine | theirs) == rules.cells:
            return never
        for cell in moves(mine, theirs):
            if cell in mine | theirs:
                quickest = min(quickest, 1)
            elif not has_line(mine | {cell}):
                quickest = min(quickest, 1 + reply(mine | {cell}, theirs))
        if quickest < never:
            found[mine, theirs] = quickest
        return quickest

    def reply(mine: frozenset[int], theirs: frozenset[int]) -> int:
        plies = [
            1 if has_line(theirs | {cell}) else 1 + own(mine, theirs | {cell})
            for cell in range(rules.cells)
            if cell not in mine | theirs
        ]
        return min([never, *plies])

    (own if seat == 0 else reply)(frozenset(), frozenset())
    return found


def cells_of(bitboard: int) -> frozenset[int]:
    return frozenset(cell for cell in range(64) if bitboard >> cell & 1)


class Uniform:
    """Draw one of the first two empty cells."""

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:  # noqa: ARG002 (an agent's signature)
        empty = np.asarray(observation)[..., 0].reshape(len(observation), -1) == 1
        first_two = empty & (empty.cumsum(axis=1) <= 2)
        return first_two / first_two.sum(axis=1, keepdims=True)


def two_empty(cells: int) -> Moves:
    return lambda mine, theirs: [cell for cell in range(cells) if cell not in mine | theirs][:2]


SMALL = Rules(3, 3, 3), Rules(2, 4, 3), Rules(3, 3, 2)
PLAYERS = [
    pytest.param(lambda _: ScriptedPlayer(first_empty), id="first empty"),
    pytest.param(lambda _: ScriptedPlayer(stubborn), id="stubborn"),
    pytest.param(lambda rules: random_table(rules, 1, careless=0), id="random"),
    pytest.param(lambda rules: random_table(rules, 2, careless=1), id="careless"),
    *(
        pytest.param(lambda rules, seed=seed: random_table(rules, seed, careless=0.1), id=f"seldom careless {seed}")
        for seed in range(3, 9)
    ),
    pytest.param(optimal_player, id="optimal"),
    pytest.param(lambda _: Uniform(), id="drawing"),
]


@pytest.mark.parametrize("make", PLAYERS)
@pytest.mark.parametrize("rules", SMALL, ids=str)
def test_they_are_what_a_walk_line_by_line_finds(make: Callable[[Rules], Any], rules: Rules) -> None:
    agent = make(rules)
    moves: Moves = two_empty(rules.cells)
    if isinstance(agent, ScriptedPlayer):
        moves = lambda mine, theirs: [agent.choose({*mine}, {*theirs})]  # noqa: E731
    found = counterexamples(agent, rules)
    expected: set[tuple[frozenset[int], frozenset[int]]] = set()
    for seat in (0, 1):
        positions = beaten(rules, moves, seat)
        expected |= positions.keys()
        line = found.shortest[seat]
        if not positions:
            assert line is None
            continue
        first = min(positions.values() if seat else [positions[frozenset(), frozenset()]])
        quickest = min(plies for (_, theirs), plies in positions.items() if len(theirs) == seat) + seat
        assert line is not None
        assert len(line) == quickest >= first
        assert_loses(rules, moves, line, seat)
    assert found.whole
    listed = list(zip(found.mover.tolist(), found.opponent.tolist(), strict=True))
    assert {(cells_of(mine), cells_of(theirs)) for mine, theirs in listed} == expected
    assert len(listed) == len(expected)


def assert_loses(rules: Rules, moves: Moves, line: tuple[int, ...], seat: int) -> None:
    """Play a line by the rule book: each own move is the agent's, and the last ply of it loses for the agent."""
    book = RuleBook(rules.rows, rules.cols, rules.k)
    marks: list[frozenset[int]] = [frozenset(), frozenset()]
    for ply, cell in enumerate(line):
        mover, last = ply % 2, ply == len(line) - 1
        if mover == seat:
            assert cell in moves(marks[seat], marks[1 - seat])
        taken = cell in marks[0] | marks[1]
        marks[mover] = marks[mover] | {cell}
        wins = any(marks[mover].issuperset(each) for each in book.lines)
        assert (taken and mover == seat) or (wins and mover != seat) if last else not (taken or wins)


def test_of_too_many_positions_a_part_is_followed_and_all_it_finds_is_true() -> None:
    rules, agent = Rules(3, 4, 3), ScriptedPlayer(first_empty)
    every = counterexamples(agent, rules)
    part = counterexamples(agent, rules, positions=20)
    assert every.whole
    assert not part.whole
    pairs = [set(zip(each.mover.tolist(), each.opponent.tolist(), strict=True)) for each in (every, part)]
    assert pairs[1] < pairs[0]
    assert len(pairs[1]) > 0
    other = counterexamples(agent, rules, positions=20, seed=1)
    assert other.mover.tolist() != part.mover.tolist()


@pytest.mark.parametrize("rules", [Rules(6, 6, 4), Rules(5, 7, 4)], ids=str)
def test_big_boards_give_lines_too(rules: Rules) -> None:
    found = counterexamples(ScriptedPlayer(first_empty), rules, positions=2_000)
    assert not found.whole
    for seat, line in enumerate(found.shortest):
        assert line is not None
        assert_loses(rules, lambda mine, theirs: [first_empty({*mine}, {*theirs})], line, seat)


def test_one_mark_that_wins_beats_the_second_seat_at_once() -> None:
    found = counterexamples(ScriptedPlayer(first_empty), Rules(2, 2, 1))
    assert found.shortest == (None, (0,))
    assert not len(found.mover)


def judge(agent: Any, rules: Rules) -> Judge:
    return Judge(agent, rules, "mover", twice=False)


@pytest.mark.parametrize("rules", [Rules(), Rules(4, 4, 4)], ids=str)
def test_an_evaluation_of_training_hands_out_its_counterexamples(rules: Rules) -> None:
    for agent in (ScriptedPlayer(first_empty), ScriptedPlayer(stubborn)):
        lessons = examine(judge(agent, rules), every_state=False, generator=np.random.default_rng(0))
        found = counterexamples(agent, rules)
        assert lessons.evaluation == assess(judge(agent, rules))
        assert lessons.number == len(found.mover)
        given = set(zip(lessons.mover.tolist(), lessons.opponent.tolist(), strict=True))
        assert given <= set(zip(found.mover.tolist(), found.opponent.tolist(), strict=True))
        assert len(given) == len(lessons.mover) == min(lessons.number, MOST)
    lessons = examine(judge(optimal_player(Rules()), Rules()), every_state=False, generator=np.random.default_rng(0))
    assert (lessons.number, len(lessons.mover)) == (0, 0)


def test_what_is_not_optimal_is_handed_out_where_an_optimal_player_is_asked_for() -> None:
    agent = random_table(Rules(), 3, careless=1)
    lessons = examine(judge(agent, Rules()), every_state=True, generator=np.random.default_rng(0))
    solution, tree = solve(Rules()), game_tree(Rules())
    wrong = set()
    for state in tree.decisions:
        mine, theirs = int(tree.mover[state]), int(tree.opponent[state])
        if agent.choose({*cells_of(mine)}, {*cells_of(theirs)}) not in solution.lookup(mine, theirs)[1]:
            wrong.add((mine, theirs))
    assert set(zip(lessons.mover.tolist(), lessons.opponent.tolist(), strict=True)) == wrong
    assert lessons.evaluation.as_dict()["optimal_states"] == 4520 - len(wrong)


def test_a_player_of_too_many_positions_teaches_by_a_part_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.evaluation.lessons.PART", 50)
    rules = Rules(4, 4, 4)
    lessons = examine(judge(ScriptedPlayer(first_empty), rules), False, np.random.default_rng(0))
    assert isinstance(lessons.evaluation, Unproved)
    assert 0 < lessons.number < len(counterexamples(ScriptedPlayer(first_empty), rules).mover)


def test_the_public_call_is_offered() -> None:
    assert selfplay.counterexamples is counterexamples
    assert Fraction(len(selfplay.counterexamples(selfplay.load("shipped"), Rules()).mover)) == 0


def network(**changes: Any) -> Judge:
    return trusted(make(config_with(seed=1000, **changes)).player())


@pytest.mark.parametrize("rules", SMALL, ids=str)
@pytest.mark.parametrize(
    "make_judge",
    [
        *(pytest.param(lambda rules, make=each.values[0]: judge(make(rules), rules), id=each.id) for each in PLAYERS),
        pytest.param(lambda rules: network(rows=rules.rows, cols=rules.cols, k=rules.k), id="network"),
        pytest.param(
            lambda rules: network(rows=rules.rows, cols=rules.cols, k=rules.k, symmetry="canonical"), id="canonical"
        ),
        pytest.param(
            lambda rules: network(rows=rules.rows, cols=rules.cols, k=rules.k, mask=True, symmetry="canonical"),
            id="masked and canonical",
        ),
    ],
)
def test_every_lost_line_is_listed_the_shortest_first(make_judge: Callable[[Rules], Judge], rules: Rules) -> None:
    asked = make_judge(rules)
    proof = evaluate_tree(asked)
    found = of_play(asked, 10**6, np.random.default_rng(0), most_lines=10**6)
    for seat, of_seat in enumerate((proof.first, proof.second)):
        lines = found.lines[seat]
        assert len(lines) == len(set(lines)) == of_seat.losses + of_seat.illegal
        assert sum(len(line) % 2 != seat for line in lines) == of_seat.illegal
        assert [len(line) for line in lines] == sorted(map(len, lines))
        assert found.shortest[seat] == (lines[0] if lines else None)
        few = of_play(asked, 10**6, np.random.default_rng(0), most_lines=5).lines[seat]
        assert few == lines[:5]


def test_each_line_of_one_mark_beats_the_second_seat() -> None:
    found = of_play(judge(ScriptedPlayer(first_empty), Rules(2, 2, 1)), 99, np.random.default_rng(0), most_lines=9)
    assert found.lines == ((), ((0,), (1,), (2,), (3,)))
