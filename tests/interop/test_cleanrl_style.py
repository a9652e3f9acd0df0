"""A DQN loop in CleanRL's style trains on `make_vec`, with the ends of games handled by the loop.

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
    network, target_network = make_network(), make_network()
    memory: list[tuple[Any, ...]] = []
    observations, infos = envs.reset(seed=1000)
    starting = np.zeros(BOARDS, bool)
    for _ in range(STEPS):
        actions = generator.integers(9, size=BOARDS)
        taken = infos["action_mask"][np.arange(BOARDS), actions] == 0
        next_observations, rewards, terminations, truncations, infos = envs.step(actions)

        assert not truncations.any()
        played = ~starting
        assert (rewards[starting] == 0).all()
        assert not terminations[starting].any()
        assert np.array_equal((rewards == -10)[played], taken[played])
        real_next = next_observations.copy()
        if mode is AutoresetMode.SAME_STEP:
            for board in np.flatnonzero(terminations):
                real_next[board] = infos["final_obs"][board]
        else:
            starting = terminations
        parts = observations, real_next, actions, rewards, terminations
        memory += zip(*(part[played] for part in parts), strict=True)
        observations = next_observations
    envs.close()

    columns = [np.array(part) for part in zip(*memory, strict=True)]
    _, following, _, paid, _ = columns
    assert set(paid.tolist()) == {1.0, 0.0, -1.0, -10.0}
    # A game's last board has marks on it: a taken cell needs a mark, and so do a line and a full board.
    assert (following[..., 0].sum((1, 2)) < 9).all()
    assert (len(memory) == STEPS * BOARDS) == (mode is AutoresetMode.SAME_STEP)
    weights = [weight.clone() for weight in network.parameters()]
    drawn = generator.integers(len(memory), size=BATCH)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    update(network, target_network, optimizer, [torch.from_numpy(column[drawn]) for column in columns])
    assert not any(map(torch.equal, weights, network.parameters()))
