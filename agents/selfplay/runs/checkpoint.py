"""The checkpoint of a run: everything that it needs to continue to the same bits, in one safetensors file.

It holds the learner's state, the player that is kept and, as notes, the progress of the run and its settings.
"""

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.errors import UserError
from selfplay.files import sync
from selfplay.runs.folder import CHECKPOINT, METRICS
from selfplay.runs.loop import Counters
from selfplay.settings import RunSettings, to_json
from selfplay.tensor_file import read_state, write_state

KEPT = "kept/"
"""Beginning of the names of the tensors of the player that is kept."""


class Kept(NamedTuple):
    """The last player that was proved, which a run keeps if it ends now."""

    steps: int
    """Those of its evaluation."""
    tensors: Mapping[str, Any]
    """Of the player or, for a custom learner, the learner's state."""


class Checkpoint(NamedTuple):
    """The content of a checkpoint file."""

    state: dict[str, Any]
    """Of the learner."""
    kept: Kept | None
    """None if no player was proved."""
    progress: Counters
    settings: Mapping[str, Any]
    """Of the run when it was written."""


def write_checkpoint(
    folder: Path, state: Mapping[str, Any], kept: Kept | None, progress: Counters, config: RunSettings
) -> None:
    """Write the checkpoint of a run in place of the last one, whole or not at all.

    Raises:
        OSError: it cannot be written; the last one stays.
        UserError: a learner's state holds what no file can hold.
    """
    metrics = folder / METRICS
    if metrics.exists():
        sync(metrics)  # the checkpoint counts its lines
    notes: dict[str, Any] = {"progress": asdict(progress), "settings": to_json(config)}
    if kept is not None:
        notes["kept"] = kept.steps
        state = {**state, **{KEPT + name: value for name, value in kept.tensors.items()}}
    write_state(folder / CHECKPOINT, state, notes)


def read_checkpoint(folder: Path) -> Checkpoint | None:
    """Return the checkpoint of a run, None if there is none.

    Raises:
        UserError: it is damaged.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    state, run = read_state(path)
    try:
        kept = None
        if "kept" in run:
            tensors = {name: state.pop(name) for name in list(state) if name.startswith(KEPT)}
            kept = Kept(run["kept"], {name.removeprefix(KEPT): value for name, value in tensors.items()})
        return Checkpoint(state, kept, Counters(**run["progress"]), run["settings"])
    except (KeyError, TypeError) as error:
        raise UserError(f"{path}: is no checkpoint of a run ({error!r}); start a new run") from None
