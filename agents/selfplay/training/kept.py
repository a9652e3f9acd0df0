"""The players that a run keeps of its way: those of its evaluations 1, 2, 4, 8, ... and of its end, in one file.

Of a player, `STEPS/NAME` holds the numbers of a tensor that differ from those of the first player, and
`STEPS/NAME/changed` a bit for every number of that tensor, 1 where it is one of these. The first player is compared
with zeros. Nothing is rounded, and a table takes no more room than the part of it that was learned.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from safetensors.torch import save
from torch import Tensor

from selfplay.agent import Player
from selfplay.errors import UserError
from selfplay.files import sync, write_whole
from selfplay.tensor_file import LONGEST_HEADER, check_numbers, opened, told_in_one_line
from tictactoe import Rules

PLAYERS = "players.safetensors"
LARGEST = 1 << 26
"""Bytes of the file: a player for which there is no room is not kept."""
CHANGED = "/changed"

Tensors: TypeAlias = Mapping[str, Tensor]


def is_kept(number: int) -> bool:
    """Tell whether the player of an evaluation is kept that is not the last; the first has the number 1."""
    return number & (number - 1) == 0


def kept_steps(folder: Path) -> tuple[int, ...]:
    """Return after how many steps the players were that a run has kept, in order; none if its folder has no such file.

    Raises:
        UserError: the file cannot be read, or is not one of those.
    """
    path = folder / PLAYERS
    if not path.exists() and not path.is_symlink():
        return ()
    with told_in_one_line(path), opened(path) as file:
        return _steps(path, file.keys())


def read_kept(path: Path, wanted: Tensors, rules: Rules, steps: int) -> dict[str, Tensor]:
    """Return the tensors of the player that was kept after so many steps, which must be those `wanted` and finite.

    No memory is taken before the sizes have been compared.

    Raises:
        UserError: they are not, there is no such player, or the file cannot be read.
    """
    with told_in_one_line(path), opened(path) as file:
        there = _steps(path, file.keys())
        if steps not in there:
            raise UserError(f"{path}: has no player after {steps} steps, but after {', '.join(map(str, there))}")
        for each in {there[0], steps}:
            _check_sizes(path, file, wanted, rules, each)
        found = {name: torch.zeros(tensor.shape, dtype=tensor.dtype) for name, tensor in wanted.items()}
        for each in sorted({there[0], steps}):
            for name, tensor in found.items():
                _change(path, tensor, file, f"{each}/{name}")
    check_numbers(path, found, wanted)
    return found


def _steps(path: Path, names: Iterable[str]) -> tuple[int, ...]:
    found = [re.match(r"(0|[1-9]\d{0,17})/.", name, re.ASCII) for name in names]
    if not all(found):
        raise UserError(f"{path}: is not a file of the players that a run has kept")
    return tuple(sorted({int(match[1]) for match in found if match}))


def _check_sizes(path: Path, file: Any, wanted: Tensors, rules: Rules, steps: int) -> None:
    """Refuse a player that has other tensors than those wanted, by the file's header."""
    start = f"{steps}/"
    shapes = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys() if name.startswith(start)}  # noqa: SIM118
    numbers = {start + name: tensor.numel() for name, tensor in wanted.items()}
    fits = shapes.keys() == numbers.keys() | {name + CHANGED for name in numbers}
    if not fits or not all(
        len(shapes[name]) == 1 and shapes[name][0] <= most and shapes[name + CHANGED] == (-(-most // 8),)
        for name, most in numbers.items()
    ):
        board = f"{rules.rows}x{rules.cols}"
        raise UserError(f"{path}: holds players of another board or network than config.json describes, for {board}")


def _change(path: Path, tensor: Tensor, file: Any, name: str) -> None:
    """Put into a tensor what the file says has changed, once it has been checked."""
    values, changed = file.get_tensor(name), file.get_tensor(name + CHANGED)
    if values.dtype != tensor.dtype or changed.dtype != torch.uint8:
        raise UserError(f"{path}: {name} is not made of {str(tensor.dtype).removeprefix('torch.')} numbers")
    places = int(_places(changed, tensor).sum())
    if places != len(values):
        raise UserError(f"{path}: {name} is damaged (it has {len(values):,} numbers for {places:,} places)")
    _put(tensor, values, changed)


def _put(tensor: Tensor, values: Tensor, changed: Tensor) -> None:
    tensor.view(-1)[_places(changed, tensor)] = values


def _places(changed: Tensor, tensor: Tensor) -> Tensor:
    """Return where bits of 1 stand, a truth value for every number of the tensor."""
    return torch.from_numpy(np.unpackbits(changed.numpy(), count=tensor.numel()).astype(bool))


def _bytes(tensor: Tensor) -> Tensor:
    """Return the bytes of each number, [n, its size]: -0.0 is another number than 0.0 here."""
    return tensor.reshape(-1).view(torch.uint8).view(tensor.numel(), tensor.element_size())


class KeptPlayers:
    """Keep players of a run in its folder, in a file that is written whole or not at all.

    In a run that goes on, those after so many `steps` are kept already, of which each is like `player`; whatever else
    is in the file is of a time to which the run has not come yet, and goes.

    Raises:
        UserError: the file cannot be read.
        OSError: it cannot be written.
    """

    def __init__(self, folder: Path, player: Player, steps: Collection[int]) -> None:
        self._path = folder / PLAYERS
        self._packed: dict[int, dict[str, Tensor]] = {}
        there = kept_steps(folder)
        for each in there:
            if each in steps:
                self._pack(each, read_kept(self._path, player.tensors(), player.rules, each))
        if len(self._packed) < len(there):
            self._write()

    def keep(self, steps: int, player: Player) -> None:
        """Keep the player of the moment, unless there is no room for it.

        Raises:
            OSError: the file cannot be written.
        """
        self._pack(steps, player.tensors())
        if not self._write():
            del self._packed[steps]

    def _pack(self, steps: int, tensors: Tensors) -> None:
        first = min(self._packed, default=steps)
        packed: dict[str, Tensor] = {}
        for name, tensor in tensors.items():
            own = tensor.detach().cpu().contiguous()
            other = torch.zeros_like(own)
            if first < steps:
                _put(other, self._packed[first][name], self._packed[first][name + CHANGED])
            changed = (_bytes(own) != _bytes(other)).any(dim=1)
            packed |= {
                name: own.view(-1)[changed],
                name + CHANGED: torch.from_numpy(np.packbits(changed.numpy())),
            }
        self._packed[steps] = packed

    def _write(self) -> bool:
        """Write the file, or none if there is nothing in it, and tell whether that is not too much."""
        named = {f"{steps}/{name}": each for steps, packed in self._packed.items() for name, each in packed.items()}
        if sum(each.nbytes for each in named.values()) > LARGEST:
            return False
        content = save(named)
        if int.from_bytes(content[:8], "little") > LONGEST_HEADER:
            return False
        if named:
            write_whole(self._path, content)
        else:
            self._path.unlink(missing_ok=True)
        sync(self._path.parent)  # the next checkpoint counts its players
        return True
