"""Train one MaskablePPO on both seats of a PettingZoo game, as PettingZoo's tutorial on masks does.

The learner is that of the recipe `docs/recipes/pettingzoo_two_lines.py`. It is trained alike on our game with its
defaults, on our game as PettingZoo's own is (a loss is the opposite of a win, and each seat sees its own marks first),
and on PettingZoo's own; then the network plays the second seat against random moves, in the tutorial's number of steps
and seat.
Run it by `tests/interop/run pettingzoo_sb3_tutorial`.
"""

import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pettingzoo import AECEnv
from pettingzoo.classic import tictactoe_v3
from sb3_contrib import MaskablePPO
from shared import print_versions

from tictactoe import tictactoe_v0

STEPS, GAMES, SEEDS = 20_480, 300, range(3)
MAKERS: Mapping[str, Callable[[], AECEnv[str, Any, Any]]] = {
    "tictactoe_v0, defaults": tictactoe_v0.env,
    'tictactoe_v0, rewards="sparse", perspective="mover"': partial(
        tictactoe_v0.env, rewards="sparse", perspective="mover"
    ),
    "PettingZoo's tictactoe_v3": tictactoe_v3.env,
}


def wins_in_the_second_seat(model: MaskablePPO, game: AECEnv[str, Any, Any]) -> int:
    """Play against random moves, one game from each of the seeds 0, 1, 2 ..."""
    wins = 0
    for seed in range(GAMES):
        generator = np.random.default_rng(seed)
        game.reset(seed=seed)
        learner = game.possible_agents[1]
        while not any(game.terminations.values()):
            seen = game.observe(game.agent_selection)
            mask = seen["action_mask"]
            if game.agent_selection == learner:
                game.step(int(model.predict(seen["observation"], action_masks=mask, deterministic=True)[0]))
            else:
                game.step(int(generator.choice(np.flatnonzero(mask))))
        wins += game.rewards[learner] == 1
    return wins


def main() -> None:
    sys.path.append(str(Path(__file__).parents[2]))
    from docs.recipes.pettingzoo_two_lines import train

    torch.set_num_threads(1)
    print_versions("sb3-contrib", "stable-baselines3", "pettingzoo", "torch")
    print(f"wins of {GAMES} games in the second seat against random moves, after {STEPS:,} steps, seeds {list(SEEDS)}")
    wins = []
    for name, make in MAKERS.items():
        wins.append([wins_in_the_second_seat(train(make(), STEPS, seed), make()) for seed in SEEDS])
        print(f"{name:52}", *wins[-1])
    defaults, likened, theirs = wins
    assert min(likened) > max(defaults), "as PettingZoo's own game is, ours is learned better than with its defaults"
    assert min(likened) > 0.8 * min(theirs), "as PettingZoo's own game is, ours is learned about as well as that"


if __name__ == "__main__":
    main()
