"""Train a DQN with a loop in CleanRL's style on `make_vec`; the loop handles the ends of games.

Network and update are those of the recipe, `docs/recipes/cleanrl_style.py`, and what they learn is tested with it.
What the loop must know is the autoreset mode. With SAME_STEP the observation after an end is the next game's,
and the last one of the old game is in `final_obs`. With NEXT_STEP the step after an end ignores its action and
only starts the next game, so it is no transition.
"""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode

from docs.recipes.cleanrl_style import make_network, update

BOARDS, STEPS, BATCH = 16, 60, 128


@pytest.mark.parametrize("mode", [AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP])
def test_a_vector_loop_stores_every_ply_once_and_learns(mode: AutoresetMode) -> None:
    generator = np.random.default_rng(1000)
    envs = gymnasium.make_vec("TicTacToeVersus-v0", num_envs=BOARDS, autoreset_mode=mode)
    same_step = mode is AutoresetMode.SAME_STEP
    memory: list[tuple[Any, ...]] = []
    observations, _ = envs.reset(seed=1000)
    starting = np.zeros(BOARDS, bool)
    for _ in range(STEPS):
        actions = generator.integers(9, size=BOARDS)
        next_observations, rewards, terminations, _, infos = envs.step(actions)
        real_next = next_observations.copy()
        if same_step:
            for board in np.flatnonzero(terminations):
                real_next[board] = infos["final_obs"][board]
        parts = observations, real_next, actions, rewards, terminations
        memory += zip(*(part[~starting] for part in parts), strict=True)
        starting = terminations & (not same_step)
        observations = next_observations

    columns = [np.array(part) for part in zip(*memory, strict=True)]
    assert {*columns[3].tolist()} == {1.0, 0.0, -1.0, -10.0}
    # A game's last board has marks on it: a taken cell needs a mark, and so do a line and a full board.
    assert (columns[1][..., 0].sum((1, 2)) < 9).all()
    assert (len(memory) == STEPS * BOARDS) == same_step
    network = make_network()
    weights = [weight.clone() for weight in network.parameters()]
    rows = generator.integers(len(memory), size=BATCH)
    sampled = [torch.from_numpy(column[rows]) for column in columns]
    update(network, make_network(), torch.optim.Adam(network.parameters(), lr=1e-3), sampled)
    assert not any(map(torch.equal, weights, network.parameters()))
