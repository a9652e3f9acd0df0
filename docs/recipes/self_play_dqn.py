"""Train a DQN by self-play until it is proved unbeatable, in one file to copy.

One network plays both seats and learns from every ply (one move of one seat). Two things differ from a DQN for one
player. Each seat sees its own marks in the same plane, so one network can play both seats. And the position after a
move is the opponent's turn, so its value counts with a minus sign.

Every 6,400 plies the exact evaluation counts the ways to beat the player, over every reply of every opponent. At 0
the program ends, after a few seconds on one core. `--seed` chooses another run, and `--help` shows every setting. The
last group of settings makes the mistakes of docs/why-does-my-dqn-not-learn.md: try `--sign 1`.
"""

import copy
import time
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn

import selfplay
from tictactoe import Rewards


@dataclass(frozen=True)
class Settings:
    """How the DQN plays and learns. The defaults work."""

    seed: int = 0
    """Seed of all random numbers."""
    total_plies: int = 500_000
    """Where to give up; a run that needs more has a mistake in it."""
    evaluate_every: int = 6_400
    """Plies from one evaluation to the next."""
    boards: int = 64
    """Games at once: one call of the network chooses a move for each of them."""
    learning_starts: int = 1_000
    """Plies before the first update, so that its batch holds different positions."""
    memory_size: int = 20_000
    """Transitions in the replay memory."""
    batch_size: int = 256
    """Transitions for each update."""
    learning_rate: float = 3e-3
    """Step size of Adam."""
    gamma: float = 0.99
    """Below 1, so that an early win is worth more than a late one."""
    tau: float = 0.02
    """Part of the way that the target network moves towards the network after each update."""
    epsilon: float = 0.5
    """Part of the moves that are random, because the player must also meet the replies that beat it."""

    # These make mistakes on purpose. The defaults are right.
    rewards: Rewards = Rewards(win=1, draw=0, loss=-1, illegal=-10, allow=0)
    """What a move earns."""
    opponent: Literal["itself", "random", "heuristic", "rule", "optimal"] = "itself"
    """Who plays the other seat. One of the others replies inside the environment, so it needs `--sign 1`."""
    seat: Literal[0, 1, "random"] = "random"
    """The seat of the DQN (0 is X), if it does not play both."""
    sign: Literal[-1, 1] = -1
    """Of the next position's value in the target: -1 if that is the opponent's turn, 1 if it is my own."""
    wait_for_reply: bool = False
    """In self-play, let the next position be my own turn, after the opponent's reply. It needs `--sign 1`."""
    loser_learns: bool = True
    """With `--wait-for-reply`, remember also the last move of the seat that did not end the game."""
    mask: Literal["nothing", "moves", "moves-and-targets", "moves-and-stale-targets"] = "moves-and-targets"
    """Where taken cells are left out; the stale mask is that of the position before the move."""


class QNetwork(nn.Module):
    """A network that gives a value to each cell, from the view of the seat to move."""

    def __init__(self, mask_moves: bool) -> None:
        super().__init__()
        self.mask_moves = mask_moves
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(27, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 9)
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return values [B, 9] for observations [B, 3, 3, 3], whose planes are empty, mine and theirs."""
        return self.layers(observations.float())

    @torch.no_grad()
    def act(self, observations: np.ndarray) -> np.ndarray:
        """Return the cells [B] with the highest values; the evaluation asks for the moves in this way, too."""
        boards = torch.as_tensor(observations)
        values = self(boards)
        if self.mask_moves:
            values = without_taken_cells(values, boards)
        return values.argmax(dim=1).numpy()


def without_taken_cells(values: torch.Tensor, observations: torch.Tensor) -> torch.Tensor:
    """Return values [B, 9] with minus infinity for cells that are taken in the observations [B, 3, 3, 3]."""
    return values.masked_fill(observations[..., 0].flatten(1) == 0, -torch.inf)


def update(
    settings: Settings,
    network: QNetwork,
    target_network: QNetwork,
    optimizer: torch.optim.Optimizer,
    batch: dict[str, torch.Tensor],
) -> None:
    """Move the values of a batch towards their targets, and the target network towards the network."""
    with torch.no_grad():
        next_values = target_network(batch["next_observation"])
        if settings.mask == "moves-and-targets":
            next_values = without_taken_cells(next_values, batch["next_observation"])
        elif settings.mask == "moves-and-stale-targets":
            next_values = without_taken_cells(next_values, batch["observation"])
        # The next position is the opponent's turn. What is best for the opponent is worst for me: the sign is minus.
        best = next_values.amax(dim=1)
        target = batch["reward"] + settings.sign * settings.gamma * best * ~batch["done"]
    value = network(batch["observation"]).gather(1, batch["action"][:, None]).squeeze(1)
    loss = nn.functional.mse_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target_network.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, settings.tau)


def after_replies(
    settings: Settings, moves: dict[str, np.ndarray], replies: dict[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Return moves with the position after the opponent's replies, or with the loss that these have brought."""
    if not moves:  # there is nothing before the first ply
        return {name: part[:0] for name, part in replies.items()}
    lost = ~moves["done"] & (replies["reward"] == settings.rewards.win)
    transitions = {
        "observation": moves["observation"],
        "action": moves["action"],
        "reward": np.where(lost, settings.rewards.loss, moves["reward"]),
        "next_observation": replies["next_observation"],
        "done": moves["done"] | replies["done"],
    }
    if settings.loser_learns:
        return transitions
    kept = moves["done"] | ~replies["done"]
    return {name: part[kept] for name, part in transitions.items()}


def make_envs(settings: Settings) -> Any:
    """Return the boards; unless the DQN plays both seats, the opponent replies inside them."""
    words: dict[str, Any] = {"perspective": "mover", "rewards": settings.rewards, "autoreset_mode": "SameStep"}
    if settings.opponent == "itself":
        return gymnasium.make_vec("tictactoe:TicTacToe-v0", settings.boards, **words)
    words |= {"opponent": settings.opponent, "seat": settings.seat}
    return gymnasium.make_vec("tictactoe:TicTacToeVersus-v0", settings.boards, **words)


def main(settings: Settings) -> selfplay.Verdict:
    """Train until nothing beats the player, and return the last verdict."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    torch.manual_seed(settings.seed)
    generator = np.random.default_rng(settings.seed)
    boards, memory_size = settings.boards, settings.memory_size
    envs = make_envs(settings)
    network = QNetwork(mask_moves=settings.mask != "nothing")
    target_network = copy.deepcopy(network)  # a slower copy: targets that follow every update would chase themselves
    optimizer = torch.optim.Adam(network.parameters(), settings.learning_rate)
    memory: dict[str, np.ndarray] = {
        "observation": np.zeros((memory_size, 3, 3, 3), np.int8),
        "action": np.zeros(memory_size, np.int64),
        "reward": np.zeros(memory_size, np.float32),
        "next_observation": np.zeros((memory_size, 3, 3, 3), np.int8),
        "done": np.zeros(memory_size, bool),
    }
    added = 0
    waiting: dict[str, np.ndarray] = {}
    observations, infos = envs.reset(seed=settings.seed)
    started = time.perf_counter()
    for plies in range(boards, settings.total_plies + 1, boards):
        # Epsilon-greedy: a random empty cell, or the one with the highest value.
        greedy = network.act(observations)
        random = (infos["action_mask"] * generator.random((boards, 9))).argmax(axis=1)
        actions = np.where(generator.random(boards) < settings.epsilon, random, greedy)
        next_observations, rewards, done, _, infos = envs.step(actions)

        # Both seats' moves go into one memory. Where a game has ended, the next observation is already that of a new
        # game; the target does not look at it.
        new = {
            "observation": observations,
            "action": actions,
            "reward": rewards,
            "next_observation": next_observations,
            "done": done,
        }
        observations = next_observations
        if settings.wait_for_reply:
            new, waiting = after_replies(settings, waiting, new), new
        places = np.arange(added, added + len(new["action"])) % memory_size
        for name, part in memory.items():
            part[places] = new[name]
        added += len(places)

        if plies >= settings.learning_starts:
            rows = generator.integers(min(added, memory_size), size=settings.batch_size)
            batch = {name: torch.from_numpy(part[rows]) for name, part in memory.items()}
            update(settings, network, target_network, optimizer, batch)

        if plies % settings.evaluate_every < boards or plies > settings.total_plies - boards:
            # The target network is the player: it is an average of many updates, and steadier than the network.
            verdict = selfplay.evaluate(target_network, perspective="mover")
            seconds = time.perf_counter() - started
            print(f"{plies:7,} plies, {seconds:5.1f} s: {verdict!r}")
            if verdict.unbeatable:  # on a board that one seat wins with best play: verdict.unexploitable
                print(f"PROVED UNBEATABLE after {plies:,} plies and {seconds:.1f} s")
                return verdict
    print("It can still be beaten. Did you change something?")
    return verdict


if __name__ == "__main__":
    main(tyro.cli(Settings))
