"""Safetensors files: they cannot hold code, and their header is checked before memory is allocated.

A file holds the tensors of a player, or the whole state of a learner: tensors, arrays, and values that JSON holds.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from selfplay.errors import UserError
from selfplay.files import LARGEST_PLAYER, open_regular, write_whole

LARGEST_HEADER = 100_000_000
"""Bytes; the library reads no longer one. A state that holds tables as JSON may need millions."""
LARGEST_STATE = 1 << 36
"""Bytes of a learner's state that is read; most are the replay memory of a DQN."""
STATE = "state"
"""The only entry of a state's metadata, because the library writes several in any order: JSON with the `values` that
are no tensors, the names of the tensors that are NumPy `arrays`, and `notes`."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: dict[str, str] | None = None) -> None:
    """Write tensors of any device as a safetensors file, whole or not at all.

    Raises:
        UserError: names, shapes and metadata are so long that the file could not be read.
        OSError: the file cannot be written.
    """
    on_cpu = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    content = save(on_cpu, metadata)
    if int.from_bytes(content[:8], "little") > LARGEST_HEADER:
        raise UserError(f"{path}: would hold over {LARGEST_HEADER:,} bytes of JSON; keep tables as arrays")
    write_whole(path, content)


def write_state(path: Path, state: Mapping[str, Any], notes: Mapping[str, Any] | None = None) -> None:
    """Write a learner's state, and notes that JSON holds; `read_state` returns both.

    Raises:
        UserError: neither a file of tensors nor JSON can hold a value, or the JSON is too long.
        OSError: the file cannot be written.
    """
    tensors, arrays, values = {}, [], {}
    for name, value in state.items():
        if isinstance(value, Tensor):
            tensors[name] = value
        elif isinstance(value, np.ndarray):
            tensors[name] = torch.from_numpy(np.array(value, order="C"))
            arrays.append(name)
        else:
            values[name] = value
    try:
        text = json.dumps({"values": values, "arrays": arrays, "notes": dict(notes or {})}, default=_plain)
    except TypeError as error:
        raise UserError(f"state() of a learner must hold arrays, tensors, and what JSON holds: {error}") from None
    write_tensors(path, tensors, {STATE: text})


def _plain(number: Any) -> Any:
    if not isinstance(number, np.generic):
        raise TypeError(f"got {number!r}")
    return number.item()


def read_tensors(path: Path, wanted: Mapping[str, Tensor] | None = None) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the tensors of a file and its metadata.

    The file must have exactly the names, shapes and types of `wanted`, which may be on "meta", unless it is None: then
    it is a state, which may be larger than a player.

    Raises:
        UserError: it has others, is damaged, too large, or cannot be read.
    """
    try:
        open_regular(path, LARGEST_STATE if wanted is None else LARGEST_PLAYER).close()  # a pipe would have no end
        with safe_open(path, framework="pt") as mapped:
            names, metadata = list(mapped.keys()), mapped.metadata() or {}
            if wanted is not None:
                _check_names(path, names, wanted)
            tensors = {}
            for name in names:
                if wanted is not None:
                    shape = tuple(mapped.get_slice(name).get_shape())
                    _check(path, name, "shape", shape, tuple(wanted[name].shape))  # before memory is allocated
                tensors[name] = mapped.get_tensor(name)
                if wanted is not None:
                    _check(path, name, "type", tensors[name].dtype, wanted[name].dtype)
            return tensors, metadata
    except FileNotFoundError:
        raise UserError(f"{path}: there is no such file; did the run end?") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None
    except RuntimeError as error:
        raise UserError(f"{path}: does not fit into memory ({error})") from None
    except SafetensorError as error:
        raise UserError(f"{path}: is truncated or not a safetensors file ({error})") from None


def _check_names(path: Path, names: list[str], wanted: Mapping[str, Tensor]) -> None:
    odd = sorted(wanted.keys() ^ set(names))
    if odd:
        raise UserError(f"{path}: holds other tensors than config.json describes ({', '.join(odd)})")


def _check(path: Path, name: str, what: str, got: object, wanted: object) -> None:
    if got != wanted:
        raise UserError(
            f"{path}: is of another board or network than config.json describes: "
            f"{name} must be of {what} {wanted}, but is of {got}"
        )


def read_model(path: Path, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of a player's file, which must be as `wanted` and finite.

    Raises:
        UserError: they are not, or the file cannot be read.
    """
    tensors, _ = read_tensors(path, wanted)
    for name, tensor in tensors.items():
        if not bool(torch.isfinite(tensor).all()):
            raise UserError(f"{path}: {name} is not made of finite numbers")
    return tensors


def read_state(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the state of a learner that a file holds, and its notes.

    Raises:
        UserError: it holds none, is damaged, or cannot be read.
    """
    tensors, metadata = read_tensors(path)
    try:
        content = json.loads(metadata[STATE])
        arrays = {name: tensors[name].numpy() for name in content["arrays"]}
        return {**content["values"], **tensors, **arrays}, dict(content["notes"])
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise UserError(f"{path}: holds no state of a learner ({error!r})") from None


def check_state(state: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """Refuse a state whose names, shapes or types are not as `wanted`, the state that a learner has now.

    Raises:
        UserError: it has others, or a number in it is not finite.
    """
    odd = sorted(wanted.keys() ^ state.keys())
    if odd:
        raise UserError(f"the checkpoint is of other settings than config.json has ({', '.join(odd)})")
    for name, value in wanted.items():
        got, expected = _described(state[name]), _described(value)
        if got != expected:
            raise UserError(f"the checkpoint is of another board or network: {name} must be {expected}, but is {got}")
        floats = isinstance(state[name], Tensor) and state[name].is_floating_point()
        if floats and not bool(state[name].isfinite().all()):
            raise UserError(f"the checkpoint is damaged: {name} is not made of finite numbers")


def _described(value: Any) -> str:
    if isinstance(value, Tensor | np.ndarray):
        return f"{value.dtype} of shape {tuple(value.shape)}"
    return type(value).__name__
