"""Games against earlier snapshots: how many there are, who moves in them, and what the snapshots are."""

import pytest
import torch

from selfplay.dqn.dqn import InterleavedSelfPlay
from selfplay.dqn.learner import least_bytes
from selfplay.dqn.pool import EVERY, LEARNER, SHARE, SNAPSHOTS, SnapshotPool
from tests.selfplay.dqn.scripted import CPU, config_with, give_constant_values, one_hot


def pool_of(boards: int, networks: int = 1) -> SnapshotPool:
    return SnapshotPool([torch.nn.Linear(27, 9) for _ in range(networks)], boards, CPU)


def test_a_share_of_the_games_has_a_snapshot_in_either_seat_and_others_keep_theirs() -> None:
    pool = pool_of(20_000)
    pool.holder[:, ::2] = 3
    pool.start_games(torch.arange(20_000) % 2 == 1, torch.Generator().manual_seed(0))
    assert (pool.holder[:, ::2] == 3).all()
    started = pool.holder[:, 1::2]
    assert not (started != LEARNER).all(dim=0).any()  # the learner holds a seat in every game
    for seat in started:
        counts = torch.bincount(seat - LEARNER, minlength=SNAPSHOTS + 1) / 10_000
        assert counts.tolist() == pytest.approx([1 - SHARE / 2] + [SHARE / 2 / SNAPSHOTS] * SNAPSHOTS, abs=0.02)


@pytest.mark.parametrize("networks", ["shared", "separate"])
def test_a_snapshot_takes_its_best_moves_in_its_seat_and_the_agent_all_others(networks: str) -> None:
    config = config_with(networks=networks, opponents="snapshots", counterexamples=0, epsilon_start=0, num_envs=8)
    play = InterleavedSelfPlay(config, CPU)
    assert play.pool is not None
    for of_second, agent in enumerate(play.agents):
        give_constant_values(agent.network, one_hot(8 - of_second))
    for number, snapshot in enumerate(play.pool.snapshots):
        for of_second, network in enumerate(snapshot.children()):
            give_constant_values(network, one_hot(number + 4 * of_second))
    play.pool.holder[0] = torch.tensor([0, 1, 2, 3, LEARNER, LEARNER, LEARNER, LEARNER])
    play.pool.holder[1] = torch.tensor([LEARNER, LEARNER, LEARNER, LEARNER, 0, 1, 2, 3])
    seat = torch.tensor([0, 0, 1, 1, 0, 0, 1, 1])
    expected = [0, 1, 7, 7, 8, 8, 6, 7] if networks == "separate" else [0, 1, 8, 8, 8, 8, 2, 3]
    assert play.act(torch.zeros(8, 27), seat).tolist() == expected


def vector(module: torch.nn.Module) -> list[float]:
    """Return all weights of a module."""
    return [float(weight) for weight in torch.nn.utils.parameters_to_vector(module.parameters())]


def test_the_player_replaces_a_snapshot_after_some_updates_and_it_stays_as_it_is() -> None:
    play = InterleavedSelfPlay(config_with(opponents="snapshots", networks="separate", warmup=0), CPU)
    assert play.pool is not None

    pool = play.pool

    def snapshots() -> list[list[float]]:
        return [*map(vector, pool.snapshots)]

    untrained = snapshots()
    for _ in range(EVERY - 1):
        play.advance()
    assert snapshots() == untrained
    play.advance()
    taken = snapshots()
    assert sorted(taken) == sorted([*untrained[1:], vector(torch.nn.ModuleList(play.networks))])
    play.advance()
    assert snapshots() == taken
    for _ in range(30):
        pool.take(play.networks, play.generator)
    assert snapshots() == [vector(torch.nn.ModuleList(play.networks))] * SNAPSHOTS


def test_the_snapshots_count_as_memory() -> None:
    assert least_bytes(config_with(opponents="snapshots")) > least_bytes(config_with())
