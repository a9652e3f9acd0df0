"""OpenSpiel's DQN in PyTorch: two agents, one per seat, learn from the games that they play with each other.

Settings: those of `open_spiel/python/examples/tic_tac_toe_dqn_vs_tabular.py`, its own example of this game; the loop
is that of `dqn_breakthrough_pytorch.py`, its example of two such agents; what neither sets has the default of
`open_spiel.python.pytorch.dqn.DQN`. They play OpenSpiel's own tic-tac-toe, choose among the legal cells alone, and are
evaluated so. Each has a seed of its own, as the constructor's default would make them equal.
"""

from typing import Any

from open_spiel.python import rl_environment
from open_spiel.python.pytorch import dqn
from torch import Tensor, nn

from benchmarks.peers.evaluations import Tick, Train
from benchmarks.peers.player import Greedy

HIDDEN = (32, 32)
MEMORY_SIZE = 10_000


class OpenSpielView(nn.Module):
    """The network of a seat with the planes that OpenSpiel gives it, one after the other: empty cells, O and X."""

    def __init__(self, network: nn.Module, seat: int) -> None:
        super().__init__()
        self.network, self.planes = network, [0, 2, 1] if seat == 0 else [0, 1, 2]

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the action values [B, 9] of mover's views [B, 9 * 3]."""
        planes = inputs.reshape(len(inputs), 9, 3).transpose(1, 2)[:, self.planes]
        values: Tensor = self.network(planes.flatten(1))
        return values


def make_agents(seed: int, environment: Any) -> list[Any]:
    """Return one agent for each seat."""
    return [
        dqn.DQN(
            player_id=seat,
            state_representation_size=environment.observation_spec()["info_state"][0],
            num_actions=environment.action_spec()["num_actions"],
            hidden_layers_sizes=HIDDEN,
            replay_buffer_capacity=MEMORY_SIZE,
            seed=2 * seed + seat,
        )
        for seat in (0, 1)
    ]


def make_player(agents: list[Any]) -> Greedy:
    """Return the player of both agents, each in its seat, among the legal cells."""
    return Greedy(*(OpenSpielView(agent._q_network, seat) for seat, agent in enumerate(agents)), masked=True)


def make(seed: int) -> Train:
    """Return the self-play of two agents."""
    environment = rl_environment.Environment("tic_tac_toe")
    agents = make_agents(seed, environment)
    player = make_player(agents)

    def train(tick: Tick) -> None:
        agent, learned_nothing, going = agents[0], 0, True
        while going:
            moment = environment.reset()
            while not moment.last():
                mover = agents[moment.observations["current_player"]]
                moment = environment.step([mover.step(moment).action])
            for each in agents:
                each.step(moment)
            attempts = agent.step_counter // agent._learn_every
            if agent.loss is None:  # the memory does not hold enough yet
                learned_nothing = attempts
            going = tick(attempts - learned_nothing, player)

    return train
