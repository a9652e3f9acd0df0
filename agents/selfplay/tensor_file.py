"""Tensors out of a safetensors file, once its kind and its header have been compared with what is wanted.

Such a file cannot hold code, but it can announce more than memory holds, be a pipe, or have no end.
"""

from collections.abc import Mapping
from pathlib import Path

from safetensors import SafetensorError, safe_open
from torch import Tensor

from selfplay.files import open_regular

LONGEST_HEADER = 1 << 20
"""Bytes; what this program writes has some hundreds."""


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
    with open_regular(path) as file:
        length = int.from_bytes(file.read(8), "little")
    if length > LONGEST_HEADER:
        raise SafetensorError(f"its header is to have {length:,} bytes")
    shapes = {name: tuple(tensor.shape) for name, tensor in wanted.items()}
    with safe_open(path, framework="pt") as opened:
        found = {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118 (no mapping)
        if found != shapes:
            raise OtherTensorsError(found)
        return {name: opened.get_tensor(name) for name in shapes}


def bytes_at_most(wanted: Mapping[str, Tensor]) -> int:
    """Return the size that a file of these tensors cannot exceed."""
    return 8 + LONGEST_HEADER + sum(tensor.numel() * tensor.element_size() for tensor in wanted.values())
