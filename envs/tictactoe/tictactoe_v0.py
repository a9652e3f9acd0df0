"""The PettingZoo environment (AEC): the agents `player_1` and `player_2` take turns."""

from copy import deepcopy
from typing import Any

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils.env import AECIterable

from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.position_graph import Planes
from tictactoe.gym.turn import TicTacToeEnv

AGENTS = ("player_1", "player_2")
SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}


class raw_env(AECEnv[str, dict[str, Planes], int | None]):  # noqa: N801 (PettingZoo's own name)
    """An m,n,k game of PettingZoo's agents `player_1` (seat 0) and `player_2` (seat 1).

    Action space: Discrete(rows * cols) for each agent, as in `TicTacToeEnv`; None when the game is over.
    Observation space: a dict for each agent of `observation`, Box(0, 1, (rows, cols, 3), int8), as that agent sees the
        board, and `action_mask`, Box(0, 1, (rows * cols,), int8): the legal cells on its turn, zeros on the other's,
        ones when the game is over.
    Rewards: those of `tictactoe.Rewards`, to both agents.
    Starting state: the empty board, `player_1` to move, or `reset(options=...)`: `position`, `seat`.
    Episode end: as in `TicTacToeEnv`, for both agents at once.
    Information: `action_mask`; at the end also `winner` int, -1 after a draw, and `illegal` bool.

    Arguments:
        dict_observation: always True: the mask is part of the observation.
        The others: as in `TicTacToeEnv`.

    Raises:
        ValueError: a setting does not exist.
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
        gymnasium.error.ResetNeeded: no game has started, or both agents have taken their last step.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's own declaration)
        **deepcopy(TicTacToeEnv.metadata),
        "name": "tictactoe_v0",
        "is_parallelizable": False,
    }

    @passes_on_to(TicTacToeEnv)
    def __init__(self, *sizes: int, dict_observation: bool = True, **settings: Any) -> None:
        super().__init__()
        if dict_observation is not True:
            raise ValueError("dict_observation must be True: in PettingZoo the mask is part of the observation")
        self._game = TicTacToeEnv(*sizes, dict_observation=True, **settings)
        self.render_mode = self._game.render_mode
        self.possible_agents = list(AGENTS)
        self.agents: list[str] = []
        self._no_cells = np.zeros(self._game.rules.cells, np.int8)
        """The mask of an agent that waits."""
        # One for each agent, because a space holds the generator that it samples from.
        self.observation_spaces = {agent: deepcopy(self._game.observation_space) for agent in AGENTS}
        self.action_spaces = {agent: deepcopy(self._game.action_space) for agent in AGENTS}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the observation space of an agent, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the action space of an agent, the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; `player_1` moves first, or the agent to move in `options["position"]`.

        The options are those of `TicTacToe-v0`.

        Raises:
            ValueError: an option does not exist, or no game can continue from the position; the current game continues.
        """
        if isinstance(options, dict):  # PettingZoo's own test passes an option of this name, which has no meaning
            options = {key: value for key, value in options.items() if key != "options"}
        self._game.begin(seed, options)
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[self._game.to_play]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._share_infos()

    def step(self, action: int | None) -> None:
        """Mark a cell for the selected agent; after the end each agent takes one step with None."""
        if not self.agents:
            raise gymnasium.error.ResetNeeded("no game is being played: call reset()")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        node = self._game.play(action)  # type: ignore[arg-type]
        other = AGENTS[1 - SEATS[agent]]
        reward, other_reward = node.rewards
        self.rewards = {agent: reward, other: other_reward}
        self._cumulative_rewards = {agent: reward, other: self._cumulative_rewards[other] + other_reward}
        self.terminations = {agent: node.over, other: node.over}
        self.agent_selection = other
        self._share_infos()

    def _share_infos(self) -> None:
        # In the Gymnasium environments `info` always holds `winner` and `illegal`. Here they come at the end only:
        # during a game a number next to the mask makes TorchRL's PettingZooWrapper fail.
        node, agent = self._game.node, self.agent_selection
        self.infos: dict[str, dict[str, Any]] = {
            agent: {"action_mask": node.mask.copy()},
            AGENTS[1 - SEATS[agent]]: {"action_mask": (node.mask if node.over else self._no_cells).copy()},
        }
        if node.over:
            for info in self.infos.values():
                info |= {"winner": int(node.winner), "illegal": bool(node.illegal)}

    def agent_iter(self, max_iter: int = 2**63) -> AECIterable:
        """Return an iterator over the agents to move, until the game is over or after `max_iter` steps."""
        self._check_begun()
        return super().agent_iter(max_iter)

    def last(self, observe: bool = True) -> tuple[dict[str, Planes] | None, float, bool, bool, dict[str, Any]]:
        """Return the observation, cumulative reward, ends and information of the agent to move."""
        self._check_begun()
        return super().last(observe)  # type: ignore[no-any-return]

    def _check_begun(self) -> None:
        if not hasattr(self, "agent_selection"):
            raise gymnasium.error.ResetNeeded("no game has started: call reset()")

    def observe(self, agent: str) -> dict[str, Planes]:
        """Return the observation of an agent, in new arrays."""
        self._check_begun()
        seen: dict[str, Planes] = self._game.observe(SEATS[agent])
        if agent != self.agent_selection and not self._game.node.over:
            seen["action_mask"] = self._no_cells.copy()
        return seen

    def render(self) -> Any:
        """Return or show the board, as `TicTacToeEnv.render` does."""
        return self._game.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._game.close()


env = raw_env
"""The same as `raw_env`, which checks actions itself: PettingZoo's wrappers would take more time than the game."""
