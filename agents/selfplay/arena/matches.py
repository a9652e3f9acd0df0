"""What comes of two players meeting: exact where the game can be followed to every end, else sampled."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from selfplay.evaluation.built_in import BuiltIn
from selfplay.evaluation.evaluation import policy_of
from selfplay.evaluation.judge import Judge
from tictactoe import Rules, batch
from tictactoe.opponents import Choices, pick
from tictactoe.tree import SOLVABLE_CELLS, GameTree, Policy, Totals, game_tree, play_out

SAMPLE_BATCH = 4_096
"""Games played at once where results are sampled."""
NORMAL_95 = 1.959964
"""Standard deviations on each side of the mean that hold 95 % of a normal distribution."""


@dataclass(frozen=True)
class Result:
    """Hold how a game between two players ends, as probabilities from the first seat's view."""

    win: float
    """The first seat completes a line or the second plays a taken cell."""
    draw: float
    loss: float
    """The second seat completes a line or the first plays a taken cell."""
    illegal: tuple[float, float]
    """By the seat that plays the taken cell; these games are among the losses and the wins."""
    games: int | None = None
    """How many games were sampled; None if the result is exact."""

    @property
    def score(self) -> float:
        """Return the first seat's mean score: 1 for a win, 1/2 for a draw."""
        return self.win + self.draw / 2

    def interval(self, probability: float) -> tuple[float, float]:
        """Return the 95 % Wilson interval of one of the probabilities; of an exact one, itself twice."""
        return (probability, probability) if self.games is None else wilson(probability, self.games)


def wilson(fraction: float, games: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a probability of which so many games gave this fraction."""
    spread = NORMAL_95**2 / games
    centre = (fraction + spread / 2) / (1 + spread)
    half = math.sqrt(fraction * (1 - fraction) * spread + spread**2 / 4) / (1 + spread)
    return max(0.0, centre - half), min(1.0, centre + half)


class Entrant(Protocol):
    """Take part in an arena: decide for a whole game tree at once, or on the boards of a batch."""

    @property
    def stochastic(self) -> bool:
        """Tell whether it may play different cells when it meets the same position again."""
        ...

    def policy(self, tree: GameTree) -> Policy:
        """Return the probability of each action in every decision state."""
        ...

    def moves(self, rules: Rules, state: batch.State, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return a cell for each board, [B] int64."""
        ...


@dataclass(frozen=True)
class Judged:
    """Play what an agent plays, as it acts without being given a mask."""

    judge: Judge

    @property
    def stochastic(self) -> bool:
        """Tell whether it draws its moves."""
        return self.judge.draws

    def policy(self, tree: GameTree) -> Policy:
        """Return the probability of each of its actions."""
        return policy_of(self.judge, tree)

    def moves(self, rules: Rules, state: batch.State, generator: np.random.Generator) -> NDArray[np.int64]:  # noqa: ARG002 (its own)
        """Return its cells, drawn where it draws them."""
        if not self.judge.draws:
            return self.judge.cells(state.mover, state.opponent)
        chances = self.judge.chances(state.mover, state.opponent)
        cells: NDArray[np.int64] = (chances.cumsum(axis=1) <= generator.random((len(chances), 1))).sum(axis=1)
        return cells.clip(max=chances.shape[1] - 1)


@dataclass(frozen=True)
class Uniform:
    """Pick at random among the choices of a built-in opponent."""

    choices: Choices
    stochastic: ClassVar[bool] = True

    def policy(self, tree: GameTree) -> Policy:
        """Return the same probability for each of its choices."""
        return policy_of(BuiltIn(self.choices, tree.rules), tree)

    def moves(self, rules: Rules, state: batch.State, generator: np.random.Generator) -> NDArray[np.int64]:
        """Return one of its choices for each board."""
        return pick(rules.cells, self.choices(rules, state.mover, state.opponent), generator)


def meet(tree: GameTree, first: Policy, second: Policy) -> Result:
    """Return the exact result of two policies, by following every game that they can play."""
    return _result(play_out(tree, first, second), games=None)


def sample(
    rules: Rules,
    first: Entrant,
    second: Entrant,
    games: int,
    generator: np.random.Generator,
    advance: Callable[[float], None] = lambda _: None,
) -> Result:
    """Return the result over so many sampled games; of two deterministic players one game tells all.

    `advance` is told after each batch which fraction of the games it was.
    """
    if not (first.stochastic or second.stochastic):
        totals = _play(rules, (first, second), 1, generator)
        advance(1)
        return _result(totals, games=None)
    wins, losses, draws, illegal = 0.0, 0.0, 0.0, (0.0, 0.0)
    for start in range(0, games, SAMPLE_BATCH):
        boards = min(SAMPLE_BATCH, games - start)
        totals = _play(rules, (first, second), boards, generator)
        wins, losses, draws = wins + totals.first_wins, losses + totals.second_wins, draws + totals.draws
        illegal = illegal[0] + totals.illegal[0], illegal[1] + totals.illegal[1]
        advance(boards / games)
    return _result(Totals(wins, losses, draws, illegal), games)


def _play(rules: Rules, players: tuple[Entrant, Entrant], boards: int, generator: np.random.Generator) -> Totals:
    """Play a game on each board and count how they end."""
    wins, draws, illegal = [0, 0], 0, [0, 0]
    state = batch.reset(rules, boards, np)
    for ply in range(rules.cells):
        seat = ply % 2
        outcome = batch.play(rules, state, players[seat].moves(rules, state, generator))
        wins[seat] += int(outcome.win.sum())
        draws += int(outcome.draw.sum())
        illegal[seat] += int(outcome.illegal.sum())
        going_on = ~outcome.terminated
        if not going_on.any():
            break
        state = batch.State(*(field[going_on] for field in outcome.state))
    return Totals(wins[0], wins[1], draws, (illegal[0], illegal[1]))


def _result(totals: Totals, games: int | None) -> Result:
    # Dividing by the sum makes what is certain exactly 1, though the chances of its games have been rounded.
    weight = totals.first_wins + totals.second_wins + totals.draws + sum(totals.illegal)
    by_first, by_second = (part / weight for part in totals.illegal)
    return Result(
        win=(totals.first_wins + totals.illegal[1]) / weight,
        draw=totals.draws / weight,
        loss=(totals.second_wins + totals.illegal[0]) / weight,
        illegal=(by_first, by_second),
        games=games,
    )


def round_robin(
    rules: Rules,
    players: Sequence[Entrant],
    games: int,
    seed: int,
    advance: Callable[[float], None] = lambda _: None,
) -> list[list[Result]]:
    """Return the result of every player in the first seat, by row, against every one in the second, by column.

    Boards of up to 16 cells are followed exactly. On larger ones each pairing with a built-in opponent is
    sampled in `games` games, with a generator of its own.
    `advance` is told of each pairing, or fraction of one, that is done.
    """
    if rules.cells > SOLVABLE_CELLS:
        return [
            [
                sample(rules, first, second, games, np.random.default_rng([seed, row, column]), advance)
                for column, second in enumerate(players)
            ]
            for row, first in enumerate(players)
        ]
    tree = game_tree(rules)
    policies = [player.policy(tree) for player in players]
    results: list[list[Result]] = []
    for first_policy in policies:
        results.append([])
        for second_policy in policies:
            results[-1].append(meet(tree, first_policy, second_policy))
            advance(1)
    return results
