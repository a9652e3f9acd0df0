"""The PettingZoo view: an AEC environment in which the agents `player_1` and `player_2` take turns."""

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from tictactoe.turn import TicTacToeEnv

AGENTS = ("player_1", "player_2")


def env(**settings: Any) -> AECEnv[str, dict[str, NDArray[np.int8]], int | None]:
    """Return `raw_env` in PettingZoo's wrapper that checks the order of calls."""
    return wrappers.OrderEnforcingWrapper(raw_env(**settings))


class raw_env(AECEnv[str, dict[str, NDArray[np.int8]], int | None]):  # noqa: N801 (PettingZoo's own name)
    """Play an m,n,k game by PettingZoo's rules of turn-taking.

    The settings are those of `TicTacToe-v0`. An agent observes `observation` [rows, cols, 3] int8 and
    `action_mask` [rows * cols] int8: the empty cells on its turn, zeros on the opponent's, and ones when
    the game is over. `infos` hold `action_mask` and `to_play`, and at the end `winner` and `illegal`, as in
    `TicTacToe-v0`. With `perspective="mover"` each agent sees its own marks in plane 1.

    Raises:
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's own declaration)
        "render_modes": ["ansi"],
        "name": "tictactoe_v0",
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, **settings: Any) -> None:
        super().__init__()
        self._game = TicTacToeEnv(**settings)
        self.render_mode = self._game.render_mode
        self.possible_agents = list(AGENTS)
        cells = self._game.rules.cells
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {
                    "observation": self._game.observation_space,
                    "action_mask": gymnasium.spaces.Box(0, 1, (cells,), np.int8),
                }
            )
            for agent in AGENTS
        }
        self.action_spaces = {agent: gymnasium.spaces.Discrete(cells) for agent in AGENTS}

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the space of what an agent observes, the same object every time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the space of an agent's actions, the same object every time."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; `player_1` moves first."""
        _, info = self._game.reset(seed=seed, options=options)
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[0]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._share(info)

    def step(self, action: int | None) -> None:
        """Let the selected agent mark a cell; after the end each agent is due one step with None."""
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        _, reward, terminated, _, info = self._game.step(action)  # type: ignore[arg-type]
        other = AGENTS[1 - AGENTS.index(agent)]
        beaten = terminated and info["winner"] == AGENTS.index(agent)
        self._cumulative_rewards[agent] = 0.0
        self.rewards = {agent: reward, other: self._game.rewards.loss if beaten else 0.0}
        self.terminations = dict.fromkeys(AGENTS, terminated)
        self.agent_selection = other
        self._share(info)
        self._accumulate_rewards()

    def _share(self, info: dict[str, Any]) -> None:
        self.infos = {agent: {**info, "action_mask": self._mask(agent)} for agent in AGENTS}

    def _mask(self, agent: str) -> NDArray[np.int8]:
        over = self.terminations.get(agent, True)  # an agent that took its last step is gone from there
        if over or agent == self.agent_selection:
            return self._game.action_masks()
        return np.zeros(self._game.rules.cells, np.int8)

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """Return what an agent sees, in fresh arrays."""
        return {"observation": self._game.planes(AGENTS.index(agent)), "action_mask": self._mask(agent)}

    def render(self) -> str | None:
        """Return the board as text in the `"ansi"` mode."""
        return self._game.render()

    def close(self) -> None:
        """Do nothing: a board of text has no window to close."""
