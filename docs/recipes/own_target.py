"""Learn tic-tac-toe with your own two-player target, and let the exact evaluation say whether it is right.

A table holds nine numbers for each position and learns them by playing against itself on 64 boards. One small function
says what a move is worth: `negamax`, or `hopeful`, which assumes an opponent that moves at random. Write another one,
add it to `TARGETS`, and choose it with `--target`.

By default it plays for a few seconds. `negamax` is then proved unbeatable with seed 0; with another seed it may need
`--steps 20000`. `hopeful` loses some games, even with more steps: more games do not fix a wrong target.
"""

from collections import defaultdict
from collections.abc import Callable

import gymnasium
import numpy as np
import tyro

import selfplay
from tictactoe import Rules

BOARDS, EPSILON, ALPHA = 64, 0.5, 0.5
Target = Callable[[float, np.ndarray], float]
"""Maps the mover's reward and what the opponent's cells are worth to the opponent, [n], to the worth of a move."""


def negamax(reward: float, replies: np.ndarray) -> float:
    """Zero sum: what the position is worth to an opponent that plays its best, it costs the seat that has moved."""
    return reward - float(replies.max(initial=-np.inf)) if len(replies) else reward


def hopeful(reward: float, replies: np.ndarray) -> float:
    """Hope that the opponent plays any of its cells."""
    return reward - float(replies.mean()) if len(replies) else reward


TARGETS: dict[str, Target] = {"negamax": negamax, "hopeful": hopeful}


def main(target: str = "negamax", steps: int = 8_000, seed: int = 0) -> selfplay.Verdict:
    """Play `steps` steps on each of 64 boards, and evaluate the table's greedy moves."""
    if target not in TARGETS:
        raise SystemExit(f"there is no target {target!r}; choose one of {', '.join(TARGETS)}")
    generator = np.random.default_rng(seed)
    table: dict[bytes, np.ndarray] = defaultdict(lambda: np.zeros(9))  # an observation -> the worth of each cell
    envs = gymnasium.make_vec("tictactoe:TicTacToe-v0", num_envs=BOARDS, autoreset_mode="SameStep")
    observations, infos = envs.reset(seed=seed)
    for _ in range(steps):
        masks = infos["action_mask"] == 1
        values = np.array([table[observation.tobytes()] for observation in observations])
        wanted = np.where(generator.random((BOARDS, 1)) < EPSILON, generator.random((BOARDS, 9)), values)
        actions = np.where(masks, wanted, -np.inf).argmax(axis=1)
        next_observations, rewards, terminations, _, infos = envs.step(actions)
        for board, action in enumerate(actions):
            after = next_observations[board]
            empty = after[..., 0].ravel() == 1 if not terminations[board] else np.zeros(9, bool)
            entry = table[observations[board].tobytes()]
            entry[action] += ALPHA * (TARGETS[target](rewards[board], table[after.tobytes()][empty]) - entry[action])
        observations = next_observations

    def agent(observation: np.ndarray) -> int:
        """Return the empty cell that is worth most: a function of one observation is an agent."""
        return int(np.where(observation[..., 0].ravel() == 1, table[observation.tobytes()], -np.inf).argmax())

    proof = selfplay.evaluate(agent, Rules())
    ways = f"{proof.first.ways_to_beat} + {proof.second.ways_to_beat}"
    print(f"{target}: unbeatable {proof.unbeatable}, ways to beat it as X + as O {ways}", end=", ")
    print(f"exploitability {proof.exploitability}")
    return proof


if __name__ == "__main__":
    tyro.cli(main)
