"""The loops that benchmarks measure play, learn and multiply what they say."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.environment.face_loops import Played
from benchmarks.training import loops
from selfplay.dqn.dqn import InterleavedSelfPlay
from tests.benchmarks.reports import config_with


def test_playing_alone_never_learns_and_training_does(monkeypatch: pytest.MonkeyPatch) -> None:
    updates: list[int] = []
    learn = InterleavedSelfPlay.learn

    def counted(agents: InterleavedSelfPlay) -> object:
        updates.append(1)
        return learn(agents)

    monkeypatch.setattr(InterleavedSelfPlay, "learn", counted)
    config = config_with(num_envs=8, warmup=0)
    assert loops.playing(config, steps=5)() == Played(40, 0)
    assert not updates
    assert loops.training(config, steps=5)() == Played(5, 0)
    assert len(updates) == 5


def test_an_update_is_of_the_networks_asked_for_and_from_a_full_memory() -> None:
    config = config_with(hidden=(24,), memory_size=500)
    agents = loops.filled(config).agents
    agent = agents.seats[0]
    assert agents.shared
    assert agent.memory.added >= 500
    assert (agent.memory.table[:500, :27].sum(dim=1) == 9).all()
    before = agent.state()["weights"].clone()
    agents.learn()
    assert agent.network.get_parameter("advantage.weight").shape == (9, 24)
    assert (agent.state()["weights"] != before).any()


@pytest.mark.parametrize(("double", "passes"), [(True, 3), (False, 2)])
def test_the_products_are_those_that_an_update_computes(
    double: bool, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(hidden=(24, 16), batch_size=8, memory_size=64, double=double)
    flops: list[int] = []
    multiply = torch.mm

    def counted(left: torch.Tensor, right: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        flops.append(2 * left.shape[0] * left.shape[1] * right.shape[1])
        return multiply(left, right, out=out)

    chunk = loops.update_products(config)
    monkeypatch.setattr(torch, "mm", counted)
    assert chunk() == Played(1, 0)
    weights = [27 * 24, 24 * 16, 16 * 9]
    assert sum(flops) == 2 * 8 * ((passes + 2) * sum(weights) - weights[0])
    agents = loops.filled(config).agents
    with FlopCounterMode(display=False) as counter:
        agents.learn()
    assert sum(flops) == counter.get_total_flops()
