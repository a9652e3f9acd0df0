"""A run that a device has no room for is refused before it begins."""

from typing import Any

import pytest
import torch

from selfplay.dqn import devices
from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.devices import COPIES, check_room, least_bytes
from selfplay.errors import UserError
from tests.selfplay.dqn.scripted import CPU, config_with


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({"memory_size": 1_000 + 7}, 7 * 65 * 4),
        ({"memory_size": 1_000 + 7, "networks": "separate"}, ((1_000 + 7 + 7) * 65 + COPIES * (27 * 32 + 32 * 9)) * 4),
        ({"batch_size": 64 + 5}, 5 * (65 + 32 + 9) * 4),
        ({"num_envs": 16 + 3}, 3 * (32 + 9) * 4),
        ({"hidden": (32, 10)}, ((64 + 16) * 10 + COPIES * (32 * 10 + 10 * 9 - 32 * 9)) * 4),
        ({"convolution": (4, 5)}, ((64 + 16) * 9 * 9 + COPIES * (9 * (3 * 4 + 4 * 5) + 2 * 9 * 32)) * 4),
    ],
)
def test_each_setting_adds_what_it_holds(changes: dict[str, Any], more: int) -> None:
    settings = {"memory_size": 1_000, "batch_size": 64, "num_envs": 16, "hidden": (32,)}
    before = config_with(**settings)
    assert least_bytes(config_with(**settings | changes)) - least_bytes(before) == more


def test_a_memory_is_as_large_as_it_is_said_to_be() -> None:
    config = config_with(memory_size=10_000, batch_size=1, num_envs=1, hidden=())
    table = DQNAgent(config, CPU, torch.Generator()).memory.table
    assert table[:-1].nbytes < least_bytes(config) < 1.01 * table.nbytes


def test_what_is_more_than_there_is_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_with(memory_size=100_000_000)  # 26 GB
    monkeypatch.setattr(devices, "device_bytes", lambda _: 27 * 10**9)
    check_room(config, CPU)
    monkeypatch.setattr(devices, "device_bytes", lambda _: 25 * 10**9)
    with pytest.raises(UserError, match="need at least 26 GB of memory, and this machine has 25 GB; lower"):
        check_room(config, CPU)
    with pytest.raises(UserError, match="and the GPU has 25 GB"):
        check_room(config, torch.device("cuda"))


def test_this_machine_says_how_much_memory_it_has() -> None:
    found = devices.device_bytes(CPU)
    assert found is None or found > 10**8
