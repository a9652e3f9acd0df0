"""The replay memory keeps the newest rows, at its wrap-around too, and samples only what it holds."""

import pytest
import torch

from selfplay.dqn.replay import ReplayMemory
from tests.selfplay.dqn.scripted import CPU


def rows(*numbers: int) -> torch.Tensor:
    return torch.tensor(numbers, dtype=torch.float32)[:, None].expand(-1, 2)


def held(memory: ReplayMemory) -> set[int]:
    drawn = memory.sample(4096, torch.Generator().manual_seed(0))
    assert torch.equal(drawn[:, 0], drawn[:, 1])  # rows stay whole
    return {int(number) for number in drawn[:, 0]}


def test_only_rows_that_were_added_are_sampled_and_zeros_before() -> None:
    memory = ReplayMemory(10, 2, CPU)
    assert held(memory) == {0}
    memory.add(rows(1))
    assert held(memory) == {1}
    memory.add(rows(2, 3))
    assert held(memory) == {1, 2, 3}


def test_the_newest_rows_replace_the_oldest_across_the_wrap() -> None:
    memory = ReplayMemory(5, 2, CPU)
    memory.add(rows(1, 2, 3))
    memory.add(rows(4, 5, 6, 7))
    assert held(memory) == {3, 4, 5, 6, 7}
    memory.add(rows(8))
    assert held(memory) == {4, 5, 6, 7, 8}


def test_a_memory_that_is_filled_exactly_starts_again_at_its_beginning() -> None:
    memory = ReplayMemory(3, 2, CPU)
    memory.add(rows(1, 2, 3))
    assert held(memory) == {1, 2, 3}
    memory.add(rows(4, 5, 6))
    assert held(memory) == {4, 5, 6}


def test_rows_marked_invalid_are_dropped_and_take_no_room() -> None:
    memory = ReplayMemory(3, 2, CPU)
    memory.add(rows(1, 2, 3, 4)[:3], torch.tensor([True, False, True]))
    assert held(memory) == {1, 3}
    memory.add(rows(5, 6, 7), torch.tensor([False, True, True]))
    assert held(memory) == {3, 6, 7}
    memory.add(rows(8, 9, 10), torch.tensor([False, False, False]))
    assert held(memory) == {3, 6, 7}


def test_sampling_is_uniform() -> None:
    memory = ReplayMemory(4, 2, CPU)
    memory.add(rows(0, 1, 2, 3))
    counts = torch.bincount(memory.sample(40_000, torch.Generator().manual_seed(3))[:, 0].long())
    # Five standard deviations of a binomial count of 40,000 draws at 1/4.
    assert (counts - 10_000).abs().max() < 5 * (40_000 * 0.25 * 0.75) ** 0.5


def test_more_rows_than_fit_are_refused() -> None:
    memory = ReplayMemory(2, 2, CPU)
    with pytest.raises(ValueError, match=r"memory of 2 rows cannot take 3"):
        memory.add(rows(1, 2, 3))
