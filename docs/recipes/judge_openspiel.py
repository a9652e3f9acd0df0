"""Judge an OpenSpiel policy exactly: is there a way to beat it?

Put your own policy in place of `FirstActionPolicy`. It is asked once about each position, by the probabilities of its
moves. OpenSpiel's own best response to it must agree, and does; that takes some seconds. It needs `pip install
open-spiel`.
"""

import numpy as np
import pyspiel
import tyro
from open_spiel.python import policy
from open_spiel.python.algorithms.exploitability import nash_conv

import selfplay

GAME = pyspiel.load_game("tic_tac_toe")


class Judged:
    """An OpenSpiel policy as `selfplay.evaluate` asks it."""

    def __init__(self, of_open_spiel: policy.Policy) -> None:
        self.policy = of_open_spiel

    def probabilities(self, observation: np.ndarray) -> np.ndarray:
        """Return the probability [B, 9] of each cell, for observations [B, 3, 3, 3] with the planes empty, X and O."""
        chances = np.zeros((len(observation), 9))
        for row, board in zip(chances, observation.reshape(-1, 9, 3), strict=True):
            state = GAME.new_initial_state()
            x_cells, o_cells = np.flatnonzero(board[:, 1]), np.flatnonzero(board[:, 2])
            for ply in range(len(x_cells) + len(o_cells)):  # in any order: the position is what counts
                state.apply_action(int((x_cells, o_cells)[ply % 2][ply // 2]))
            for cell, chance in self.policy.action_probabilities(state).items():
                row[cell] = chance
        return chances


def main() -> selfplay.Verdict:
    """Judge a policy, and compare the verdict with OpenSpiel's own best response."""
    mine = policy.FirstActionPolicy(GAME)
    verdict = selfplay.evaluate(Judged(mine))
    print(verdict)
    print(f"exploitability: {verdict.exploitability}, by OpenSpiel {nash_conv(GAME, mine) / 2}")
    return verdict


if __name__ == "__main__":
    tyro.cli(main)
