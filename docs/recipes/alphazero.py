"""Train AlphaZero by self-play as your own learner, and prove it with as many simulations as you like.

One network says how likely each move is to be best (its policy) and how the game will end (its value). A search looks
ahead with both. Self-play makes the moves that the search prefers, and the network learns from the games: its policy
from how often the search tried each move, its value from the result.

By default it plays until the network alone is proved unbeatable, which takes less than a minute on one core.
`--simulations 16` judges a player that searches: it is proved earlier, and every move takes longer. `selfplay prove
docs.recipes.alphazero:AlphaZero@RUN` proves a run again.

Source: Silver et al. (2018), doi:10.1126/science.aar6404. Two things differ. Games begin after some random moves, so
that the player also meets the positions to which bad replies lead. And it learns from mirror images too.

Shapes: B boards, A cells (= moves), N nodes of a search tree.
"""

import copy
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
import tyro
from torch import nn

import selfplay
from tictactoe import Rules, batch

BOARDS = 64  # games at once: one call of the network values a position of each
SIMULATIONS = 32  # of a move in self-play
EXPLORATION = 1.5  # how much the search trusts the policy rather than the values that it has found
NOISE_SHARE, NOISE = 0.25, 1.0  # random part of the root's policy in self-play, and its Dirichlet parameter
WIDTH = 128
MEMORY_SIZE = 20_000  # positions
BATCH_SIZE = 512
UPDATES = 16  # after each batch of games
LEARNING_RATE = 3e-3

Valuation: TypeAlias = Callable[[batch.State], tuple[np.ndarray, np.ndarray]]
"""A function from positions to the policy [B, A], -inf for taken cells, and the value to the mover [B], -1 to 1."""


class Network(nn.Module):
    """A map from observations [B, R, C, 3] of the mover to log-probabilities [B, A] and values [B]."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        layers = nn.Linear(3 * rules.cells, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU()
        self.body = nn.Sequential(nn.Flatten(), *layers)
        self.policy, self.value = nn.Linear(WIDTH, rules.cells), nn.Linear(WIDTH, 1)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the log-probability of each cell, -1e9 for taken ones, and the value of the position."""
        features = self.body(observation)
        taken = observation[..., 0].flatten(1) == 0
        logs = self.policy(features).masked_fill(taken, -1e9).log_softmax(dim=1)
        return logs, self.value(features).squeeze(1).tanh()


def valuation(rules: Rules, network: Network) -> Valuation:
    """Return what a network says of positions."""

    def valued(state: batch.State) -> tuple[np.ndarray, np.ndarray]:
        observation = torch.as_tensor(batch.observe(rules, state, "mover"), dtype=network.value.weight.dtype)
        with torch.no_grad():
            logs, values = network(observation)
        policy = np.where(batch.action_mask(rules, state), logs.exp().numpy(), -np.inf)
        # The last digits depend on how many boards are asked together, and must not decide a move.
        return policy.round(6), values.numpy().round(6)

    return valued


class Search:
    """A tree of positions for each of B boards, which grows by at most one node at each simulation.

    Node 0 is the root. A node is a position, and what is known of each move in it.
    """

    def __init__(self, rules: Rules, roots: batch.State, valued: Valuation, simulations: int) -> None:
        nodes = len(roots.mover), simulations + 1
        moves = *nodes, rules.cells
        self.rules, self.valued, self.nodes = rules, valued, 1
        self.state = batch.State(*(np.zeros(nodes, np.int64) for _ in roots))
        self.over = np.zeros(nodes, bool)
        self.value = np.zeros(nodes)  # of the position, to its mover
        self.policy = np.zeros(moves)
        self.visits, self.total = np.zeros(moves, np.int64), np.zeros(moves)  # of a move: simulations, sum of values
        self.child = np.zeros(moves, np.int64)  # the node after a move; 0 if there is none yet
        for part, root in zip(self.state, roots, strict=True):
            part[:, 0] = root
        self.policy[:, 0], self.value[:, 0] = valued(roots)

    def simulate(self) -> None:
        """Follow the best moves to a new or finished position, and add its value to every move on the way."""
        boards, nodes = np.arange(len(self.over)), np.zeros(len(self.over), np.int64)
        last_node, last_cell = nodes.copy(), nodes.copy()
        path = []
        while len(boards):
            cells = self.best(boards, nodes)
            path.append((boards, nodes, cells))
            last_node[boards], last_cell[boards] = nodes, cells
            nodes = self.child[boards, nodes, cells]
            inside = (nodes > 0) & ~self.over[boards, nodes]
            boards, nodes = boards[inside], nodes[inside]
        value = self.value_after(last_node, last_cell)
        for boards, nodes, cells in reversed(path):
            value[boards] *= -1  # what is good for one seat is bad for the other
            self.visits[boards, nodes, cells] += 1
            self.total[boards, nodes, cells] += value[boards]

    def best(self, boards: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """Return the move with the best sum of its mean value and a bonus: large if likely, small if often tried."""
        visits = self.visits[boards, nodes]
        tried = np.sqrt(1 + visits.sum(axis=1, keepdims=True))
        bonus = EXPLORATION * self.policy[boards, nodes] * tried / (1 + visits)
        return (self.total[boards, nodes] / np.maximum(visits, 1) + bonus).argmax(axis=1)

    def value_after(self, nodes: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Return the value [B] of the position after one move on each board; where it is new, it becomes a node."""
        leaf = self.child[np.arange(len(nodes)), nodes, cells]
        boards = np.flatnonzero(leaf == 0)
        nodes, cells, number = nodes[boards], cells[boards], self.nodes
        before = batch.State(*(part[boards, nodes] for part in self.state))
        played = batch.play(self.rules, before, cells)
        for part, after in zip(self.state, played.state, strict=True):
            part[boards, number] = after
        winner, over = batch.winner(before.to_play, played), played.terminated
        self.value[boards, number] = np.where(winner < 0, 0, np.where(winner == before.to_play, -1, 1))
        open_boards, open_state = boards[~over], batch.State(*(part[~over] for part in played.state))
        if len(open_boards):
            self.policy[open_boards, number], self.value[open_boards, number] = self.valued(open_state)
        self.over[boards, number] = over
        self.child[boards, nodes, cells] = leaf[boards] = number
        self.nodes += 1
        return self.value[np.arange(len(leaf)), leaf]

    def preferences(self) -> np.ndarray:
        """Return how often each move of the root was tried, plus its probability, which decides between equals."""
        return self.visits[:, 0] + self.policy[:, 0]


class Player:
    """A player that makes the move its search tries most often; without simulations, the network's likeliest."""

    def __init__(self, rules: Rules, network: Network, simulations: int) -> None:
        self.rules, self.simulations = rules, simulations
        self.network = copy.deepcopy(network).double()  # with digits to spare, see `valuation`

    def act(self, observation: np.ndarray, action_mask: np.ndarray | None = None) -> np.ndarray:
        """Return cells [B] for observations [B, R, C, 3] of the mover, whose plane 0 says which are empty."""
        del action_mask
        marks = observation.reshape(len(observation), -1, 3)
        mover, opponent = (marks[..., plane] @ (1 << np.arange(self.rules.cells)) for plane in (1, 2))
        state = batch.State(mover, opponent, marks[..., 1:].sum(axis=(1, 2), dtype=np.int64))
        search = Search(self.rules, state, valuation(self.rules, self.network), self.simulations)
        for _ in range(self.simulations):
            search.simulate()
        return search.preferences().argmax(axis=1)


class AlphaZero:
    """A learner of a policy and of values by self-play with search; a step is a game."""

    perspective = "mover"

    def __init__(self, seed: int = 0, rows: int = 3, cols: int = 3, k: int = 3, simulations: int = 0) -> None:
        self.rules = Rules(rows, cols, k)
        self.settings = {"seed": seed, "rows": rows, "cols": cols, "k": k, "simulations": simulations}
        torch.manual_seed(seed)
        self.network, self.generator = Network(self.rules), np.random.default_rng(seed)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=LEARNING_RATE)
        self.observations = np.zeros((MEMORY_SIZE, rows, cols, 3), np.int8)
        self.policies = np.zeros((MEMORY_SIZE, self.rules.cells), np.float32)
        self.results = np.zeros(MEMORY_SIZE, np.float32)
        self.steps = self.plies = self.updates = 0

    def advance(self, most: int) -> None:
        """Play some games at once, and learn from them and from earlier ones."""
        count = min(most, BOARDS)
        self.play(self.openings(count))
        self.steps += count
        for _ in range(UPDATES):
            self.update()

    def openings(self, count: int) -> batch.State:
        """Return positions after some random plies, from none to all but two cells; a game that ends begins again."""
        state, left = batch.reset(self.rules, count, np), self.generator.integers(self.rules.cells - 1, size=count)
        while left.any():
            numbers = self.generator.random((count, self.rules.cells))
            played = batch.play(self.rules, state, (numbers * batch.action_mask(self.rules, state)).argmax(axis=1))
            state = batch.where(left > 0, batch.restart(played.state, played.terminated), state)
            left = np.maximum(left - 1, 0)
        return state

    def play(self, state: batch.State) -> None:
        """Play games to their ends, and remember each position, how often its moves were tried, and the result."""
        games, winners, remembered = np.arange(len(state.ply)), np.full(len(state.ply), -1), []
        while len(games):
            search = Search(self.rules, state, valuation(self.rules, self.network), SIMULATIONS)
            empty = batch.action_mask(self.rules, state)
            noise = self.generator.standard_gamma(NOISE, empty.shape) * empty
            noise /= noise.sum(axis=1, keepdims=True)
            search.policy[:, 0] = (1 - NOISE_SHARE) * search.policy[:, 0] + NOISE_SHARE * noise
            for _ in range(SIMULATIONS):
                search.simulate()
            visits = search.visits[:, 0]
            cells = (visits.cumsum(axis=1) > self.generator.integers(SIMULATIONS, size=(len(games), 1))).argmax(axis=1)
            remembered.append((games, state.to_play, batch.observe(self.rules, state, "mover"), visits / SIMULATIONS))
            played = batch.play(self.rules, state, cells)
            winners[games] = batch.winner(state.to_play, played)
            going = ~played.terminated
            games, state = games[going], batch.State(*(part[going] for part in played.state))
        for games, seat, observation, policy in remembered:
            rows = np.arange(self.plies, self.plies + len(games)) % MEMORY_SIZE
            self.observations[rows], self.policies[rows] = observation, policy
            self.results[rows] = np.where(winners[games] < 0, 0, np.where(winners[games] == seat, 1, -1))
            self.plies += len(games)

    def update(self) -> None:
        """Take one step of Adam on a batch of positions: towards the moves that were tried, and the results."""
        rows = self.generator.integers(min(self.plies, MEMORY_SIZE), size=BATCH_SIZE)
        observation, policy, result = (
            torch.as_tensor(part[rows]) for part in (self.observations, self.policies, self.results)
        )
        policy = policy.view(observation.shape[:-1])
        for axis in (1, 2):
            if self.generator.random() < 0.5:  # a mirror image is as good a position
                observation, policy = observation.flip(axis), policy.flip(axis)
        if self.rules.rows == self.rules.cols and self.generator.random() < 0.5:
            observation, policy = observation.transpose(1, 2), policy.transpose(1, 2)
        logs, values = self.network(observation.float())
        of_moves = -(policy.flatten(1) * logs).sum(dim=1)
        loss = (of_moves + (values - result) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.updates += 1

    def player(self) -> Player:
        """Return the current player."""
        return Player(self.rules, self.network, self.settings["simulations"])

    def state(self) -> Mapping[str, Any]:
        """Return all that it needs to continue: weights, moments of Adam, the memory, counters, random numbers."""
        moments = self.optimizer.state_dict()["state"].items()
        adam = {f"adam/{number}/{name}": part for number, parts in moments for name, part in parts.items()}
        memory = {name: getattr(self, name) for name in ("observations", "policies", "results")}
        counters = {name: getattr(self, name) for name in ("steps", "plies", "updates")}
        generator = self.generator.bit_generator.state
        return {**self.network.state_dict(), **adam, **memory, **counters, "generator": generator}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore a state returned by `state`."""
        self.network.load_state_dict({name: state[name] for name in self.network.state_dict()})
        adam = self.optimizer.state_dict()
        for name in state:
            if name.startswith("adam/"):
                _, number, part = name.split("/")
                adam["state"].setdefault(int(number), {})[part] = state[name]
        self.optimizer.load_state_dict(adam)
        for name in ("observations", "policies", "results", "steps", "plies", "updates"):
            setattr(self, name, state[name])
        self.generator.bit_generator.state = state["generator"]


def main(
    games: int = 20_000,
    seed: int = 0,
    rows: int = 3,
    cols: int = 3,
    k: int = 3,
    simulations: int = 0,
    folder: Path | None = None,
) -> selfplay.Run:
    """Train for at most `games` games, or until the player with this many simulations is proved."""
    learner = AlphaZero(seed, rows, cols, k, simulations)
    return selfplay.train(learner=learner, total_steps=games, eval_every=5 * BOARDS, run_dir=folder)


if __name__ == "__main__":
    tyro.cli(main)
