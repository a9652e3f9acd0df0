"""OpenSpiel as the oracle of the rules: every state of tic-tac-toe, and random games of the m,n,k family.

OpenSpiel's `mnk` names its sizes from the columns on: m columns, n rows. Its planes are empty, O, X.
Run it by `tests/interop/run openspiel`.
"""

from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
import pyspiel

import tictactoe  # noqa: F401 (registers the environment)
from tictactoe import tictactoe_v0

STATES = 5_478
GAMES = 1_000
SIZES = ((3, 3, 3), (4, 4, 3), (5, 4, 4), (4, 5, 4), (7, 7, 5), (15, 15, 5))
"""Rows, columns and k of the boards on which random games are played."""


class Faces:
    """Play the turn view and the PettingZoo view side by side with a state of OpenSpiel."""

    def __init__(self, rows: int, cols: int, k: int) -> None:
        settings: dict[str, Any] = {"rows": rows, "cols": cols, "k": k, "rewards": "sparse"}
        self.shape = 3, rows, cols
        self.turn = gymnasium.make("TicTacToe-v0", **settings)
        self.pair = tictactoe_v0.raw_env(**settings)

    def reset(self) -> None:
        self.observation, self.info = self.turn.reset()
        self.reward, self.over = 0.0, False
        self.pair.reset()

    def step(self, cell: int) -> None:
        self.observation, reward, self.over, _, self.info = self.turn.step(cell)
        self.reward = float(reward)
        self.pair.step(cell)

    def check(self, state: Any) -> None:
        """Make sure that both views say of the position what `state` says."""
        planes = np.array(state.observation_tensor(0)).reshape(self.shape)
        shown = np.stack([planes[0], planes[2], planes[1]], axis=-1)
        agent = self.pair.agents[self.info["to_play"]]
        seen = self.pair.observe(agent)
        assert np.array_equal(self.observation, shown)
        assert np.array_equal(seen["observation"], shown)
        assert self.over == state.is_terminal() == all(self.pair.terminations.values())
        assert [self.pair.rewards[agent] for agent in self.pair.agents] == state.rewards()
        if self.over:
            winner = {1.0: 0, 0.0: -1, -1.0: 1}[state.returns()[0]]
            assert self.info["winner"] == winner
            assert self.reward == abs(state.returns()[0])
            assert not self.info["illegal"]
            return
        assert self.info["to_play"] == state.current_player()
        assert agent == self.pair.agent_selection
        assert np.flatnonzero(self.info["action_mask"]).tolist() == state.legal_actions()
        assert np.flatnonzero(seen["action_mask"]).tolist() == state.legal_actions()


def check_every_state() -> int:
    """Reach each state of tic-tac-toe once, by one of the games that lead to it, and return how many there are."""
    faces = Faces(3, 3, 3)
    root = pyspiel.load_game("tic_tac_toe").new_initial_state()
    found, waiting = {str(root)}, [root]
    while waiting:
        state = waiting.pop()
        faces.reset()
        for cell in state.history():
            faces.step(cell)
        faces.check(state)
        for cell in state.legal_actions():
            child = state.child(cell)
            if str(child) not in found:
                found.add(str(child))
                waiting.append(child)
    return len(found)


def play_random_games(rows: int, cols: int, k: int, games: int) -> tuple[int, list[int]]:
    """Compare at every ply of random games; return the plies, and how many each seat won and were drawn."""
    generator = np.random.default_rng(0)
    game = pyspiel.load_game(f"mnk(m={cols},n={rows},k={k})")
    faces = Faces(rows, cols, k)
    plies, endings = 0, [0, 0, 0]
    for _ in range(games):
        state = game.new_initial_state()
        faces.reset()
        faces.check(state)
        while not state.is_terminal():
            cell = int(generator.choice(state.legal_actions()))
            state.apply_action(cell)
            faces.step(cell)
            faces.check(state)
            plies += 1
        endings[faces.info["winner"]] += 1
    return plies, endings


def main() -> None:
    print(f"open_spiel {version('open_spiel')}, gymnasium {version('gymnasium')}, numpy {version('numpy')}")
    states = check_every_state()
    print(f"tic_tac_toe: {states:,} states, all equal in legal actions, mover, end, winner, returns and observation")
    assert states == STATES
    for rows, cols, k in SIZES:
        plies, (first, second, drawn) = play_random_games(rows, cols, k, GAMES)
        print(
            f"mnk(m={cols},n={rows},k={k}) against rows={rows}, cols={cols}, k={k}: {GAMES:,} games, {plies:,} plies, "
            f"all equal; X won {first}, O {second}, drawn {drawn}"
        )
    print("mask: info['action_mask'] of the turn view and observation['action_mask'] of the AEC view")


if __name__ == "__main__":
    main()
