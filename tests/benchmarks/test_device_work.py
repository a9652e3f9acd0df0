"""What a GPU would have to do is counted: operations, views left out, and the bytes that they read and write."""

from collections.abc import Callable

import pytest
import torch

from benchmarks.training import device_work
from benchmarks.training.device_work import Work
from selfplay.dqn.config import DQNConfig
from tictactoe import Rules


def floats(*shape: int) -> torch.Tensor:
    return torch.empty(shape, device="meta")


NUMBERS = torch.empty(8, dtype=torch.int64, device="meta")
TABLE = floats(1_000, 2)


@pytest.mark.parametrize(
    ("call", "work"),
    [
        pytest.param(lambda: floats(8) + 1, Work(2, 32 + 64), id="making a tensor and adding to it"),
        pytest.param(lambda: TABLE.add_(1), Work(1, 2 * 8_000), id="in place"),
        pytest.param(lambda: TABLE[3:5].view(4), Work(0, 0), id="views"),
        pytest.param(lambda: TABLE + TABLE[0], Work(1, 2 * 8_000 + 8), id="two arrays"),
        pytest.param(lambda: TABLE + TABLE[:1].expand(1_000, 2), Work(1, 2 * 8_000 + 8), id="repeated"),
        pytest.param(lambda: TABLE.index_select(0, NUMBERS), Work(1, 64 + 2 * 64), id="rows of a table"),
        pytest.param(lambda: TABLE[NUMBERS], Work(1, 64 + 2 * 64), id="rows by indexing"),
    ],
)
def test_operations_and_bytes_are_counted(call: Callable[[], object], work: Work) -> None:
    assert device_work.count(call) == work


def test_work_grows_with_boards_and_not_with_what_is_made_once() -> None:
    rules = Rules(3, 3, 3)
    one, two = (device_work.batch_work(rules, boards) for boards in (1_000, 2_000))
    assert one.operations == two.operations > 0
    assert two.bytes - one.bytes == pytest.approx(one.bytes, rel=0.01)


def test_an_iteration_has_an_update_of_each_agent_in_it() -> None:
    shared = device_work.iteration_work(DQNConfig())
    separate = device_work.iteration_work(DQNConfig(networks="separate"))
    twice = device_work.iteration_work(DQNConfig(updates_per_step=2))
    assert twice.operations > shared.operations
    assert separate.bytes > 1.9 * shared.bytes


def test_the_script_prints_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    device_work.main(["--boards", "1000"])
    printed = capsys.readouterr().out
    for name in ("3,3,3, 1,000 boards", "7,7,5", "python train.py", "--networks separate", "TB/s"):
        assert name in printed
