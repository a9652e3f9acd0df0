"""Hand-made players of a board of any size, and a slow evaluation of them, game by game."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import nn

from selfplay.dqn.config import DQNConfig, Symmetry
from selfplay.dqn.player import QPlayer
from selfplay.judge.ask import AgentPolicy, agent_policy, choices_policy
from selfplay.judge.verdict import SeatVerdict
from tests.tictactoe.rule_book import bits, book_of, cells_in
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import IntArray

Marks = tuple[frozenset[int], frozenset[int]]
"""Of the first seat and the second, or of the agent and the other seat."""
Sampling = Callable[[Rules, Marks, int], dict[int, Fraction]]
"""Returns the probability of each cell that is sampled, by the marks of both seats and the seat to move."""
Moves = Callable[[frozenset[int], frozenset[int]], list[int]]
"""Returns the cells that an agent may mark, by its marks and the other seat's."""
NO_MARKS: Marks = (frozenset(), frozenset())


class ScriptedPlayer:
    """A player that chooses by a function of the marks, (mine, theirs) as sets of cells."""

    def __init__(self, choose: Callable[[set[int], set[int]], int]) -> None:
        self.choose = choose

    def act(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        moves = []
        for board in np.asarray(observation).reshape(len(observation), -1, 3):
            mine, theirs = (set(np.flatnonzero(board[:, plane]).tolist()) for plane in (1, 2))
            if len(mine) > len(theirs):
                mine, theirs = theirs, mine
            moves.append(self.choose(mine, theirs))
        return np.array(moves)


def optimal_player(rules: Rules) -> ScriptedPlayer:
    solution = solve(rules)

    def choose(mine: set[int], theirs: set[int]) -> int:
        return solution.lookup(sum(1 << cell for cell in mine), sum(1 << cell for cell in theirs))[1][0]

    return ScriptedPlayer(choose)


def first_empty(mine: set[int], theirs: set[int]) -> int:
    return min(set(range(64)) - mine - theirs)


def stubborn(mine: set[int], theirs: set[int]) -> int:
    """Play cell 4, then cell 0 for ever, taken or not."""
    return 0 if 4 in mine | theirs else 4


def careless_later(mine: set[int], theirs: set[int]) -> int:
    """Mark the first empty cell, which on 1,17,17 leaves no line to the opponent, and then a taken one."""
    return min(theirs) if mine else first_empty(mine, theirs)


def empty(rules: Rules, marks: Marks) -> list[int]:
    return [cell for cell in range(rules.cells) if cell not in marks[0] | marks[1]]


def certain(choose: Callable[[set[int], set[int]], int]) -> Sampling:
    """Return the sampling that always gives the cell of a scripted player."""
    return lambda _rules, marks, seat: {choose({*marks[seat]}, {*marks[1 - seat]}): Fraction(1)}


def choices_of(name: str) -> Sampling:
    """Return the sampling of a built-in opponent: the same probability for each of its choices."""

    def sampling(rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
        choices = OPPONENTS[name].choices(rules, bits(marks[seat]), bits(marks[1 - seat]))
        cells = sorted(cells_in(int(choices), rules.cells))
        return dict.fromkeys(cells, Fraction(1, len(cells)))

    return sampling


def sampling_of(policy: AgentPolicy) -> Sampling:
    """Return the sampling of a policy, which is asked once in each position, alone."""
    asked: dict[tuple[int, int], dict[int, Fraction]] = {}

    def sampling(_rules: Rules, marks: Marks, seat: int) -> dict[int, Fraction]:
        position = bits(marks[seat]), bits(marks[1 - seat])
        if position not in asked:
            (shares,) = policy.probabilities(*(np.array([side]) for side in position)).tolist()
            exact = [Fraction(share).limit_denominator(999) for share in shares]
            asked[position] = {cell: share for cell, share in enumerate(exact) if share}
        return asked[position]

    return sampling


def game_by_game(rules: Rules, sampling: Sampling, seat: int) -> SeatVerdict:
    """Return the verdict on a player in one seat after following every reply to it, game by game."""
    games = {"lost": 0, "illegal": 0}
    shares = dict.fromkeys(("win", "draw", "loss", "illegal"), Fraction(0))
    book = book_of(rules)

    def end(name: str, share: Fraction, value: int) -> Fraction:
        shares[name] += share
        return Fraction(value)

    def follow(marks: Marks, share: Fraction) -> Fraction:
        ply = len(marks[0] | marks[1])
        mover = ply % 2
        if any(marks[1 - mover].issuperset(line) for line in book.lines):
            if book.line_winner(1 - mover) == seat:
                return end("win", share, 1)
            games["lost"] += 1
            return end("loss", share, -1)
        if ply == rules.cells:
            return end("draw", share, 0)

        def after(cell: int, share: Fraction) -> Fraction:
            added = marks[mover] | {cell}
            return follow((added, marks[1]) if mover == 0 else (marks[0], added), share)

        if mover != seat:
            cells = empty(rules, marks)
            return min([after(cell, share / len(cells)) for cell in cells])
        value = Fraction(0)
        for cell, probability in sampling(rules, marks, seat).items():
            if cell in marks[0] | marks[1]:
                games["illegal"] += 1
                shares["illegal"] += share * probability
                value += probability * end("loss", share * probability, -1)
            else:
                value += probability * after(cell, share * probability)
        return value

    worst = follow((frozenset(), frozenset()), Fraction(1))
    win, draw, loss, illegal = map(float, shares.values())
    return SeatVerdict(games["lost"], games["illegal"], win, draw, loss, illegal, float(worst))


def lost_positions(rules: Rules, moves: Moves, seat: int, start: Marks = NO_MARKS) -> dict[Marks, float]:
    """Return the positions of an agent's play from a start that some game loses, and in how many plies at least."""
    book = book_of(rules)
    lost: dict[Marks, float] = {}

    def has_line(marks: frozenset[int]) -> bool:
        return any(marks.issuperset(line) for line in book.lines)

    def own(mine: frozenset[int], theirs: frozenset[int]) -> float:
        if len(mine | theirs) == rules.cells:
            return np.inf
        plies = [
            1 if cell in mine | theirs else 1 + reply(mine | {cell}, theirs)
            for cell in moves(mine, theirs)
            if cell in mine | theirs or not has_line(mine | {cell})
        ]
        if min(plies, default=np.inf) < np.inf:
            lost[mine, theirs] = min(plies)
        return min(plies, default=np.inf)

    def reply(mine: frozenset[int], theirs: frozenset[int]) -> float:
        cells = {*range(rules.cells)} - mine - theirs
        plies = [1 if has_line(theirs | {cell}) else 1 + own(mine, theirs | {cell}) for cell in cells]
        return min(plies, default=np.inf)

    (own if seat == 0 else reply)(*start)
    return lost


def assert_close(verdict: SeatVerdict, expected: SeatVerdict) -> None:
    assert (verdict.losses, verdict.illegal, verdict.complete) == (expected.losses, expected.illegal, True)
    for name in ("win", "draw", "loss", "illegal_loss", "best_response"):
        assert getattr(verdict, name) == pytest.approx(getattr(expected, name), abs=1e-11), name


class Sampler:
    """An agent with the probabilities of a sampling, for absolute observations."""

    def __init__(self, rules: Rules, sampling: Sampling) -> None:
        self.rules, self.sampling = rules, sampling

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:
        assert action_mask is None
        probabilities = np.zeros((len(observation), self.rules.cells))
        for row, board in enumerate(np.asarray(observation).reshape(len(observation), -1, 3)):
            first, second = (frozenset(np.flatnonzero(board[:, plane]).tolist()) for plane in (1, 2))
            for cell, share in self.sampling(self.rules, (first, second), len(first | second) % 2).items():
                probabilities[row, cell] = share
        return probabilities


def network_player(
    rules: Rules, seed: int, mask: bool = False, canonical: bool = False, networks: int = 1, margin: float = 0
) -> QPlayer:
    """Return a player of random weights."""
    torch.manual_seed(seed)
    layers = [
        nn.Sequential(nn.Linear(3 * rules.cells, 16), nn.ReLU(), nn.Linear(16, rules.cells)) for _ in range(networks)
    ]
    symmetry: Symmetry = "canonical" if canonical else "none"
    config = DQNConfig(rules=rules, mask=mask, symmetry=symmetry, counterexample_margin=margin)
    return QPlayer(config, tuple(layers))


def policy_of(agent: Any, rules: Rules | None = None, symmetric: bool = False, legal: bool = False) -> AgentPolicy:
    """Return the policy of an agent that sees the mover's view and is believed, so that it is not asked again."""
    asked = agent_policy(agent, rules or Rules(), "mover")
    return replace(asked, symmetric=symmetric, legal=legal, trusted=True, perspective=None, other_view=None)


def random_table(rules: Rules, seed: int, careless: float) -> ScriptedPlayer:
    """Return a player with one sampled cell for each position, which in a part of them may be taken."""
    rng = np.random.default_rng(seed)
    table: dict[tuple[frozenset[int], frozenset[int]], int] = {}

    def choose(mine: set[int], theirs: set[int]) -> int:
        key = frozenset(mine), frozenset(theirs)
        cells = sorted({*range(rules.cells)} - (set() if rng.random() < careless else mine | theirs))
        return table.setdefault(key, int(rng.choice(cells)))

    return ScriptedPlayer(choose)


class FirstTwo:
    """An agent that samples one of the first two empty cells."""

    def probabilities(self, observation: Any, action_mask: Any = None) -> Any:  # noqa: ARG002 (an agent's signature)
        empty = np.asarray(observation)[..., 0].reshape(len(observation), -1) == 1
        first_two = empty & (empty.cumsum(axis=1) <= 2)
        return first_two / first_two.sum(axis=1, keepdims=True)


def first_choice(name: str, rules: Rules, legal: bool = False) -> AgentPolicy:
    """Return the policy of the first of a built-in opponent's choices."""
    choices = choices_policy(OPPONENTS[name].choices, rules)

    def answers(mover: IntArray, opponent: IntArray, _: int) -> NDArray[np.int64]:
        first: NDArray[np.int64] = choices.probabilities(mover, opponent).argmax(axis=1)
        return first

    return replace(choices, answers=answers, samples=False, legal=legal)


def moves_of(agent: Any, cells: int) -> Moves:
    """Return the cells that an agent may mark: a scripted player's, or the first two empty ones of `FirstTwo`."""
    if isinstance(agent, ScriptedPlayer):
        return lambda mine, theirs: [agent.choose({*mine}, {*theirs})]
    return lambda mine, theirs: [cell for cell in range(cells) if cell not in mine | theirs][:2]


def positions(found: Any) -> set[tuple[int, int]]:
    """Return the bitboards of the positions that were found."""
    return set(zip(found.mover.tolist(), found.opponent.tolist(), strict=True))
