"""Solve, play and learn another board: any m,n,k game, such as 3 rows, 4 columns and 3 in a row.

Environments and algorithms take `rows`, `cols` and `k`. The solver gives the exact values of boards of
up to 16 cells; the evaluation says how good the learner has become.

By default it trains for a few seconds, and still loses games as X, though X wins 3,4,3 with best play. With `--steps
1000000` it stops by itself once it is proved; this takes seconds with some seeds, and minutes with others. It then
wins every game as X. As O it loses to best play, so the best that can be proved is an exploitability of 0.
"""

from typing import Any

import gymnasium
import tyro

import selfplay
from tictactoe import Rules, solve


def main(rows: int = 3, cols: int = 4, k: int = 3, steps: int = 20_000, seed: int = 0) -> selfplay.Record:
    """Solve the board, play a game of it, and train on it for at most `steps` plies."""
    rules = Rules(rows, cols, k)
    solution = solve(rules)
    value, best = solution.lookup(mover=0, opponent=0)
    result = {1: "the first seat wins", 0: "nobody wins", -1: "the second seat wins"}[value]
    print(f"{rules}: {len(solution.tree):,} reachable states, with best play {result}; best first cells {best}")

    settings: dict[str, Any] = {"rows": rows, "cols": cols, "k": k, "render_mode": "ansi"}
    game = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent="optimal", seat=1, **settings)
    _, info = game.reset(seed=seed)
    terminated = False
    while not terminated:  # the first empty cell, until the game is over
        _, _, terminated, _, info = game.step(int(info["action_mask"].argmax()))
    print(f"best play in the first seat against the first empty cell:\n{game.render()}")

    config = selfplay.DQNConfig(rules=rules, mask=True, total_steps=steps, seed=seed)
    for record in selfplay.training(config):
        first, second = record.verdict.first, record.verdict.second
        ways = f"{first.ways_to_beat} + {second.ways_to_beat}"
        print(f"{record.steps:>7,} plies: ways to beat it as X + as O {ways}", end=", ")
        # Not known where a player of a large board leads to more positions than are followed.
        print(f"exploitability {record.verdict.exploitability}")
    return record


if __name__ == "__main__":
    tyro.cli(main)
