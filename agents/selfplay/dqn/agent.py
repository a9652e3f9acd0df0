"""The DQN agent: Q-network, target network, replay memory, and one update of them."""

import copy
from collections.abc import Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.dqn.adam import Adam
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.network import NetworkFactory, flatten_parameters, make_network
from selfplay.dqn.replay import ReplayMemory
from selfplay.dqn.rule import RuleRating
from selfplay.dqn.targets import BOOTSTRAPS, bootstrap_value, masked, td_target
from selfplay.dqn.transitions import Layout, Symmetry, Transitions


class Update(NamedTuple):
    """Report one update, on the device, so that nobody waits for it who does not read it."""

    loss: Tensor
    """Mean squared TD error."""
    values: Tensor
    """[batch_size]: the values of the actions that were taken."""


class DQNAgent:
    """Learn action values from its own transitions.

    It sees boards only as network inputs [B, 3A] float32 and knows nothing of environments, seats,
    evaluation or logging. `generator` is on the agent's device and is its only source of randomness.
    Nothing that it does waits for the device or depends on what is computed there.
    """

    def __init__(
        self,
        config: DQNConfig,
        device: torch.device,
        generator: torch.Generator,
        network: NetworkFactory | None = None,
    ) -> None:
        rules = config.rules
        self.config = config
        self.generator = generator
        self.layout = Layout(rules.cells)
        self.memory = ReplayMemory(config.memory_size, self.layout.width, device)
        self.symmetry = Symmetry(rules, device) if config.symmetry == "augment" else None
        self.rule = RuleRating(rules, device) if config.rule_weight else None

        self.network = make_network(config, device, generator, network)
        self.target_network = copy.deepcopy(self.network).requires_grad_(False)
        self._flat = flatten_parameters(self.network)
        self._flat_target = flatten_parameters(self.target_network)
        rate, hold = config.learning_rate, config.learning_rate_hold
        self.optimizer = Adam(self._flat.weights, self._flat.gradient, rate, hold)

    @property
    def updates(self) -> Tensor:
        """Return how many there have been: the optimizer's steps, counted on the device."""
        return self.optimizer.steps

    def state(self) -> dict[str, Tensor]:
        """Return all that learning changes, the generator left out, by names that are always the same."""
        return {
            "weights": self._flat.weights.detach(),
            "target_weights": self._flat_target.weights.detach(),
            "adam_mean": self.optimizer.mean,
            "adam_square": self.optimizer.square,
            "memory": self.memory.table,
            "memory_added": self.memory.added,
            "updates": self.updates,
        }

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Become what `state` said earlier; networks and memory stay the same objects."""
        for name, tensor in self.state().items():
            tensor.copy_(state[name])

    @torch.no_grad()
    def explore(self, inputs: Tensor, epsilon: float | Tensor) -> Tensor:
        """Choose actions [B] for inputs [B, 3A]: the greedy one, or with probability epsilon a random one."""
        values = self.network(inputs)
        if self.rule is not None:
            values = values + self.config.rule_weight * self.rule(inputs)
        greedy = masked(values, self.layout.legal(inputs) if self.config.mask else None).argmax(dim=1)
        # The largest of independent uniform numbers is equally likely to be any of them. Of A + 1 numbers
        # for each board A draw the cell, and the last decides whether it counts.
        numbers = torch.rand((len(values), self.layout.cells + 1), generator=self.generator, device=values.device)
        lots = masked(numbers[:, :-1], self.layout.legal(inputs) if self.config.explore == "legal" else None)
        return torch.where(numbers[:, -1] < epsilon, lots.argmax(dim=1), greedy)

    def sample(self) -> Transitions:
        """Draw a batch from the memory, each transition turned and reflected at random."""
        rows = self.memory.sample(self.config.batch_size, self.generator)
        if self.symmetry is not None:
            rows = self.symmetry(rows, self.generator)
        return self.layout.unpack(rows)

    @torch.no_grad()
    def targets(self, transitions: Transitions, opponent: "DQNAgent") -> Tensor:
        """Return what the value of each transition's action should be, [B].

        `opponent` is the agent in the other seat, which is this one where one agent holds both.
        """
        bootstrapper = opponent if BOOTSTRAPS[self.config.target].by_opponent else self
        values = bootstrapper.target_network(transitions.next_observation)
        choice = bootstrapper.network(transitions.next_observation) if self.config.double else values
        legal = self.layout.legal(transitions.next_observation) if self.config.mask else None
        bootstrap = bootstrap_value(values, choice, legal)
        return td_target(self.config.target, transitions.reward, transitions.goes_on, bootstrap, self.config.gamma)

    def update(self, transitions: Transitions, targets: Tensor) -> Update:
        """Take one step towards the targets [B], and let the target network follow."""
        taken = (self.network(transitions.observation) * transitions.action).sum(dim=1)
        loss = torch.nn.functional.mse_loss(taken, targets)
        self._flat.gradient.zero_()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimizer.step()
        self._follow()
        return Update(loss.detach(), taken.detach())

    @torch.no_grad()
    def _follow(self) -> None:
        """Move the target network towards the network: a step of the soft rate, or a copy every N updates."""
        weights, target_weights, every = self._flat.weights, self._flat_target.weights, self.config.hard_update
        if every == 0:
            target_weights.lerp_(weights, self.config.soft_update)
        else:
            target_weights.copy_(torch.where(self.updates % every == 0, weights, target_weights))
