"""OpenSpiel's DQN in PyTorch: two agents, one per seat, learn from the games that they play with each other.

The loop is that of `dqn_breakthrough_pytorch.py`, its example of two such agents. They play OpenSpiel's own
tic-tac-toe, choose among the legal cells alone, and are evaluated so. Each has a seed of its own, as the constructor's
default would make them equal. After `learning_rate_hold` updates the learning rate falls, as it does for the other
learners; the library has no schedule. Updates are counted per agent.
"""

from collections.abc import Mapping
from typing import Any

from open_spiel.python import rl_environment
from open_spiel.python.pytorch import dqn
from torch import Tensor, nn

from benchmarks.peers.evaluations import ONLINE, Tick, Train
from benchmarks.peers.greedy_player import GreedyPlayer

SETTINGS: Mapping[str, Any] = {
    "hidden_layers_sizes": [193],
    "replay_buffer_capacity": 181_523,
    "batch_size": 327,
    "learning_rate": 0.0121,
    "learning_rate_hold": 2_696,
    "update_target_network_every": 139,
    "weight_update_coeff": 0.0193,
    "learn_every": 139,
    "discount_factor": 0.898,
    "min_buffer_size_to_learn": 2_009,
    "epsilon_end": 0.411,
    "epsilon_decay_duration": 107_259,
    "epsilon_decay_schedule_str": "linear",
    "optimizer_str": "adam",
    "loss_str": "huber",
}
"""The settings that a search found, by the library's names, and `learning_rate_hold`.

Steps are an agent's own moves and game ends.
"""


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


def make_agents(seed: int, environment: Any, settings: Mapping[str, Any] = SETTINGS) -> list[Any]:
    """Return one agent for each seat."""
    own = {name: value for name, value in settings.items() if name != "learning_rate_hold"}
    return [
        dqn.DQN(
            player_id=seat,
            state_representation_size=environment.observation_spec()["info_state"][0],
            num_actions=environment.action_spec()["num_actions"],
            seed=2 * seed + seat,
            **own,
        )
        for seat in (0, 1)
    ]


def make_players(agents: list[Any]) -> dict[str, GreedyPlayer]:
    """Return the player of both agents, each in its seat, among the legal cells, for both networks."""
    networks = {
        ONLINE: [agent._q_network for agent in agents],
        "target": [agent._target_q_network for agent in agents],
    }
    return {
        name: GreedyPlayer(*(OpenSpielView(network, seat) for seat, network in enumerate(of_seats)), masked=True)
        for name, of_seats in networks.items()
    }


def make(seed: int, settings: Mapping[str, Any] = SETTINGS) -> Train:
    """Return the self-play of two agents."""
    environment = rl_environment.Environment("tic_tac_toe")
    agents = make_agents(seed, environment, settings)
    players = make_players(agents)
    rates = [agent._optimizer.param_groups[0] for agent in agents]
    rate, hold = rates[0]["lr"], settings.get("learning_rate_hold", 0)

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
            updates = attempts - learned_nothing
            if hold:
                for each in rates:
                    each["lr"] = rate * hold / max(hold, updates)
            going = tick(updates, players)

    return train
