"""Count what a GPU would have to do: operations, and bytes read and written, without one.

The figures of docs/performance.md (seconds):

    python -m benchmarks.training.device_work

Everything runs on PyTorch's meta device, whose tensors have shapes and no values, so that the operations are those of
a GPU and nothing is computed. An operation launches one kernel or a few; views, which launch none, are left out. It
reads its inputs once and writes its outputs once: of a table that it looks rows up in, only those rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from selfplay.dqn.agent import DQNAgent
from selfplay.dqn.beginnings import Beginnings
from selfplay.dqn.canonical import Canonical
from selfplay.dqn.interleaved import InterleavedAgents
from selfplay.dqn.self_play import DQNLearner
from selfplay.dqn.standing import new_boards
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from benchmarks.measuring import machine, tables
from benchmarks.measuring.flags import read_flags
from selfplay.command_line import run_command
from selfplay.dqn.config import DQNConfig
from tictactoe import Rewards, Rules, batch

PROG = "python -m benchmarks.training.device_work"
META = torch.device("meta")
BOARDS = 1_048_576
"""Boards of the batch alone."""
GOAL = 1e9
"""Plies per second that are asked of it on a GPU."""
LOOK_UPS = ("aten.index_select.default", "aten.index.Tensor", "aten.gather.default")
SMALL_BOARDS = (Rules(3, 3, 3), Rules(4, 4, 4), Rules(7, 7, 5))
RUNS = {
    "`python train.py`": DQNConfig(),
    "`--mask`": DQNConfig(mask=True),
    "`--networks separate`": DQNConfig(networks="separate"),
    "`--target independent`": DQNConfig(target="independent"),
}
HEADER = ("what", "operations", "bytes", "bytes a board")


@dataclass(frozen=True)
class Flags:
    """Count what a GPU would have to do."""

    boards: int = BOARDS
    """Boards of `tictactoe.batch` alone; training has its own number."""


class Work(NamedTuple):
    """Hold what was counted."""

    operations: int
    bytes: int


class Counting(TorchDispatchMode):
    """Count the operations inside, and the bytes that they read and write."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = 0
        self.bytes = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Do an operation and count it, if it is more than another view of the same memory."""
        result = func(*args, **(kwargs or {}))
        inputs, outputs = _tensors((args, kwargs)), _tensors(result)
        is_view = not func._schema.is_mutable and {*map(_memory, outputs)} <= {*map(_memory, inputs)}
        if not is_view:
            read = [*inputs[1:], *outputs] if str(func) in LOOK_UPS else inputs
            self.operations += 1
            self.bytes += sum(map(_bytes, [*read, *outputs]))
        return result


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _memory(tensor: Tensor) -> int:
    memory: int = tensor.untyped_storage()._cdata
    return memory


def _bytes(tensor: Tensor) -> int:
    """Return the bytes of a tensor, each place in memory once where it is repeated along a dimension."""
    elements = 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        elements *= size if stride else min(size, 1)
    return elements * tensor.element_size()


def count(call: Callable[[], object]) -> Work:
    """Return the work of a call; what is done only once, such as making tables, is done before."""
    call()
    with Counting() as counting:
        call()
    return Work(counting.operations, counting.bytes)


def batch_work(rules: Rules, boards: int) -> Work:
    """Return the work of one ply on every board: step, new games for those that ended, observation and mask."""
    rewards, state = Rewards(), batch.reset(rules, boards, torch, META)
    actions = torch.empty(boards, dtype=torch.int64, device=META)

    def ply() -> None:
        played = batch.step(rules, rewards, state, actions)
        after = batch.restart(played.state, played.terminated)
        batch.observe(rules, after)
        batch.action_mask(rules, after)

    return count(ply)


def iteration_work(config: DQNConfig) -> Work:
    """Return the work of one iteration of training with an update in it."""
    learner = DQNLearner(config, torch.device("cpu"))
    agents = [DQNAgent(config, META, torch.Generator()) for _ in range(2)]
    learner.agents = InterleavedAgents(agents if config.networks == "separate" else agents[:1] * 2)
    learner.canonical = Canonical(config.rules, META)
    learner.beginnings = Beginnings(config.rules, config.counterexamples, META)
    positions = learner.look(new_boards(config, META))
    return count(lambda: learner.iterate(positions, 0.5, learning=True))


def main(args: Sequence[str]) -> None:
    """Count, and print the table."""
    flags = read_flags(Flags, args, PROG)
    console = machine.start("What a GPU would have to do")
    rows = []
    for rules in SMALL_BOARDS:
        work = batch_work(rules, flags.boards)
        name = f"a ply of `tictactoe.batch`, {rules}, {flags.boards:,} boards"
        rows.append((name, f"{work.operations}", f"{work.bytes:,}", f"{work.bytes / flags.boards:,.0f}"))
    for name, config in RUNS.items():
        work = iteration_work(config)
        per_board = f"{work.bytes / config.num_envs:,.0f}"
        rows.append((f"an iteration of {name}", f"{work.operations}", f"{work.bytes:,}", per_board))
    tables.present(console, HEADER, rows, "operations launch one kernel or a few each; views are left out")
    bandwidth = batch_work(SMALL_BOARDS[0], flags.boards).bytes / flags.boards * GOAL
    console.print(f"{GOAL:,.0f} plies/s of {SMALL_BOARDS[0]} move {bandwidth / 1e12:.2f} TB/s through its memory")


if __name__ == "__main__":
    run_command(main, PROG)
