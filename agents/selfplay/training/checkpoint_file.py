"""One checkpoint on disk: `N.safetensors` and, written after it, `N.json`, which holds the checksums of both.

Nothing that is read can execute code, and the sizes that a file announces are compared with those that the
settings ask for before memory is taken.
"""

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import save
from torch import Tensor

from selfplay.errors import UserError
from selfplay.files import checksum_of_file, read_small, sync, write_whole
from selfplay.tensor_file import OtherTensorsError, bytes_at_most, read_tensors

FORMAT = 1
LARGEST_CONTENT = 1 << 20
"""Bytes of JSON; a checkpoint has about two thousand."""
KINDS = {"algorithm": str, "config": dict, "finished": bool, "counters": dict, "tensors_sha256": str}
"""What the JSON holds beside its format, its version and its own checksum."""


class DamagedError(Exception):
    """Say why a file is not what was written."""


class CheckpointFile(NamedTuple):
    """Name a checkpoint."""

    place: Path
    number: int

    @property
    def content(self) -> Path:
        """Return the JSON file, without which there is no checkpoint."""
        return self.place / f"{self.number}.json"

    @property
    def tensors(self) -> Path:
        """Return the safetensors file."""
        return self.place / f"{self.number}.safetensors"

    def write(self, content: dict[str, Any], tensors: Mapping[str, Tensor]) -> None:
        """Write both files, or leave neither; `content` is given the checksum of the tensors.

        Raises:
            OSError: they cannot be written.
        """
        packed = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()})
        content["tensors_sha256"] = hashlib.sha256(packed).hexdigest()
        try:
            write_whole(self.tensors, packed)
            self.write_content(content)
        except OSError:  # on a full disk half a checkpoint would keep it full
            self.remove()
            raise

    def write_content(self, content: Mapping[str, Any]) -> None:
        """Write the JSON, in place of an earlier one.

        Raises:
            OSError: it cannot be written.
        """
        whole = {"format": FORMAT, **content}
        write_whole(self.content, (json.dumps({**whole, "sha256": _checksum(whole)}, indent=1) + "\n").encode())
        sync(self.place)

    def remove(self) -> None:
        """Remove what there is of it and can be removed, the JSON first, so that none is ever without its tensors."""
        for path in (self.content, self.tensors):
            with contextlib.suppress(OSError):
                path.unlink()

    def read_content(self) -> dict[str, Any]:
        """Return the JSON.

        Raises:
            DamagedError: it is not what was written.
            UserError: it is whole, but not a checkpoint of this program, or in another format.
        """
        path = self.content
        try:
            content: Any = json.loads(read_small(path, LARGEST_CONTENT))
            whole = isinstance(content, dict) and content.pop("sha256", None) == _checksum(content)
        except OSError as error:
            raise DamagedError(f"{path}: cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError):
            raise DamagedError(f"{path}: is damaged (it is not JSON)") from None
        if not whole:  # whatever else it is: a wrong bit makes it no checkpoint of another program
            raise DamagedError(f"{path}: is damaged (its checksum differs)")
        found = content.pop("format", None)
        if isinstance(found, int) and found != FORMAT:
            of = f"format {found} of version {content.get('version')!r}, this program reads format {FORMAT}"
            raise UserError(f"{path}: is a checkpoint in {of}; resume with that version, or start a new run")
        if not isinstance(found, int) or not all(isinstance(content.get(name), kind) for name, kind in KINDS.items()):
            raise UserError(f"{path}: is not a checkpoint of this program; remove it, or start a new run")
        return dict(content)

    def read_tensors(self, checksum: str, wanted: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the tensors, which must have the names, shapes and types of `wanted`.

        Raises:
            DamagedError: they are not what was written.
            UserError: they are of a run with other settings.
        """
        path = self.tensors
        try:
            if path.stat().st_size <= bytes_at_most(wanted) and checksum_of_file(path) != checksum:
                raise DamagedError(f"{path}: is damaged (its checksum differs)")
            tensors = read_tensors(path, wanted)  # which refuses a larger file, before anybody has read it
        except OSError as error:
            raise DamagedError(f"{path}: cannot be read ({error.strerror or error})") from None
        except SafetensorError as error:
            raise DamagedError(f"{path}: is not a safetensors file ({error})") from None
        except OtherTensorsError as error:
            shapes = {name: tuple(tensor.shape) for name, tensor in wanted.items()}
            name = next(n for n in sorted(error.found.keys() | shapes.keys()) if error.found.get(n) != shapes.get(n))
            difference = f"{name} must be {shapes.get(name)}, but is {error.found.get(name)}"
            raise UserError(f"{path}: is of other settings than the run: {difference}") from None
        for name, tensor in tensors.items():
            if tensor.dtype != wanted[name].dtype:
                raise UserError(f"{path}: {name} must be {wanted[name].dtype}, but is {tensor.dtype}")
        return tensors


def _checksum(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
