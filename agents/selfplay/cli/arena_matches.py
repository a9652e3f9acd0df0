"""The results of a round robin: exact if every game can be followed to its end, otherwise sampled."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from selfplay.judging.agents import AgentPolicy, tree_policy
from tictactoe import Rules, batch
from tictactoe.tree import SOLVABLE_CELLS, FloatArray, IntArray, game_tree, play_out

SAMPLE_BATCH = 4_096
"""Games played at once to sample results."""


@dataclass(frozen=True)
class Result:
    """The probability of each result of a game between two players, for the first seat."""

    win: float
    """The first seat completes a line or the second plays a taken cell."""
    draw: float
    loss: float
    """The second seat completes a line or the first plays a taken cell."""
    illegal: tuple[float, float]
    """For each seat, the games that it ends with a taken cell; they also count as losses or wins."""
    games: int | None = None
    """The number of sampled games; None if the result is exact."""


def round_robin(
    rules: Rules, players: Mapping[str, AgentPolicy], games: int, seed: int
) -> Iterator[tuple[str, str, Result]]:
    """Yield each pairing, the names of the first and the second seat's player, with its result.

    Results are exact on boards of up to 16 cells. On larger boards each pairing with a player that samples its moves
    is sampled in `games` games, with its own generator.
    """
    solvable = rules.cells <= SOLVABLE_CELLS
    if solvable:
        tree = game_tree(rules)
        in_tree = {name: tree_policy(policy, tree) for name, policy in players.items()}
    for row, first in enumerate(players):
        for column, second in enumerate(players):
            if solvable:
                totals = play_out(tree, in_tree[first], in_tree[second])
                result = result_of(np.array([*totals[:3], *totals.illegal]))
            else:
                generator = np.random.default_rng([seed, row, column])
                result = sample(rules, players[first], players[second], games, generator)
            yield first, second, result


def sample(rules: Rules, first: AgentPolicy, second: AgentPolicy, games: int, generator: np.random.Generator) -> Result:
    """Return the result over sampled games; two deterministic players play one game, and the result is exact."""
    stochastic = first.stochastic or second.stochastic
    wanted = games if stochastic else 1
    ends = np.zeros(5)
    for start in range(0, wanted, SAMPLE_BATCH):
        state = batch.reset(rules, min(SAMPLE_BATCH, wanted - start), np)
        while len(state.mover):
            seat = int(state.ply[0]) % 2
            outcome = batch.play(rules, state, moves((first, second)[seat], state, generator))
            winner = batch.winner(state.to_play, outcome)
            for winning in (0, 1):
                ends[winning] += (~outcome.illegal & (winner == winning)).sum()
            ends[2] += outcome.draw.sum()
            ends[3 + seat] += outcome.illegal.sum()
            state = batch.State(*(field[~outcome.terminated] for field in outcome.state))
    return result_of(ends, games if stochastic else None)


def moves(player: AgentPolicy, state: batch.State, generator: np.random.Generator) -> IntArray:
    """Return a cell for each board, [B], sampled if the player samples its moves."""
    if not player.stochastic:
        return player.cells(state.mover, state.opponent)
    chances = player.probabilities(state.mover, state.opponent)
    cells: IntArray = (chances.cumsum(axis=1) <= generator.random((len(chances), 1))).sum(axis=1)
    return cells.clip(max=chances.shape[1] - 1)  # the sum of the probabilities may be rounded down


def result_of(ends: FloatArray, games: int | None = None) -> Result:
    """Return the result from weights [5]: wins of the first and second seat, draws, illegal moves of each."""
    first, second, draw, first_illegal, second_illegal = ends
    shares = np.array([first + second_illegal, draw, second + first_illegal, first_illegal, second_illegal])
    # Dividing by the sum makes a certain result exactly 1, although the probabilities are rounded.
    win, draw, loss, *illegal = (shares / ends.sum()).tolist()
    return Result(win, draw, loss, (illegal[0], illegal[1]), games)
