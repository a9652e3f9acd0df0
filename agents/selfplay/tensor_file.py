"""Tensors into a safetensors file, and out of one once its kind and its header have been compared with what is wanted.

Such a file cannot hold code, but it can announce more than memory holds, be a pipe, or have no end.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from selfplay.errors import UserError
from selfplay.files import open_regular, write_whole
from tictactoe import Rules

LONGEST_HEADER = 1 << 20
"""Bytes; what this program writes has some hundreds."""

Reader: TypeAlias = Callable[[Path, Mapping[str, Tensor], Rules], dict[str, Tensor]]
"""Returns the wanted tensors, of a board, that a player's file holds, as `read_model` does."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any device as a safetensors file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}))


class OtherTensorsError(Exception):
    """Say which tensors a file has instead of the wanted ones."""

    def __init__(self, found: dict[str, tuple[int, ...]]) -> None:
        super().__init__("other tensors than are wanted")
        self.found = found
        """Their shapes by name."""


def read_tensors(path: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a file that has exactly the names and shapes of `wanted`, which may be on "meta".

    Types and values are the caller's to check. No memory is taken before the shapes have been compared.

    Raises:
        OSError: the file cannot be read or is no regular file.
        SafetensorError: it is damaged or of another kind.
        OtherTensorsError: it holds other names or shapes.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in wanted.items()}
    with opened(path) as file:
        found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118 (no mapping)
        if found != shapes:
            raise OtherTensorsError(found)
        return {name: file.get_tensor(name) for name in shapes}


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a file of which only the header, whose size has been looked at, is read as long as no tensor is asked for.

    Raises:
        OSError: the file cannot be read or is no regular file.
        SafetensorError: it is damaged or of another kind.
    """
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise SafetensorError(f"its header is to have {length:,} bytes")
    with safe_open(path, framework="pt") as mapped:
        yield mapped


def bytes_at_most(wanted: Mapping[str, Tensor]) -> int:
    """Return the size that a file of these tensors cannot exceed."""
    return 8 + LONGEST_HEADER + sum(tensor.numel() * tensor.element_size() for tensor in wanted.values())


def read_model(path: Path, wanted: Mapping[str, Tensor], rules: Rules) -> dict[str, Tensor]:
    """Return the tensors of a player's file, which must be those `wanted` and finite.

    Raises:
        UserError: they are not, or the file cannot be read.
    """
    try:
        with told_in_one_line(path):
            tensors = read_tensors(path, wanted)
    except OtherTensorsError as error:
        raise UserError(f"{path}: {_difference(error.found, wanted, rules)}") from None
    check_numbers(path, tensors, wanted)
    return tensors


@contextlib.contextmanager
def told_in_one_line(path: Path) -> Iterator[None]:
    """Say in one line why a player's file cannot be read.

    Raises:
        UserError: it cannot.
    """
    try:
        yield
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; did the run end?") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise UserError(f"{path}: is truncated or not a safetensors file ({error})") from None


def check_numbers(path: Path, tensors: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> None:
    """Refuse tensors of other types than those wanted, or with numbers that are not finite.

    Raises:
        UserError: there are some.
    """
    for key, tensor in tensors.items():
        if tensor.dtype != wanted[key].dtype or not bool(torch.isfinite(tensor).all()):
            dtype = str(wanted[key].dtype).removeprefix("torch.")
            raise UserError(f"{path}: {key} is not made of finite {dtype} numbers")


def _difference(found: dict[str, tuple[int, ...]], wanted: Mapping[str, Tensor], rules: Rules) -> str:
    if found.keys() != wanted.keys():
        return f"holds other tensors than config.json describes ({', '.join(sorted(found.keys() ^ wanted.keys()))})"
    key = next(key for key in wanted if found[key] != tuple(wanted[key].shape))
    return (
        f"is of another board or network than config.json describes: "
        f"for {rules.rows}x{rules.cols} {key} must be {tuple(wanted[key].shape)}, but is {found[key]}"
    )
