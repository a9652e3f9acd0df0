"""Interleaved self-play: one agent for both seats, or one each, on boards at different plies."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.dqn.agent import DQNAgent, Update
from selfplay.dqn.player import QPlayer, player_of
from selfplay.dqn.targets import BOOTSTRAPS
from selfplay.dqn.transitions import Transitions
from selfplay.errors import UserError


class Unanswered(NamedTuple):
    """Hold each board's last ply, whose transition waits for the opponent's reply."""

    rows: Tensor
    """[B, W]"""
    seat: Tensor
    """[B] int64: the seat that acted."""
    exists: Tensor
    """[B] bool: the game went on after it."""


def _none_unanswered(agent: DQNAgent) -> Unanswered:
    boards, like = agent.config.num_envs, agent.memory.table
    seat = torch.zeros(boards, dtype=torch.int64, device=like.device)
    return Unanswered(like.new_zeros((boards, agent.layout.width)), seat, seat.bool())


class InterleavedAgents:
    """Let each board's move come from the agent whose seat is to move, and teach that agent by it.

    `InterleavedAgents([a, a])` shares one agent between the seats, `InterleavedAgents([a, b])` gives each
    seat its own. `B` is the number of boards, `seat` [B] the seat to move on each.
    """

    def __init__(self, agents: Sequence[DQNAgent]) -> None:
        first, second = agents
        self.seats = (first, second)
        self.shared = first is second
        self.distinct = (first,) if self.shared else (first, second)
        self._one_hot = torch.eye(first.layout.cells, device=first.memory.table.device)
        waits = BOOTSTRAPS[first.config.target].own_next_turn
        self._unanswered = _none_unanswered(first) if waits else None

    def explore(self, inputs: Tensor, seat: Tensor, epsilon: float | Tensor) -> Tensor:
        """Choose epsilon-greedy actions [B] for inputs [B, 3A]."""
        if self.shared:
            return self.seats[0].explore(inputs, epsilon)
        first, second = (agent.explore(inputs, epsilon) for agent in self.seats)
        return torch.where(seat == 0, first, second)

    def remember(
        self,
        seat: Tensor,
        inputs: Tensor,
        actions: Tensor,
        reward: Tensor,
        other_reward: Tensor,
        terminated: Tensor,
        next_inputs: Tensor,
    ) -> None:
        """Store one ply of every board with the agent that acted.

        `inputs` and `next_inputs` [B, 3A] are what the mover before and after the ply saw, `reward` [B] went
        to the seat that acted and `other_reward` [B] to the other. With a target that waits for the
        opponent's reply, a transition is stored when the reply is known or the game has ended.
        """
        layout = self.seats[0].layout
        action = self._one_hot[actions]
        goes_on = (~terminated).to(inputs.dtype)
        rows = layout.pack(Transitions(inputs, action, next_inputs, reward, goes_on))
        if self._unanswered is None:
            self._store(rows, seat, None)
            return
        earlier, earlier_seat, exists = self._unanswered
        observation, action, _, earlier_reward, _ = layout.unpack(earlier)
        closed = Transitions(observation, action, next_inputs, earlier_reward + other_reward, goes_on)
        self._store(layout.pack(closed), earlier_seat, exists)
        self._store(rows, seat, terminated)
        # In place: a recorded CUDA graph reads and writes the same memory each time.
        for kept, new in zip(self._unanswered, (rows, seat, ~terminated), strict=True):
            kept.copy_(new)

    def _store(self, rows: Tensor, seat: Tensor, valid: Tensor | None) -> None:
        if self.shared:
            self.seats[0].memory.add(rows, valid)
            return
        for number, agent in enumerate(self.seats):
            own = seat == number
            agent.memory.add(rows, own if valid is None else own & valid)

    def player(self) -> QPlayer:
        """Return the greedy player that these agents are at any moment; it learns on with them.

        With soft updates it plays with the target networks. They average the networks over the last
        updates, and an average is right where single networks waver: the proof came after a quarter fewer
        updates (897 instead of 1,197, median of seeds 1000 to 1004). After hard updates they are only old.
        """
        config = self.seats[0].config
        averaged = config.hard_update == 0
        networks = tuple(agent.target_network if averaged else agent.network for agent in self.distinct)
        return player_of(config, networks)

    def state(self) -> dict[str, Tensor]:
        """Return all that playing and learning change, by names and of shapes that are always the same."""
        tensors = {"generator": self.seats[0].generator.get_state()}
        for number, agent in enumerate(self.distinct):
            tensors |= {f"agent_{number}.{name}": tensor for name, tensor in agent.state().items()}
        if self._unanswered is not None:
            tensors |= {f"unanswered.{name}": tensor for name, tensor in self._unanswered._asdict().items()}
        return tensors

    def restore(self, state: Mapping[str, Tensor]) -> None:
        """Become what `state` said earlier.

        Raises:
            UserError: the generator's state is not one.
        """
        try:
            self.seats[0].generator.set_state(state["generator"])
        except RuntimeError as error:
            raise UserError(f"the checkpoint holds no state of a generator: {error}") from None
        for number, agent in enumerate(self.distinct):
            agent.restore({name: state[f"agent_{number}.{name}"] for name in agent.state()})
        if self._unanswered is not None:
            for name, tensor in self._unanswered._asdict().items():
                tensor.copy_(state[f"unanswered.{name}"])

    def learn(self) -> list[Update]:
        """Do one update of each agent, all from the same moment: nobody sees another's update."""
        agents = self.distinct
        batches = list(map(DQNAgent.sample, agents))
        opponents = self.seats[::-1][: len(agents)]
        targets = list(map(DQNAgent.targets, agents, batches, opponents))
        return list(map(DQNAgent.update, agents, batches, targets))
