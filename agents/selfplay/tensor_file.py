"""Read and write safetensors files: they cannot hold code, and the header is checked before memory is allocated."""

from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from selfplay.errors import UserError
from selfplay.files import open_regular, write_whole
from tictactoe import Rules

LARGEST_HEADER = 1 << 20
"""Bytes; this program writes a few thousand at most."""


def packed(tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> bytes:
    """Return the content of a safetensors file with tensors of any device."""
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    return save(on_cpu, metadata)


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> None:
    """Write tensors of any device as a safetensors file, whole or not at all.

    Raises:
        OSError: the file cannot be written.
    """
    write_whole(path, packed(tensors))


def read_tensors(
    path: Path, wanted: Mapping[str, Tensor] | None, rules: Rules
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a file and its metadata.

    The file must have exactly the names, shapes and types of `wanted`, which may be on "meta", unless it is None.

    Raises:
        UserError: it has others, is damaged, or cannot be read.
    """
    tensors = {}
    try:
        with open_regular(path) as file:
            if int.from_bytes(file.read(8), "little") > LARGEST_HEADER:
                raise UserError(f"{path}: is truncated or not a safetensors file (its header is too long)")
        with safe_open(path, framework="pt") as mapped:
            if wanted is None:
                wanted = {name: mapped.get_tensor(name) for name in mapped.keys()}  # noqa: SIM118 (it is no mapping)
            if odd := ", ".join(sorted(wanted.keys() ^ mapped.keys())):
                raise UserError(f"{path}: holds other tensors than config.json describes ({odd})")
            for name, tensor in wanted.items():
                shape = tuple(mapped.get_slice(name).get_shape())
                if shape != tuple(tensor.shape):
                    raise UserError(
                        f"{path}: is of another board or network than config.json describes: "
                        f"for {rules.rows}x{rules.cols} {name} must be {tuple(tensor.shape)}, but is {shape}"
                    )
                tensors[name] = mapped.get_tensor(name)
                if tensors[name].dtype != tensor.dtype:
                    raise UserError(f"{path}: {name} must be of {tensor.dtype}, but is of {tensors[name].dtype}")
            return tensors, mapped.metadata() or {}
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; did the run end?") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except SafetensorError as error:
        raise UserError(f"{path}: is truncated or not a safetensors file ({error})") from None


def read_model(path: Path, wanted: Mapping[str, Tensor], rules: Rules) -> dict[str, Tensor]:
    """Return the tensors of a player's file, which must be as `wanted` and finite.

    Raises:
        UserError: they are not, or the file cannot be read.
    """
    tensors, _ = read_tensors(path, wanted, rules)
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{path}: {name} is not made of finite numbers")
    return tensors
