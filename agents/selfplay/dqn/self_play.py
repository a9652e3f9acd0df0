"""The DQN on one screen: act, step, remember, learn, on many boards at once, each at a ply of its own."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import torch

from selfplay.dqn import standing
from selfplay.dqn.agent import DQNAgent, Update
from selfplay.dqn.beginnings import Beginnings
from selfplay.dqn.canonical import Canonical
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.cuda_graph import Positions, recorded
from selfplay.dqn.devices import check_room, choose_device
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.network import NetworkFactory, network_name
from selfplay.dqn.player import OWN_NETWORK, QPlayer
from selfplay.dqn.schedules import linear
from selfplay.errors import UserError
from selfplay.learner import State
from tictactoe import batch
from tictactoe.rewards import named_rewards
from tictactoe.tree import IntArray

LEARNED = ("weights", "target_weights", "adam_mean", "adam_square")
"""What an update changes, by its name in an agent's state."""


class DQNLearner:
    """Learn by playing itself; `steps` counts plies, `updates` those of each network.

    `network` makes a network of one's own in place of the one that the settings describe: it is called with
    the rules and returns a module from [B, 3A] to [B, A].

    Raises:
        UserError: there is no such device, not the memory for these settings, or the own network does not fit.
    """

    def __init__(
        self, config: DQNConfig, device: torch.device | None = None, network: NetworkFactory | None = None
    ) -> None:
        self.device = device or choose_device(config.device)
        check_room(config, self.device)
        torch.backends.cudnn.deterministic = True  # or convolutions on a GPU would give other bits each time
        # A resumed run goes on where it began, whatever "auto" is there.
        self.config = replace(config, device="cuda" if self.device.type == "cuda" else "cpu")
        self.network = network
        self.stride = config.num_envs
        self.steps = self.updates = 0
        self.epsilon = config.epsilon_start
        self.last_updates: list[Update] = []
        """The newest update of each agent; empty before the first."""
        self.canonical = Canonical(config.rules, self.device) if config.symmetry == "canonical" else None
        try:
            self.agents = make_agents(self.config, self.device, network)
            self.beginnings = (
                Beginnings(config.rules, config.counterexamples, self.device) if config.counterexamples else None
            )
            self.positions = self.look(standing.new_boards(config, self.device))
        except (RuntimeError, MemoryError) as error:  # what PyTorch and NumPy raise when memory does not suffice
            raise UserError(f"the networks and the replay memory cannot be made on {self.device}: {error}") from None
        self._iterate = recorded(self.iterate, self.agents.seats[0].generator, self.device)
        self._rewards = named_rewards(config.rewards)

    def advance(self, _most: int = 0) -> None:
        """Play one ply on every board, however few are asked for, and learn from it after the warm-up."""
        config = self.config
        self.epsilon = linear(config.epsilon_start, config.epsilon_end, config.epsilon_plies, self.steps)
        self.steps += config.num_envs
        learning = self.steps >= config.warmup
        self.positions, self.last_updates = self._iterate(self.positions, self.epsilon, learning)
        self.updates += config.updates_per_step if learning else 0

    def iterate(
        self, positions: Positions, epsilon: float | torch.Tensor, learning: bool
    ) -> tuple[Positions, list[Update]]:
        """Return the next positions and the last update of each agent."""
        # Act: each board's seat to move decides, at times at random.
        boards, seen, symmetry = positions
        seat = torch.as_tensor(boards.to_play)
        actions = self.agents.explore(seen, seat, epsilon)

        # Step: one ply on every board; ended games make room for new ones.
        cells = actions if self.canonical is None else self.canonical.cells(actions, symmetry)
        chosen = cells.numpy() if isinstance(boards.mover, numpy.ndarray) else cells
        played = batch.step(self.config.rules, self._rewards, boards, chosen)
        terminated = torch.as_tensor(played.terminated)
        after = self.look(self.begun(batch.restart(played.state, played.terminated), terminated))

        # Remember: what was seen, done and got, with the agent that did it.
        reward, other_reward = torch.as_tensor(played.reward), torch.as_tensor(played.other_reward)
        self.agents.remember(seat, seen, actions, reward, other_reward, terminated, after.seen)

        # Learn: some updates of every agent.
        updates: list[Update] = []
        for _ in range(self.config.updates_per_step if learning else 0):
            updates = self.agents.learn()
        return after, updates

    def begun(self, boards: batch.State, ended: torch.Tensor) -> batch.State:
        """Return the boards with some of the new games at what the last proof found wrong."""
        if self.beginnings is None:
            return boards
        return self.beginnings.begin(boards, ended, self.agents.seats[0].generator)

    def look(self, boards: batch.State) -> Positions:
        """Return the boards with what their movers see, [B, 3A]."""
        planes = batch.observe(self.config.rules, boards, self.config.perspective)
        seen = torch.as_tensor(planes).flatten(1).float()
        if self.canonical is None:
            return Positions(boards, seen, torch.zeros_like(seen[:, 0], dtype=torch.int64))
        image = self.canonical.image(seen)
        return Positions(boards, image.inputs, image.symmetry)

    @property
    def takes_counterexamples(self) -> bool:
        """Tell whether it begins games at what a proof finds wrong."""
        return self.beginnings is not None

    def teach(self, mover: IntArray, opponent: IntArray) -> None:
        """Begin some of the games from now on at these positions, bitboards [n]."""
        assert self.beginnings is not None
        self.beginnings.replace(mover, opponent)

    def player(self) -> QPlayer:
        """Return the greedy player of the moment, which learns on with the agents."""
        return self.agents.player()

    def finish(self) -> bool:
        """Tell that nothing comes after the last step."""
        return False

    def metrics(self) -> dict[str, float]:
        """Return the newest loss and values, and how much is explored, by TensorBoard tag."""
        metrics: dict[str, float] = {"explore/epsilon": self.epsilon}
        if self.last_updates:
            losses, values = zip(*self.last_updates, strict=True)
            metrics |= {"loss/td": float(torch.stack(losses).mean()), "q/mean": float(torch.cat(values).mean())}
        return metrics

    def check_finite(self) -> None:
        """Wait for the device.

        Raises:
            UserError: the last losses are not finite, or what learning has changed, as which the next would not be.
        """
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)
        numbers = [update.loss for update in self.last_updates]
        numbers += [agent.state()[name] for agent in self.agents.distinct for name in LEARNED]
        if not all(bool(number.isfinite().all()) for number in numbers):
            raise UserError("the loss is no longer finite; lower --learning-rate")

    def notes(self) -> Mapping[str, str]:
        """Return the name of the network that is not of the settings, if there is one."""
        return {} if self.network is None else {OWN_NETWORK: network_name(self.network)}

    def write_report(self, folder: Path) -> None:
        """Write nothing but what every run leaves."""

    def state(self) -> State:
        """Return all that training changes; the last updates are not, since a step makes new ones."""
        return standing.packed(
            self.agents, self.beginnings, self.positions.boards, {"plies": self.steps, "updates": self.updates}
        )

    def restore(self, state: State, written_with: Mapping[str, Any]) -> None:
        """Become what `state` said earlier, in a run with the settings `written_with`.

        On another device than that of the earlier run random draws begin anew: no generator goes on with another's.

        Raises:
            UserError: no such run can have stood so.
        """
        same_device = written_with.get("device") == self.device.type
        boards = standing.unpacked(self.agents, self.beginnings, self.config, state, self.device, same_device)
        self.positions = self.look(boards)
        self.steps, self.updates = state.counters["plies"], state.counters["updates"]


def make_agents(config: DQNConfig, device: torch.device, network: NetworkFactory | None = None) -> InterleavedAgents:
    """Return one agent for both seats or one for each, with a generator seeded by the run's seed."""
    generator = torch.Generator(device).manual_seed(config.seed)
    first = DQNAgent(config, device, generator, network)
    if config.networks == "shared":
        return InterleavedAgents([first, first])
    return InterleavedAgents([first, DQNAgent(config, device, generator, network)])
