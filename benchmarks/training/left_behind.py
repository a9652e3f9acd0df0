"""What a run has left in its folder, all of it but for times, so that two runs can be compared bit for bit."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tensorboard.backend.event_processing.plugin_event_accumulator import TENSORS, EventAccumulator

from selfplay.training.checkpoints import KEPT
from selfplay.training.events import PREFIX
from selfplay.training.folder import CHECKPOINTS, METRICS

EVENTS, HALVES, NEWEST = "TensorBoard's events", "halves of checkpoints", "the newest checkpoint"
TIMES, NO_TIME = "time/", "time/updates"
"""How the tags begin that name a time, and the only one of them that does not."""


def left_behind(folder: Path) -> dict[str, object]:
    """Return what a run has left, by the names of its files, or by what stands in several of them.

    That is the content of each file, the lines of its record, what its newest checkpoint holds, and what TensorBoard
    shows; of all of it the times are left out.
    """
    files = [path for path in folder.iterdir() if path.is_file() and not path.name.startswith(PREFIX)]
    left: dict[str, object] = {path.name: path.read_bytes() for path in files}
    if METRICS in left:
        lines = (folder / METRICS).read_text().splitlines()
        left[METRICS] = [_without_times(json.loads(line)) for line in lines]
    number = newest(folder)
    if number:
        content = json.loads((folder / CHECKPOINTS / f"{number}.json").read_text())
        del content["sha256"], content["counters"]["seconds"]
        left[NEWEST] = content, (folder / CHECKPOINTS / f"{number}.safetensors").read_bytes()
    left[EVENTS] = _shown(folder)
    left[HALVES] = sorted(name for name, _ in halves(folder))
    return left


def differences(one: Mapping[str, object], other: Mapping[str, object]) -> list[str]:
    """Return the names of what is not the same, or is in one of them only."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def newest(folder: Path) -> int:
    """Return the number of a run's last checkpoint, 0 before the first."""
    return max(_numbers(folder, ".json"), default=0)


def halves(folder: Path) -> set[tuple[str, int]]:
    """Return name and time of every file that a killed run has left of a checkpoint that it was writing or removing."""
    whole = _numbers(folder, ".json") & _numbers(folder, ".safetensors")
    lasting = {f"{number}{suffix}" for number in sorted(whole)[-KEPT:] for suffix in (".json", ".safetensors")}
    place = folder / CHECKPOINTS
    paths = place.iterdir() if place.is_dir() else []
    return {(path.name, path.stat().st_mtime_ns) for path in paths if path.name not in lasting}


def _numbers(folder: Path, suffix: str) -> set[int]:
    return {int(path.stem) for path in (folder / CHECKPOINTS).glob(f"*{suffix}")}


def _without_times(line: Mapping[str, Any]) -> dict[str, Any]:
    return {tag: value for tag, value in line.items() if not _is_time(tag)}


def _is_time(tag: str) -> bool:
    return tag.startswith(TIMES) and tag != NO_TIME


def _shown(folder: Path) -> dict[str, object]:
    """Return what TensorBoard shows of a folder by tag: steps with numbers, pictures and texts, and the settings."""
    events = EventAccumulator(str(folder), {TENSORS: 0})  # which stands for all of them, not a sample
    events.Reload()
    shown: dict[str, object] = {"settings": events.PluginTagToContent("hparams")}
    for tag in events.Tags()[TENSORS]:
        if not _is_time(tag) and not tag.startswith("_hparams_"):
            shown[tag] = [(event.step, event.tensor_proto.SerializeToString()) for event in events.Tensors(tag)]
    return shown
