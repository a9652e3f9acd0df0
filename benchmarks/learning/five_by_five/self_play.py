"""The self-play from which `learn_from_all_play.py` goes on: three rounds of messages, and an agent that closes lines.

python benchmarks/learning/five_by_five/self_play.py SEED RUN
"""

import sys

import torch
from torch import Tensor

import selfplay
from selfplay import DQNAgent
from selfplay.dqn.dqn import Transitions
from selfplay.dqn.network import line_cells
from tictactoe import Rules

RULES = Rules(5, 5, 4)
CLOSING = 0.1
"""Reward for each line that a mark closes to the opponent: the more are closed, the fewer positions must be followed."""
EPSILON = (0.05, 0.95)
"""Share of random moves on the first board and on the last."""
FALLING, FALLEN, LEAST = 9_000, 13_000, 0.03
"""Updates between which the learning rate falls in a straight line, to this part of it."""


class ClosingAgent(DQNAgent):
    """An agent that explores differently on each board, and is rewarded for lines that it closes."""

    def act(self, observation: Tensor, epsilon: float) -> Tensor:  # noqa: ARG002
        """Choose actions [B] for observations [B, 3A]."""
        return super().act(observation, torch.linspace(*EPSILON, len(observation)))

    def targets(self, transitions: Transitions, opponent: DQNAgent) -> Tensor:
        """Return the targets [B], with the reward for closed lines."""
        lines = line_cells(RULES, transitions.action.device)
        unmarked = transitions.observation[:, 1::3] @ lines.t() == 0
        closed = (lines.t()[transitions.action] * unmarked).sum(dim=1)
        return super().targets(transitions._replace(reward=transitions.reward + CLOSING * closed), opponent)

    def descend(self, rate: float) -> None:
        """Take a step at a learning rate that falls at the end."""
        fallen = (self.updates - FALLING) / (FALLEN - FALLING)
        super().descend(rate * min(1, max(LEAST, 1 - (1 - LEAST) * fallen)))


if __name__ == "__main__":
    seed, run = sys.argv[1:]
    torch.set_num_threads(1)
    selfplay.train(
        agent=ClosingAgent,
        rules=RULES,
        seed=int(seed),
        message_rounds=3,
        message_width=64,
        hidden=(64, 64),
        memory_size=200_000,
        learning_rate=6e-3,
        learning_rate_hold=3_000,
        eval_every=38_400,
        total_steps=1_843_200,
        run_dir=run,
    )
