"""Train Stable-Baselines3's DQN against frozen copies of itself until it is proved unbeatable.

The library knows only one agent, so the opponent belongs to the environment: one of the latest copies of the network,
or a random cell now and then. The program evaluates the model while it trains, and stops at the first proof. Then it
saves the model, loads it like any other, and judges it over every reply of every opponent.

An earlier search tried twenty settings, and only these ended with a proof. It takes about a minute on one core; another
seed may take longer. A model that keeps learning after its first proof can sometimes be beaten again, so the program
stops there. With `--steps 20000` it gives up within half a minute, and shows the shortest games that beat the model.
"""

import copy
import time
from collections import deque
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch
import tyro
from stable_baselines3 import DQN
from stable_baselines3.common.env_util import make_vec_env

import selfplay

GAMES = 91  # at once; a step plays one move in each of them
COPY_EVERY, EVALUATE_EVERY = 15, 100  # steps
COPIES = 8  # so that the model does not only learn to beat its last self
RANDOM_REPLIES = 0.419  # part of all replies: the model must also meet moves that its copies would not play
LEARNING_RATE, HOLD = 0.0028, 78_605  # after HOLD moves the learning rate falls as 1 / moves
EXPLORATION_MOVES = 18_477  # over which epsilon falls from 1


class Opponent:
    """An opponent that replies as one of the latest copies of a network, or at random."""

    def __init__(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)
        self.copies: deque[tuple[torch.nn.Module, dict[bytes, int]]] = deque(maxlen=COPIES)

    def add(self, network: torch.nn.Module) -> None:
        """Add a copy of the network, and a table that saves asking it twice about the same board."""
        self.copies.append((copy.deepcopy(network), {}))

    def reply(self, observation: np.ndarray, action_mask: np.ndarray) -> int:
        """Return an empty cell; a copy that marked a taken cell would end the game and teach nothing."""
        if not self.copies or self.generator.random() < RANDOM_REPLIES:
            return int(self.generator.choice(action_mask.nonzero()[0]))
        network, replies = self.copies[self.generator.integers(len(self.copies))]
        board = observation.tobytes()
        if board not in replies:
            with torch.no_grad():
                values = network(torch.from_numpy(observation)[None])[0].numpy()
            replies[board] = int(np.where(action_mask, values, -np.inf).argmax())
        return replies[board]


def prove(model: DQN) -> selfplay.Verdict:
    """Save and load a model, and return the verdict on it; print a game that beats it as X, and one as O."""
    with TemporaryDirectory() as folder:
        model.save(Path(folder, "dqn"))
        agent = DQN.load(Path(folder, "dqn"), device="cpu")
    verdict = selfplay.evaluate(agent, perspective="mover")
    print(verdict)
    for mark, cells in zip("XO", selfplay.counterexamples(agent, perspective="mover").shortest, strict=True):
        if cells is not None:
            print(f"the shortest game that beats it as {mark}, cell by cell: {cells}")
    return verdict


def main(steps: int = 3_000_000, seed: int = 0) -> selfplay.Verdict:
    """Train for at most `steps` moves of the model, and return the verdict."""
    torch.set_num_threads(1)  # more threads mostly wait for each other
    settings = {"seat": "random", "perspective": "mover"}
    envs = make_vec_env("tictactoe:TicTacToeVersus-v0", GAMES, seed, env_kwargs=settings)
    opponent = Opponent(seed)
    envs.env_method("set_opponent", opponent.reply)
    model = DQN(
        "MlpPolicy",
        envs,
        learning_rate=lambda left: LEARNING_RATE * HOLD / max(HOLD, (1 - left) * steps),
        buffer_size=19_523,
        learning_starts=2_288,
        batch_size=160,
        tau=0.0159,
        gamma=0.914,
        train_freq=1,  # after each step of all games ...
        gradient_steps=4,  # ... four updates
        target_update_interval=GAMES,  # also after each step: the library counts moves here
        exploration_fraction=EXPLORATION_MOVES / steps,
        exploration_final_eps=0.157,
        policy_kwargs={"net_arch": [512]},
        seed=seed,
        device="cpu",
    )
    started = time.perf_counter()

    def go_on(*_: Any) -> bool:
        """Renew the copies and evaluate when it is time; the library calls this after each step."""
        step = model.num_timesteps // GAMES
        if step % COPY_EVERY == 0:
            opponent.add(model.q_net)
        if step % EVALUATE_EVERY:
            return True
        verdict = selfplay.evaluate(model, perspective="mover")
        after = f"{model.num_timesteps:,} moves and {time.perf_counter() - started:.1f} s"
        print(f"after {after}: {verdict.ways_to_beat} ways to beat it")
        return not verdict.unbeatable

    model.learn(steps, callback=go_on)
    return prove(model)


if __name__ == "__main__":
    tyro.cli(main)
