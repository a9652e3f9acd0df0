"""Train a DQN by self-play until it is proved unbeatable, in one file to copy.

One network plays both seats and learns from every ply (one move of one seat). Two things differ from a DQN for one
player. Each seat sees its own marks in the same plane, so one network can play both seats. And the position after a
move is the opponent's turn, so its value counts with a minus sign.

Every 6,400 plies the exact evaluation counts the ways to beat the player, over every reply of every opponent. At 0
the program ends, after a few seconds on one core. `--seed` chooses another run.
"""

import copy
import time

import gymnasium
import numpy as np
import torch
import tyro
from torch import nn

import selfplay

BOARDS = 64  # games at once: one call of the network chooses a move for each of them
TOTAL_PLIES = 500_000  # where to give up; a run that needs more has a mistake in it
EVALUATE_EVERY = 100 * BOARDS  # plies
LEARNING_STARTS = 1_000  # plies before the first update, so that its batch holds different positions
MEMORY_SIZE = 20_000  # transitions
BATCH_SIZE = 256
LEARNING_RATE = 3e-3
GAMMA = 0.99  # below 1, so that an early win is worth more than a late one
EPSILON = 0.5  # half of the moves are random, because the player must also meet the replies that beat it
TAU = 0.02  # part of the way that the target network moves towards the network after each update


class QNetwork(nn.Module):
    """A network that gives a value to each cell, from the view of the seat to move."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(27, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 9)
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Return values [B, 9] for observations [B, 3, 3, 3], whose planes are empty, mine and theirs."""
        taken = observations[..., 0].flatten(1) == 0
        # Values lie between -1 and 1, so with -2 neither a move nor a target ever takes a taken cell.
        return self.layers(observations.float()).masked_fill(taken, -2.0)


def update(
    network: QNetwork, target_network: QNetwork, optimizer: torch.optim.Optimizer, batch: dict[str, torch.Tensor]
) -> None:
    """Move the values of a batch towards their targets, and the target network towards the network."""
    with torch.no_grad():
        # The next position is the opponent's turn. What is best for the opponent is worst for me: hence the minus.
        best = target_network(batch["next_observation"]).amax(dim=1)
        target = batch["reward"] - GAMMA * best * ~batch["done"]
    value = network(batch["observation"]).gather(1, batch["action"][:, None]).squeeze(1)
    loss = nn.functional.mse_loss(value, target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for slow, fast in zip(target_network.parameters(), network.parameters(), strict=True):
            slow.lerp_(fast, TAU)


def main(seed: int = 0) -> selfplay.Verdict:
    """Train until nothing beats the player, and return the last verdict."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    torch.manual_seed(seed)
    generator = np.random.default_rng(seed)
    envs = gymnasium.make_vec(
        "tictactoe:TicTacToe-v0", BOARDS, perspective="mover", rewards="sparse", autoreset_mode="SameStep"
    )
    network = QNetwork()
    target_network = copy.deepcopy(network)  # a slower copy: targets that follow every update would chase themselves
    optimizer = torch.optim.Adam(network.parameters(), LEARNING_RATE)
    memory: dict[str, np.ndarray] = {
        "observation": np.zeros((MEMORY_SIZE, 3, 3, 3), np.int8),
        "action": np.zeros(MEMORY_SIZE, np.int64),
        "reward": np.zeros(MEMORY_SIZE, np.float32),
        "next_observation": np.zeros((MEMORY_SIZE, 3, 3, 3), np.int8),
        "done": np.zeros(MEMORY_SIZE, bool),
    }
    observations, infos = envs.reset(seed=seed)
    started = time.perf_counter()
    for plies in range(BOARDS, TOTAL_PLIES + 1, BOARDS):
        # Epsilon-greedy: a random empty cell, or the one with the highest value.
        with torch.no_grad():
            greedy = network(torch.from_numpy(observations)).argmax(dim=1).numpy()
        random = (infos["action_mask"] * generator.random((BOARDS, 9))).argmax(axis=1)
        actions = np.where(generator.random(BOARDS) < EPSILON, random, greedy)
        next_observations, rewards, done, _, infos = envs.step(actions)

        # Both seats' moves go into one memory. Where a game has ended, the next observation is already that of a new
        # game; the target does not look at it.
        places = np.arange(plies - BOARDS, plies) % MEMORY_SIZE
        new = observations, actions, rewards, next_observations, done
        for part, added in zip(memory.values(), new, strict=True):
            part[places] = added
        observations = next_observations

        if plies >= LEARNING_STARTS:
            rows = generator.integers(min(plies, MEMORY_SIZE), size=BATCH_SIZE)
            batch = {name: torch.from_numpy(part[rows]) for name, part in memory.items()}
            update(network, target_network, optimizer, batch)

        if plies % EVALUATE_EVERY == 0:
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
    tyro.cli(main)
