"""Deep Q-learning for two players, from top to bottom.

One network Q(s, a) tells the mover what marking cell a in position s is worth to it. It learns by playing
against itself. Each iteration of `InterleavedSelfPlay.advance` plays one ply on every board and learns:

1. Act. On each board the seat to move takes the cell with the largest Q, or with probability epsilon a random one.
   A game that starts at a counterexample may begin with the reply that beat the player. In some games an earlier
   snapshot of the player holds one of the seats (`DQNConfig.opponents`, in `pool.py`).
2. Step. The environment plays the cells. Finished games make room for new ones.
3. Store. Each transition (s, a, r, s') goes to the replay memory of the agent that acted.
4. Learn. Each agent samples a batch of transitions, computes their targets, and takes one step of Adam or Muon on
   Huber's loss of Q(s, a) and the target, or on the squared error (`DQNConfig.loss`). The target network then follows
   the network slowly.

The player that is evaluated plays with a third network, the average of the network over the whole training.

What differs from a game against an environment is the target, because s' is the opponent's turn. Three ways to
bootstrap from it can be chosen by name (`DQNConfig.target`):

- "negamax": r - gamma * max_a' Q(s', a'), valued by the opponent's target network. What is good for the opponent is
  bad for me. This is minimax Q-learning for a zero-sum game with alternating turns (Littman 1994).
- "independent": r + gamma * max_a' Q(s'', a'), where s'' is my own next turn. The opponent's reply is part of the
  environment: the transition is stored once the reply is known, and the reward that the reply brings me is added to r.
  No clear difference from "negamax" was measured (docs/results.md).
- "article": r + gamma * max_a' Q(s', a'). The published wrapper, which treats the opponent's turn as my own. Kept to
  show why it fails.

To add a target or another update, change `BOOTSTRAPS`, `td_target` or `DQNAgent.update`. What training changes belongs
to `DQNAgent.own_tensors` or to the state in `learner.py`, which checkpoints hold. The page's playground has its own
targets, in `self_play.js` and `dqn_learner.js`. Tests to extend: `dqn/test_targets.py`, `SETTINGS` in
`runs/test_crash_and_resume.py` and `web/test_playground_engine.py`.

Source: Mnih et al. (2015), doi:10.1038/nature14236; double DQN: van Hasselt et al. (2016), arXiv:1509.06461; average:
Lacoste-Julien et al. (2012), arXiv:1212.2002.

Shapes: B boards or samples, A cells (= actions). A network sees 3A numbers per board, the flattened one-hot planes.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.adam import adam

from selfplay.dqn.config import DQNConfig, Target
from selfplay.dqn.counterexample_starts import CounterexampleStarts
from selfplay.dqn.muon import muon, suits_muon
from selfplay.dqn.network import NetworkFactory, legal_cells, make_network, mask_illegal, of_mover
from selfplay.dqn.player import QPlayer
from selfplay.dqn.pool import EVERY, SnapshotPool
from selfplay.dqn.symmetry import BoardSymmetries
from selfplay.judge.teach import ANY
from tictactoe import batch
from tictactoe.rewards import named_rewards

# Replay memory


class Transitions(NamedTuple):
    """A batch of transitions."""

    observation: Tensor
    """[B, 3A] float32: what the mover saw."""
    action: Tensor
    """[B] int64: the cell that it chose, of the board as it saw it."""
    next_observation: Tensor
    """[B, 3A] float32: the position that the target bootstraps from."""
    reward: Tensor
    """[B] float32: to the seat that acted."""
    continues: Tensor
    """[B] float32: 1 where the game continues after it, 0 where it has ended."""


def no_transitions(count: int, cells: int, device: torch.device) -> Transitions:
    """Return transitions that are all zeros: finished games worth nothing."""
    with device:
        return Transitions(
            observation=torch.zeros(count, 3 * cells),
            action=torch.zeros(count, dtype=torch.int64),
            next_observation=torch.zeros(count, 3 * cells),
            reward=torch.zeros(count),
            continues=torch.zeros(count),
        )


class ReplayMemory:
    """The newest `capacity` transitions, in a ring buffer, sampled with replacement."""

    def __init__(self, capacity: int, cells: int, device: torch.device) -> None:
        self.capacity = capacity
        self.transitions = no_transitions(capacity, cells, device)
        self.added = 0
        """Transitions that were ever added."""

    @property
    def filled(self) -> int:
        """Return how many transitions can be sampled.

        An empty memory counts as one finished game that is worth nothing, made of zeros. A memory is empty only where a
        seat has not completed a move yet, or never does, as the second seat on a board where one mark wins.
        """
        return max(1, min(self.added, self.capacity))

    def add(self, transitions: Transitions) -> None:
        """Store transitions, at most `capacity`, over the oldest ones."""
        count = len(transitions.action)
        slots = torch.arange(self.added, self.added + count, device=transitions.action.device) % self.capacity
        for stored, new in zip(self.transitions, transitions, strict=True):
            stored.index_copy_(0, slots, new)
        self.added += count

    def sample(self, batch_size: int, generator: torch.Generator) -> Transitions:
        """Sample transitions uniformly."""
        # The remainder of a 62-bit number is uniform to within one part in 10^11 for any memory that fits a machine.
        numbers = torch.randint(1 << 62, (batch_size,), generator=generator, device=generator.device)
        return self.at(numbers % self.filled)

    def at(self, rows: Tensor) -> Transitions:
        """Return the transitions in these rows [n] int64 of the ring buffer."""
        return Transitions(*(stored.index_select(0, rows) for stored in self.transitions))


# Targets


def best_value(agent: "DQNAgent", observation: Tensor) -> Tensor:
    """Return what the best actions [B] in observations [B, 3A] are worth to an agent, by its target network.

    Double DQN chooses them with the online network, otherwise the target network does.
    """
    values = agent.values(agent.target_network, observation)
    choice = agent.values(agent.network, observation) if agent.config.double else values
    return values.gather(1, agent.best(choice, observation)[:, None])[:, 0]


def plain_reward(agent: "DQNAgent", transitions: Transitions) -> Tensor:  # noqa: ARG001 (others depend on the agent)
    """Return the rewards [B] as they are."""
    return transitions.reward


class Bootstrap(NamedTuple):
    """The position that a target bootstraps from, and how its value counts for the seat that acted."""

    plies: int
    """1, the position after the action, or 2, after the reply, whose reward is added without a discount."""
    own_turn: bool
    """Whether the seat that acted is taken to move there: its own network values the position, else the opponent's."""
    sign: int
    """1 if what is good for the seat to move there is good for the seat that acted, -1 if it is bad."""
    value: Callable[["DQNAgent", Tensor], Tensor] = best_value
    """From the agent that values the position, and what the seat to move there sees [B, 3A], to its value [B].

    It must be finite also where no cell is empty, as in finished games, whose value is multiplied by 0."""
    reward: Callable[["DQNAgent", Transitions], Tensor] = plain_reward
    """From the agent that acted, and its transitions, to what they pay [B]: a bonus for the action would come here."""


BOOTSTRAPS: dict[Target, Bootstrap] = {
    "negamax": Bootstrap(plies=1, own_turn=False, sign=-1),
    "independent": Bootstrap(plies=2, own_turn=True, sign=1),
    "article": Bootstrap(plies=1, own_turn=True, sign=1),
}


def td_target(target: Target, reward: Tensor, continues: Tensor, value: Tensor, gamma: float) -> Tensor:
    """Return what Q(s, a) should be, [B]: the reward, and while the game continues the discounted bootstrap value."""
    return torch.addcmul(reward, continues, value, value=BOOTSTRAPS[target].sign * gamma)


# The agent


class Update(NamedTuple):
    """Measurements of one update, as tensors on the device."""

    loss: Tensor
    """Mean over the batch of the squared TD error, or of Huber's loss."""
    values: Tensor
    """[batch_size]: Q(s, a) of the sampled transitions, before the update."""


class DQNAgent:
    """An agent that learns action values from its own transitions.

    It knows observations, not boards or seats: `observation[:, ::3]` marks the empty cells, and by default `[:, 1::3]`
    the mover's and `[:, 2::3]` the opponent's. All random numbers come from `generator`, which is on `device`.

    `selfplay.train(agent=...)` trains a subclass. What it adds may change during training only if `own_tensors` returns
    it.
    """

    def __init__(
        self,
        config: DQNConfig,
        device: torch.device,
        generator: torch.Generator,
        network_factory: NetworkFactory | None = None,
    ) -> None:
        rules = config.rules
        self.config = config
        self.generator = generator
        self.memory = ReplayMemory(config.memory_size, rules.cells, device)
        self.symmetries = BoardSymmetries(rules, device) if config.symmetry == "augment" else None
        self.network = make_network(config, device, generator, network_factory)
        self.target_network = copy.deepcopy(self.network).requires_grad_(False)
        self.average_network = copy.deepcopy(self.network).requires_grad_(False)
        self.weights: list[Tensor] = list(self.network.parameters())
        self.target_weights: list[Tensor] = list(self.target_network.parameters())
        self.average_weights: list[Tensor] = list(self.average_network.parameters())
        self.first_moments = [torch.zeros_like(weights) for weights in self.weights]
        self.second_moments = [torch.zeros_like(weights) for weights in self.weights]
        self.adam_steps = [torch.zeros((), device=device) for _ in self.weights]
        self.updates = 0

    def values(self, network: nn.Module, observation: Tensor) -> Tensor:
        """Return the action values [B, A] of observations [B, 3A] by one of the agent's networks.

        Acting, targets and updates all ask here, so a subclass may turn other outputs into values.
        """
        values: Tensor = network(observation)
        return values

    def best(self, values: Tensor, observation: Tensor) -> Tensor:
        """Return the actions [B] with the highest values [B, A], with `mask` among the legal ones."""
        return mask_illegal(values, legal_cells(observation) if self.config.mask else None).argmax(dim=1)

    @torch.no_grad()
    def act(self, observation: Tensor, epsilon: float) -> Tensor:
        """Choose actions [B] for observations [B, 3A]: the greedy one, or with probability epsilon a random one."""
        values = self.values(self.network, observation)
        greedy = self.best(values, observation)
        # The largest of A independent uniform numbers is equally likely to be any of them.
        numbers = torch.rand(len(values), values.shape[1] + 1, generator=self.generator, device=values.device)
        explorable = legal_cells(observation) if self.config.explore == "legal" else None
        explored = mask_illegal(numbers[:, :-1], explorable).argmax(dim=1)
        return torch.where(numbers[:, -1] < epsilon, explored, greedy)

    def sample(self) -> Transitions:
        """Sample a batch from the memory, each transition turned and reflected at random with `symmetry="augment"`."""
        transitions = self.memory.sample(self.config.batch_size, self.generator)
        if self.symmetries is None:
            return transitions
        observation, action, next_observation = self.symmetries.augment(*transitions[:3], self.generator)
        return transitions._replace(observation=observation, action=action, next_observation=next_observation)

    @torch.no_grad()
    def targets(self, transitions: Transitions, opponent: "DQNAgent") -> Tensor:
        """Return the targets [B] of transitions; a subclass may compute other ones.

        `opponent` holds the other seat and may be this same agent.
        """
        bootstrap = BOOTSTRAPS[self.config.target]
        value = bootstrap.value(self if bootstrap.own_turn else opponent, transitions.next_observation)
        reward = bootstrap.reward(self, transitions)
        return td_target(self.config.target, reward, transitions.continues, value, self.config.gamma)

    def update(self, transitions: Transitions, targets: Tensor) -> Update:
        """Take one gradient step towards the targets [B], and let the target network and the average follow."""
        values = self.values(self.network, transitions.observation)
        values = values.gather(1, transitions.action[:, None])[:, 0]
        loss = self.losses(values, targets).mean()
        self.network.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.updates += 1
        self.descend(learning_rate(self.config, self.updates))
        self.follow()
        self.average()
        return Update(loss.detach(), values.detach())

    def losses(self, values: Tensor, targets: Tensor) -> Tensor:
        """Return the loss [B] of each value and its target: Huber's loss, or the squared error."""
        loss = nn.functional.huber_loss if self.config.loss == "huber" else nn.functional.mse_loss
        return loss(values, targets, reduction="none")

    @torch.no_grad()
    def descend(self, rate: float) -> None:
        """Take one step of Adam along the gradients of the weights, or of Muon for those that suit it (`optimizer`).

        Adam is PyTorch's function: an object of `torch.optim` would load PyTorch's compiler, which takes over a second.
        """
        # A custom network may have weights that nothing depends on, and that get no gradient.
        gradients = [torch.zeros_like(each) if each.grad is None else each.grad for each in self.weights]
        by_adam = [self.config.optimizer == "adam" or not suits_muon(weights) for weights in self.weights]
        for adams, weights, gradient, momentum in zip(
            by_adam, self.weights, gradients, self.first_moments, strict=True
        ):
            if not adams:
                muon(weights, gradient, momentum, rate)
        adam(
            list(compress(self.weights, by_adam)),
            list(compress(gradients, by_adam)),
            list(compress(self.first_moments, by_adam)),
            list(compress(self.second_moments, by_adam)),
            [],
            list(compress(self.adam_steps, by_adam)),
            fused=True,
            amsgrad=False,
            beta1=0.9,
            beta2=0.999,
            lr=rate,
            weight_decay=0.0,
            eps=1e-8,
            maximize=False,
        )

    @torch.no_grad()
    def follow(self) -> None:
        """Move the target network towards the network, or copy the network to it now and then."""
        config = self.config
        if not config.hard_update:
            torch._foreach_lerp_(self.target_weights, self.weights, config.soft_update)  # one call, not one per layer
        elif self.updates % config.hard_update == 0:
            torch._foreach_copy_(self.target_weights, self.weights)

    @torch.no_grad()
    def average(self) -> None:
        """Let the average follow the weights: in it the n-th update counts about n to the power `average_power`.

        Source: polynomial-decay averaging, Shamir and Zhang (2013), arXiv:1212.1824.
        """
        power = self.config.average_power
        torch._foreach_lerp_(self.average_weights, self.weights, (power + 1) / (self.updates + power))

    def own_tensors(self) -> Mapping[str, Tensor]:
        """Return, by name, the tensors that only a subclass has and that training changes in place.

        A checkpoint saves and restores them with everything else.
        """
        return {}


def learning_rate(config: DQNConfig, update: int) -> float:
    """Return the learning rate of an update, counted from 1: constant at first, then in proportion to 1 / updates."""
    if config.learning_rate_hold == 0:
        return config.learning_rate
    return config.learning_rate * min(1.0, config.learning_rate_hold / update)


def exploration(config: DQNConfig, plies: int) -> float:
    """Return the probability of a random move after some plies: from start to end in a straight line."""
    if plies >= config.epsilon_plies:
        return config.epsilon_end
    return config.epsilon_start + (config.epsilon_end - config.epsilon_start) * plies / config.epsilon_plies


# Interleaved self-play


class InterleavedSelfPlay:
    """Self-play on `config.num_envs` boards at once, whose games are at different plies.

    One agent holds both seats, or one agent each (`config.networks`), of class `agent`. The agent whose seat is to move
    acts and learns from the transition. Boards are NumPy arrays, networks and memories are on `device`.
    """

    def __init__(
        self,
        config: DQNConfig,
        device: torch.device,
        network_factory: NetworkFactory | None = None,
        agent: type[DQNAgent] = DQNAgent,
    ) -> None:
        self.config = config
        self.device = device
        self.generator = torch.Generator(device).manual_seed(config.seed)
        count = 1 if config.networks == "shared" else 2
        self.agents = [agent(config, device, self.generator, network_factory) for _ in range(count)]
        """One for both seats, or the first seat's and the second's."""
        self.plies = 0
        """Plies played on all boards together."""
        self.epsilon = exploration(config, self.plies)
        self.last_updates: Sequence[Update] = []
        """The newest update of each agent; empty before the first."""
        self.symmetries = BoardSymmetries(config.rules, device) if config.symmetry == "canonical" else None
        self.starts = None
        if config.counterexamples:
            self.starts = CounterexampleStarts(config.rules, config.counterexamples, config.counterexamples_kept)
        self.pool = SnapshotPool(self.networks, config.num_envs, device) if config.opponents == "snapshots" else None
        self.boards = batch.reset(config.rules, config.num_envs, np)
        self.next_move = torch.full((config.num_envs,), ANY, device=device)
        """[B] int64: the cell to be marked next on each board, at the start of a game, or `ANY`."""
        self.observation, self.symmetry = self.observe()
        self.waiting = None
        """The last ply of every board, if the position to bootstrap from comes after the reply: where its game
        continues, it waits for that."""
        if BOOTSTRAPS[config.target].plies == 2:
            self.waiting = no_transitions(config.num_envs, config.rules.cells, device)
        self._rewards = named_rewards(config.rewards)

    def advance(self) -> None:
        """Play one ply on every board, and learn from it once `config.warmup` plies are played."""
        config = self.config
        self.epsilon = exploration(config, self.plies)
        self.plies += config.num_envs

        # Act
        seat = self._tensor(self.boards.to_play)
        observation = self.observation
        actions = self.act(observation, seat)

        # Step
        cells = actions if self.symmetries is None else self.symmetries.cells(actions, self.symmetry)
        played = batch.step(config.rules, self._rewards, self.boards, cells.cpu().numpy())
        self.boards = batch.restart(played.state, played.terminated)
        if self.starts is not None:
            self.boards, next_move = self.starts.start_games(self.boards, played.terminated, self.generator)
            self.next_move.copy_(next_move)
        if self.pool is not None:
            self.pool.start_games(self._tensor(played.terminated), self.generator)
        self.observation, self.symmetry = self.observe()

        # Store
        reward, other_reward = self._tensor(played.reward), self._tensor(played.other_reward)
        continues = 1 - self._tensor(played.terminated).float()
        self.store(seat, Transitions(observation, actions, self.observation, reward, continues), other_reward)

        # Learn
        if self.plies >= config.warmup:
            for _ in range(config.updates_per_step):
                self.last_updates = self.learn()

    def observe(self) -> tuple[Tensor, Tensor]:
        """Return what each board's mover sees, [B, 3A], and which image of the board that is, [B] int64."""
        planes = batch.observe(self.config.rules, self.boards, self.config.perspective)
        observation = self._tensor(planes).flatten(1).float()
        if self.symmetries is None:
            return observation, torch.zeros(len(observation), dtype=torch.int64, device=self.device)
        image = self.symmetries.canonical(observation)
        return image.observation, image.symmetry

    @torch.no_grad()
    def act(self, observation: Tensor, seat: Tensor) -> Tensor:
        """Return the actions [B]: each is the next move if there is one, or that of who holds the seat to move."""
        chosen = of_mover(seat, [agent.act(observation, self.epsilon) for agent in self.agents])
        if self.pool is not None:
            for number, snapshot in enumerate(self.pool.snapshots):
                boards = self.pool.boards_of(number, seat)
                seen, networks = observation[boards], zip(self.agents, snapshot.children(), strict=True)
                best = [agent.best(agent.values(network, seen), seen) for agent, network in networks]
                chosen = chosen.index_copy(0, boards, of_mover(seat[boards], best))
        if self.starts is None:
            return chosen
        given = self.next_move.clamp(min=0)
        if self.symmetries is not None:
            given = self.symmetries.image_cells(given, self.symmetry)
        return torch.where(self.next_move == ANY, chosen, given)

    def store(self, seat: Tensor, transitions: Transitions, other_reward: Tensor) -> None:
        """Store one ply of every board with the agent that acted.

        `other_reward` [B] went to the seat that did not act. A transition is stored when the position that its target
        bootstraps from is reached, or when its game ends; what it earns until then is added to its reward.
        """
        if self.waiting is None:
            self._add(seat, transitions)
            return
        before = self.waiting
        reward = before.reward + other_reward
        complete = transitions._replace(observation=before.observation, action=before.action, reward=reward)
        self._add(1 - seat, complete, before.continues == 1)
        self._add(seat, transitions, transitions.continues == 0)
        self.waiting = transitions

    def _add(self, seat: Tensor, transitions: Transitions, chosen: Tensor | None = None) -> None:
        """Add the transitions marked in `chosen` [B] bool (all without it) to the memories of the agents that acted."""
        for number, agent in enumerate(self.agents):
            rows = chosen
            if len(self.agents) > 1:
                rows = seat == number if chosen is None else chosen & (seat == number)
            agent.memory.add(transitions if rows is None else Transitions(*(field[rows] for field in transitions)))

    def learn(self) -> list[Update]:
        """Update each agent once, all from the same moment: no agent sees another's update."""
        batches = [agent.sample() for agent in self.agents]
        targets = [
            agent.targets(sampled, opponent)
            for agent, sampled, opponent in zip(self.agents, batches, reversed(self.agents), strict=True)
        ]
        updates = [
            agent.update(sampled, target) for agent, sampled, target in zip(self.agents, batches, targets, strict=True)
        ]
        if self.pool is not None and self.agents[0].updates % EVERY == 0:
            self.pool.take(self.networks, self.generator)
        return updates

    def player(self) -> QPlayer:
        """Return the greedy player of these agents, which keeps learning with them.

        It plays with their averages. The network changes its mind at every update about moves that are worth the same,
        and each time its play leads to positions that it knows less well. The average rarely does.
        """
        return QPlayer(self.config, self.networks)

    @property
    def networks(self) -> tuple[nn.Module, ...]:
        """Return the networks of the player: one for both seats, or the first seat's and the second's."""
        return tuple(agent.average_network for agent in self.agents)

    def _tensor(self, array: object) -> Tensor:
        return torch.as_tensor(array, device=self.device)
