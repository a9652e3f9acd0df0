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


class Environments:
    """Play Gymnasium's turn view and PettingZoo's environment beside a state of OpenSpiel, and compare all three."""

    def __init__(self, rows: int, cols: int, k: int) -> None:
        settings: dict[str, Any] = {"rows": rows, "cols": cols, "k": k, "rewards": "sparse"}
        self.shape = 3, rows, cols
        self.turn = gymnasium.make("TicTacToe-v0", **settings)
        self.pair = tictactoe_v0.raw_env(**settings)

    def replay(self, state: Any) -> None:
        """Play the moves that led to a state."""
        self.seen = *self.turn.reset(), 0.0, False
        self.pair.reset()
        for cell in state.history():
            self.step(cell)

    def step(self, cell: int) -> None:
        """Play one move."""
        observation, reward, over, _, info = self.turn.step(cell)
        self.seen = observation, info, float(reward), over
        self.pair.step(cell)

    def check(self, state: Any) -> None:
        """Compare what both environments say of the position with what `state` says."""
        observation, info, reward, over = self.seen
        empty, second, first = np.array(state.observation_tensor(0)).reshape(self.shape)
        agent = self.pair.agents[info["to_play"]]
        seen = self.pair.observe(agent)
        for planes in (observation, seen["observation"]):
            assert np.array_equal(planes, np.stack([empty, first, second], axis=-1))
        assert over == state.is_terminal() == all(self.pair.terminations.values())
        assert [self.pair.rewards[agent] for agent in self.pair.agents] == state.rewards()
        if over:
            assert info["winner"] == {1.0: 0, 0.0: -1, -1.0: 1}[state.returns()[0]]
            assert reward == abs(state.returns()[0])
            assert not info["illegal"]
            return
        assert info["to_play"] == state.current_player()
        assert agent == self.pair.agent_selection
        for mask in (info["action_mask"], seen["action_mask"]):
            assert np.flatnonzero(mask).tolist() == state.legal_actions()


def check_every_state() -> int:
    """Reach each state of tic-tac-toe once, by one of the games that lead to it, and return how many there are."""
    environments = Environments(3, 3, 3)
    root = pyspiel.load_game("tic_tac_toe").new_initial_state()
    known, waiting = {str(root)}, [root]
    while waiting:
        state = waiting.pop()
        environments.replay(state)
        environments.check(state)
        for cell in state.legal_actions():
            child = state.child(cell)
            if str(child) not in known:
                known.add(str(child))
                waiting.append(child)
    return len(known)


def play_random_games(rows: int, cols: int, k: int) -> tuple[int, list[int]]:
    """Compare at every ply of random games; return the plies, and how many each seat won and were drawn."""
    generator = np.random.default_rng(0)
    game = pyspiel.load_game(f"mnk(m={cols},n={rows},k={k})")
    environments = Environments(rows, cols, k)
    plies, endings = 0, [0, 0, 0]
    for _ in range(GAMES):
        state = game.new_initial_state()
        environments.replay(state)
        environments.check(state)
        while not state.is_terminal():
            cell = int(generator.choice(state.legal_actions()))
            state.apply_action(cell)
            environments.step(cell)
            environments.check(state)
            plies += 1
        endings[environments.seen[1]["winner"]] += 1
    return plies, endings


def main() -> None:
    print(f"open_spiel {version('open_spiel')}, gymnasium {version('gymnasium')}, numpy {version('numpy')}")
    states = check_every_state()
    print(f"tic_tac_toe: {states:,} states, all equal in legal actions, mover, end, winner, returns and observation")
    assert states == STATES
    for rows, cols, k in SIZES:
        plies, (first, second, drawn) = play_random_games(rows, cols, k)
        print(f"{rows},{cols},{k}: {GAMES:,} games, {plies:,} plies equal; X won {first}, O {second}, drawn {drawn}")
    print("mask: info['action_mask'] of the turn view and observation['action_mask'] of the AEC view")


if __name__ == "__main__":
    main()
