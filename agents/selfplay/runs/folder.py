"""The folder of a run: its name, the names of its files, and its settings as JSON.

To add a flag of `train` that is no setting, write a field of `RunFlags`, which `run.py` is given; a new way to end a
run is a word in `EXIT_STATUS`, in `result.py`. Tests to extend: `cli/test_train_flags.py` and `runs/test_resume.py`.
"""

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from selfplay.errors import UserError
from selfplay.files import read_small, write_whole
from selfplay.judge.verdict import Verdict
from selfplay.settings import Place, RunSettings, Seconds, SettingsError, checked, require, to_json
from tictactoe import Rewards

CONFIG, MODEL, EVALUATION, METRICS = "config.json", "model.safetensors", "evaluation.json", "metrics.jsonl"
CHECKPOINT, SNAPSHOTS, PROGRESS = "checkpoint.safetensors", "snapshots", "progress.png"
LONGEST_NAME = 100
"""Characters of a run's default name before its time."""
TIME = r"\d{8}-\d{6}"
"""The time at the end of a run's default name."""
MOST_NAMED = 10
"""Most runs that a message lists if it is given a folder of runs."""
LARGEST_JSON = 1 << 20
"""Bytes; a configuration has about a thousand."""


@checked
class RunFlags:
    """Flags that say how a process handles a run; none of them is a setting of the run."""

    resume: Place | None = None
    """Run folder in which to continue from the last checkpoint."""
    force: bool = False
    """Resume although settings differ from the run's."""
    checkpoint_interval: Seconds = 60.0
    """Seconds between checkpoints; more if writing them would take over 2 % of the time."""
    name: str | None = None
    """Name of the folder of a new run, instead of the one made of its settings; it must be new or empty."""
    runs_dir: Place = Path("runs")
    """Folder in which the folder of a new run is made."""
    run_dir: Place | None = None
    """Folder of a new run; it must be new or empty. Default: a new folder in runs_dir, named by algorithm, board, seed,
    changed settings and time."""

    def __post_init__(self) -> None:
        if self.name is not None:
            one_folder = Path(self.name).name == self.name and self.name not in ("", "..")
            require(one_folder, "name", "the name of one folder (`runs_dir` says where it is)", self.name)
        places = ("resume", "run_dir", "name", "runs_dir")
        given = [name for name in places if getattr(self, name) != getattr(RunFlags, name)]
        if len(given) > 1 and given != ["name", "runs_dir"]:
            raise SettingsError(f"`{given[0]}` and `{given[1]}` both name the run's folder; leave out one")
        if self.force and self.resume is None:
            raise SettingsError("`force` goes with `resume`, the folder of a run")

    @property
    def named_by(self) -> str:
        """Return the name of the flag that names the folder of a new run."""
        return "run_dir" if self.name is None else "name"


def create(folder: Path, setting: str = "run_dir") -> None:
    """Make a new folder of results; `setting` is the name of the setting that chose it.

    Raises:
        UserError: the folder cannot be made or written to, or has files in it already.
    """
    way_out = f"choose another `{setting}`"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SettingsError(f"{folder}: cannot be made ({error.strerror}); {way_out}") from None
    check_writable(folder, way_out)
    check_empty(folder, setting)


def check_empty(folder: Path, setting: str = "run_dir") -> None:
    """Refuse a folder for new results that has files in it already.

    Raises:
        UserError: it has.
    """
    found = folder.iterdir() if folder.is_dir() else ()
    if any(path.name != f"{CONFIG}.partial" for path in found):  # of a run that was killed at its beginning
        raise SettingsError(f"{folder}: has files in it already; choose a new or empty `{setting}`")


def check_writable(folder: Path, way_out: str) -> None:
    """Refuse a folder in which no file can be made.

    Raises:
        UserError: it is read-only, or there is none.
    """
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingsError(f"{folder}: is not writable; {way_out}")


def write_config(
    folder: Path,
    config: RunSettings,
    notes: Mapping[str, str],
    finished: bool = False,
    kept_steps: int | None = None,
) -> None:
    """Write how a run was started, whether it is finished, and at which steps its player was proved.

    The place of its folder is left out.
    """
    from importlib.metadata import version

    content = {
        "version": version("tictactoe-selfplay"),
        "algorithm": config.algorithm,
        "finished": finished,
        "kept_steps": kept_steps,
        "config": to_json(config),
    }
    _write_json(folder / CONFIG, content | dict(notes))


def config_path(place: Path) -> Path:
    """Return the config.json of a run folder, or the file itself that is given in its place."""
    return place if place.is_file() else place / CONFIG


def read_config(place: Path) -> dict[str, Any]:
    """Return the content of a run's config.json, or of a file like it.

    Raises:
        UserError: it is missing, or no JSON object.
    """
    path = config_path(place)
    try:
        content = json.loads(read_small(path, LARGEST_JSON))
    except OSError as error:
        if runs := [found.parent for found in place.glob(f"*/{CONFIG}")]:
            newest = sorted(runs, key=lambda run: run.stat().st_mtime_ns, reverse=True)[:MOST_NAMED]
            raise UserError(
                f"{place}: is a folder of runs; name one, such as the newest: {', '.join(map(str, newest))}"
            ) from None
        raise UserError(f"{path}: cannot be read ({error.strerror}); is this a run folder?") from None
    except (ValueError, RecursionError):  # not JSON, not even text, or nested too deeply
        raise UserError(f"{path}: is truncated or not JSON; restore it, or name a run folder") from None
    if not isinstance(content, dict):
        raise UserError(f"{path}: is not the configuration of a run")
    return content


def differences(config: RunSettings) -> dict[str, Any]:
    """Return the settings of a run that differ from the defaults of its algorithm or preset.

    Seed and board are left out, which every run has, and the device, which only changes the last bits.
    """
    preset = {name: value for name, value in vars(config).items() if name == "preset"}
    defaults = type(config)(**preset)
    changed = {} if preset.get("preset") == "default" else preset
    for name in (each.name for each in fields(config)):
        value = getattr(config, name)
        if name not in ("seed", "device", "rules", "options") and value != getattr(defaults, name):
            changed[name] = value
    return changed | getattr(config, "options", {})  # the settings of a custom learner


def settings_summary(config: RunSettings) -> str:
    """Return the seed of a run and, in short, the settings that differ from the defaults."""
    return ", ".join([in_words(name, value) for name, value in differences(config).items()] + [f"seed {config.seed}"])


def in_words(name: str, value: object) -> str:
    """Return a setting in a few words."""
    if name in ("algorithm", "board", "preset"):
        return str(value)
    words = name.replace("_", " ")
    if isinstance(value, bool):
        return words if value else f"no {words}"
    return f"{words} {value.name if isinstance(value, Path) else written(value)}"


def written(value: object) -> str:
    """Return a value as it is written in flags and in a sweep."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "x".join(map(str, value)) or "[]"
    if isinstance(value, Rewards):
        default = asdict(Rewards())
        return ":".join(f"{name}={number}" for name, number in asdict(value).items() if number != default[name])
    return str(value)


def new_run_dir(config: RunSettings, flags: RunFlags) -> Path:
    """Return the folder of a new run as it is named, by default RUNS_DIR/ALGORITHM-BOARD-SEED-DIFFERENCES-TIME."""
    if flags.run_dir is not None:
        return flags.run_dir
    if flags.name is not None:
        return flags.runs_dir / flags.name
    name = f"{stem(config)}-{time.strftime('%Y%m%d-%H%M%S')}"
    folder, number = flags.runs_dir / name, 1
    while folder.exists():
        number += 1
        folder = flags.runs_dir / f"{name}-{number}"
    return folder


def stem(config: RunSettings) -> str:
    """Return ALGORITHM-BOARD-SEED-DIFFERENCES."""
    words = [config.algorithm, str(config.rules).replace(",", "x"), str(config.seed)]
    words += [in_words(*each) for each in differences(config).items()]
    return re.sub(r"[^\w.-]|_", "-", "-".join(words), flags=re.ASCII)[:LONGEST_NAME].rstrip("-.")


def write_evaluation(folder: Path, evaluation: Verdict) -> None:
    """Write the exact evaluation of the player in the folder."""
    _write_json(folder / EVALUATION, evaluation.to_dict())


def _write_json(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, (json.dumps(content, indent=2) + "\n").encode())
