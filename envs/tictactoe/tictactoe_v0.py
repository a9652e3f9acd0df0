"""The PettingZoo environment (AEC): the agents `player_1` and `player_2` take turns."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NoReturn

import gymnasium
import numpy as np
from pettingzoo import AECEnv

from tictactoe.gym.arguments import passes_on_to
from tictactoe.gym.position_graph import Planes
from tictactoe.gym.turn import TicTacToeEnv

AGENTS = ("player_1", "player_2")
SEATS = {agent: seat for seat, agent in enumerate(AGENTS)}
UNTIL_RESET = ("agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations", "infos")
"""Attributes that exist only after the first `reset`."""


class raw_env(AECEnv[str, dict[str, Planes], int | None]):  # noqa: N801 (PettingZoo's own name)
    """An m,n,k game of PettingZoo's agents `player_1` (seat 0) and `player_2` (seat 1).

    Action space: Discrete(rows * cols) for each agent, as in `TicTacToeEnv`; None when the game is over.
    Observation space: a dict for each agent of `observation`, Box(0, 1, (rows, cols, 3), int8), as that agent sees the
        board, and `action_mask`, Box(0, 1, (rows * cols,), int8): the empty cells on its turn, zeros on the other's,
        ones when the game is over.
    Rewards: those of `tictactoe.Rewards` to the agent that moved, and `loss` to the other agent if the move wins.
    Starting state: the empty board, `player_1` to move, or `reset(options=...)`: `position`, `seat`.
    Episode end: as in `TicTacToeEnv`, for both agents at once.
    Information: `action_mask`; at the end also `winner` int, -1 after a draw, and `illegal` bool.

    Arguments:
        dict_observation: always True: the mask is part of the observation.
        The others: as in `TicTacToeEnv`.

    Raises:
        ValueError: a setting or an agent does not exist.
        gymnasium.error.InvalidAction: the action is not a cell; nothing changes.
        gymnasium.error.ResetNeeded: no game has started, or both agents have taken their last step.
    """

    metadata = {  # noqa: RUF012 (PettingZoo's own declaration)
        **TicTacToeEnv.metadata,
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
        self._moved = True
        self._no_cells = np.zeros(self._game.rules.cells, np.int8)
        """The mask of an agent that waits."""
        # One for each agent, because a space holds the generator that it samples from.
        self.observation_spaces = {agent: deepcopy(self._game.observation_space) for agent in AGENTS}
        self.action_spaces = {agent: deepcopy(self._game.action_space) for agent in AGENTS}

    def __getattr__(self, name: str) -> Any:
        if name in UNTIL_RESET:
            raise AttributeError(f"{name} cannot be read before reset()")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def observation_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the observation space of an agent, the same object every time."""
        check_agent(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> gymnasium.spaces.Space[Any]:
        """Return the action space of an agent, the same object every time."""
        check_agent(agent)
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Start a new game; `player_1` moves first, or the agent to move in `options["position"]`.

        The options are those of `TicTacToe-v0`.

        Raises:
            ValueError: an option does not exist, or no game can go on from the position; the current game goes on.
        """
        if isinstance(options, dict):  # PettingZoo's own test passes an option of this name, which has no meaning
            options = {key: value for key, value in options.items() if key != "options"}
        self._game.begin(seed, options)
        self.agents = list(AGENTS)
        self._moved = True
        self.agent_selection = AGENTS[self._game.to_play]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self._share()

    def step(self, action: int | None) -> None:
        """Mark a cell for the selected agent; after the end each agent takes one step with None."""
        if not self.agents:
            self._refuse()
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            self._moved = True
            return
        node = self._game.play(action)  # type: ignore[arg-type]
        self._moved = True
        other = AGENTS[1 - SEATS[agent]]
        reward, other_reward = node.rewards
        self.rewards = {agent: reward, other: other_reward}
        self._cumulative_rewards = {agent: reward, other: self._cumulative_rewards[other] + other_reward}
        self.terminations = {agent: node.over, other: node.over}
        self.agent_selection = other
        self._share()

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return the selected agent's observation, reward since its last step, terminated, truncated and info."""
        if not self.agents:
            self._refuse()
        agent = self.agent_selection
        seen = self._game.observe(SEATS[agent]) if observe else None  # it is this agent's turn: `observe` adds nothing
        return seen, self._cumulative_rewards[agent], self.terminations[agent], False, self.infos[agent]

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the agent to move until both are done, at most `max_iter` times; call `step` each time.

        Raises:
            RuntimeError: the loop did not call `step` or `reset`, so it would never end.
        """
        self._check_begun()
        return self._turns(max_iter)

    def _turns(self, max_iter: int) -> Iterator[str]:
        while self.agents and max_iter > 0:
            if not self._moved:
                raise RuntimeError("call step() or reset() in each round of a loop over agent_iter()")
            self._moved = False
            max_iter -= 1
            yield self.agent_selection

    def _check_begun(self) -> None:
        if not hasattr(self, "agent_selection"):
            self._refuse()

    def _refuse(self) -> NoReturn:
        over = hasattr(self, "agent_selection")
        raise gymnasium.error.ResetNeeded(f"{'the game is over' if over else 'no game has started'}: call reset()")

    def _share(self) -> None:
        # In the Gymnasium environments `info` always holds `winner` and `illegal`. Here they come at the end only:
        # during a game a number beside the mask makes TorchRL's PettingZooWrapper fail.
        node, agent = self._game.node, self.agent_selection
        self.infos: dict[str, dict[str, Any]] = {
            agent: {"action_mask": node.mask.copy()},
            AGENTS[1 - SEATS[agent]]: {"action_mask": (node.mask if node.over else self._no_cells).copy()},
        }
        if node.over:
            for info in self.infos.values():
                info |= {"winner": int(node.winner), "illegal": bool(node.illegal)}

    def observe(self, agent: str) -> dict[str, Planes]:
        """Return the observation of an agent, in new arrays."""
        self._check_begun()
        check_agent(agent)
        seen: dict[str, Planes] = self._game.observe(SEATS[agent])
        node = self._game.node
        waits = agent != self.agent_selection and not node.over
        return {**seen, "action_mask": self._no_cells.copy()} if waits else seen

    def render(self) -> Any:
        """Return or show the board, as `TicTacToeEnv.render` does."""
        return self._game.render()

    def close(self) -> None:
        """Close the window, if there is one."""
        self._game.close()


def check_agent(agent: object) -> None:
    """Refuse an agent that does not exist.

    Raises:
        ValueError: there is no agent of that name.
    """
    if agent not in AGENTS:
        raise ValueError(f"unknown agent {agent!r}: choose from {', '.join(AGENTS)}")


env = raw_env
"""The environment with all checks of actions and of the order of calls; the same as `raw_env`.

`raw_env` makes these checks itself, because PettingZoo's wrappers would take more time than the game.
"""
