"""OpenSpiel's DQN in PyTorch: two agents, one per seat, learn from the games that they play with each other.

Settings: those of `open_spiel/python/examples/tic_tac_toe_dqn_vs_tabular.py`, its own example of this game; the loop
is that of `dqn_breakthrough_pytorch.py`, its example of two such agents; what neither sets has the default of
`open_spiel.python.pytorch.dqn.DQN`. They play OpenSpiel's own tic-tac-toe, choose among the legal cells alone, and are
judged so. Each has a seed of its own, as the constructor's default would make them equal.
"""

from typing import Any

from open_spiel.python import rl_environment
from open_spiel.python.pytorch import dqn
from torch import Tensor, nn

from benchmarks.peers.judging import RULES, Tick, Training
from selfplay.dqn.player import QPlayer

HIDDEN = (32, 32)
MEMORY_SIZE = 10_000


class AsOpenSpielSees(nn.Module):
    """Give a network what it knows: the planes one after the other, of empty cells, O and X."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the action values [B, 9] of absolute observations [B, 9 * 3], whose planes are empty, X and O."""
        planes = inputs.reshape(len(inputs), 9, 3).transpose(1, 2)[:, [0, 2, 1]]
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


def player(agents: list[Any]) -> QPlayer:
    """Return what the agents play, each in its seat, among the legal cells."""
    networks = tuple(AsOpenSpielSees(agent._q_network) for agent in agents)
    return QPlayer(RULES, networks, "absolute", mask=True)


def make(seed: int) -> Training:
    """Return the self-play of two agents."""
    environment = rl_environment.Environment("tic_tac_toe")
    agents = make_agents(seed, environment)

    def run(tick: Tick) -> None:
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
            going = tick(attempts - learned_nothing)

    return Training(player(agents), run)
