"""Give the DQN a part of your own: prioritized experience replay, trained to a proof.

A transition is sampled more often if its value was far from its target (Schaul et al. 2016, arXiv:1511.05952).
`agent=` takes a subclass of the DQN's agent. Everything else stays the same: settings, self-play, proofs and
checkpoints, which also hold the priorities.

It stops by itself when it is proved unbeatable, after a few seconds. `--resume RUN` continues a run that was
interrupted.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import tyro

import selfplay
from selfplay.dqn.dqn import ReplayMemory, Transitions, Update

ALPHA, BETA = 0.6, 0.4
"""How much an error counts when transitions are sampled, and how much of that their weights take back: 0 is nothing."""
LEAST = 1e-3
"""Added to every error, so that each transition is sampled now and then."""


class PrioritizedMemory(ReplayMemory):
    """A replay memory that samples transitions in proportion to their priorities."""

    def __init__(self, capacity: int, cells: int, device: torch.device) -> None:
        super().__init__(capacity, cells, device)
        self.priorities = torch.zeros(capacity, device=device)

    def add(self, transitions: Transitions) -> None:
        """Store transitions with the highest priority, so that each is soon sampled."""
        before = self.added
        super().add(transitions)
        rows = torch.arange(before, self.added, device=self.priorities.device) % self.capacity
        self.priorities[rows] = self.priorities.max().clamp(min=1.0)

    def sample(self, batch_size: int, generator: torch.Generator) -> Transitions:
        """Sample transitions, and remember their rows."""
        self.sampled = torch.multinomial(self.priorities, batch_size, replacement=True, generator=generator)
        return self.at(self.sampled)


class PrioritizedAgent(selfplay.DQNAgent):
    """A DQN with prioritized experience replay."""

    memory: PrioritizedMemory

    def __init__(self, config: selfplay.DQNConfig, device: torch.device, *others: Any) -> None:
        super().__init__(config, device, *others)
        self.memory = PrioritizedMemory(config.memory_size, config.rules.cells, device)

    def losses(self, values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Return the losses [B], which count for less in transitions that are sampled more often."""
        weights = self.memory.priorities[self.memory.sampled] ** -BETA
        return weights / weights.max() * super().losses(values, targets)

    def update(self, transitions: Transitions, targets: torch.Tensor) -> Update:
        """Learn, and let the errors be the new priorities."""
        update = super().update(transitions, targets)
        self.memory.priorities[self.memory.sampled] = ((targets - update.values).abs() + LEAST) ** ALPHA
        return update

    def own_tensors(self) -> Mapping[str, torch.Tensor]:
        """Return what a checkpoint must hold as well."""
        return {"priorities": self.memory.priorities}


def main(steps: int = 400_000, seed: int = 0, folder: Path | None = None, resume: Path | None = None) -> selfplay.Run:
    """Train for at most `steps` plies, in a new run folder or from where `resume` was interrupted."""
    if resume:
        run = selfplay.train(agent=PrioritizedAgent, resume=resume)
    else:
        run = selfplay.train(agent=PrioritizedAgent, seed=seed, mask=True, total_steps=steps, run_dir=folder)
    print(f"{run.folder}: unbeatable {run.verdict.unbeatable}, exploitability {run.verdict.exploitability}")
    return run


if __name__ == "__main__":
    tyro.cli(main)
