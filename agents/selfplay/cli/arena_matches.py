"""The results of a round robin: exact if every game can be followed to its end, otherwise sampled."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from scipy.stats import binomtest

from selfplay.judging.agents import AgentPolicy, tree_policy
from selfplay.players import NamedPolicy
from tictactoe import Rules, batch
from tictactoe.tree import SOLVABLE_CELLS, FloatArray, IntArray, game_tree, play_out

SAMPLE_BATCH = 4_096
"""Games played at once to sample results."""

Pairing: TypeAlias = tuple[str, str]
"""The names of the first and the second seat's player."""


@dataclass(frozen=True)
class Result:
    """Hold the probability of each result of a game between two players, for the first seat."""

    win: float
    """The first seat completes a line or the second plays a taken cell."""
    draw: float
    loss: float
    """The second seat completes a line or the first plays a taken cell."""
    illegal: tuple[float, float]
    """For each seat, the games that it ends with a taken cell; they also count as losses or wins."""
    games: int | None = None
    """The number of sampled games; None if the result is exact."""

    @property
    def score(self) -> float:
        """Return the first seat's mean score: 1 for a win, 1/2 for a draw."""
        return self.win + self.draw / 2

    @property
    def intervals(self) -> list[tuple[float, float]]:
        """Return the 95 % Wilson intervals of win, draw and loss; for an exact result each probability twice."""
        shares = self.win, self.draw, self.loss
        if self.games is None:
            return [(share, share) for share in shares]
        tests = [binomtest(round(share * self.games), self.games) for share in shares]
        return [tuple(test.proportion_ci(method="wilson")) for test in tests]


Results: TypeAlias = Mapping[Pairing, Result]
"""The results of a round robin."""


def round_robin(players: Sequence[NamedPolicy], games: int, seed: int) -> Iterator[tuple[Pairing, Result]]:
    """Yield the result of each player in the first seat against each player in the second.

    Results are exact on boards of up to 16 cells. On larger boards each pairing with a player that samples its moves
    is sampled in `games` games, with its own generator.
    """
    rules = players[0].rules
    policies = []
    if rules.cells <= SOLVABLE_CELLS:
        tree = game_tree(rules)
        policies = [tree_policy(player.policy, tree) for player in players]
    for (row, first), (column, second) in product(enumerate(players), repeat=2):
        if policies:
            totals = play_out(tree, policies[row], policies[column])
            result = _result(np.array([*totals[:3], *totals.illegal]), games=None)
        else:
            result = sample(rules, first.policy, second.policy, games, np.random.default_rng([seed, row, column]))
        yield (first.name, second.name), result


def sample(rules: Rules, first: AgentPolicy, second: AgentPolicy, games: int, generator: np.random.Generator) -> Result:
    """Return the result over sampled games; two deterministic players play one game."""
    stochastic = first.stochastic or second.stochastic
    wanted = games if stochastic else 1
    ends = np.zeros(5)
    for start in range(0, wanted, SAMPLE_BATCH):
        state = batch.reset(rules, min(SAMPLE_BATCH, wanted - start), np)
        while len(state.mover):
            seat = int(state.ply[0]) % 2
            outcome = batch.play(rules, state, _moves((first, second)[seat], state, generator))
            ends[[seat, 2, 3 + seat]] += [field.sum() for field in (outcome.win, outcome.draw, outcome.illegal)]
            state = batch.State(*(field[~outcome.terminated] for field in outcome.state))
    return _result(ends, games if stochastic else None)


def _moves(player: AgentPolicy, state: batch.State, generator: np.random.Generator) -> IntArray:
    """Return a cell for each board, [B], sampled if the player samples its moves."""
    if not player.stochastic:
        return player.cells(state.mover, state.opponent)
    chances = player.probabilities(state.mover, state.opponent)
    cells: IntArray = (chances.cumsum(axis=1) <= generator.random((len(chances), 1))).sum(axis=1)
    return cells.clip(max=chances.shape[1] - 1)


def _result(ends: FloatArray, games: int | None) -> Result:
    """Return the result from weights [5]: wins of the first and second seat, draws, illegal moves of each."""
    # Dividing by the sum makes a certain result exactly 1, although the probabilities are rounded.
    first, second, draw, first_illegal, second_illegal = ends
    shares = np.array([first + second_illegal, draw, second + first_illegal, first_illegal, second_illegal])
    win, draw, loss, *illegal = (shares / ends.sum()).tolist()
    return Result(win, draw, loss, (illegal[0], illegal[1]), games)
