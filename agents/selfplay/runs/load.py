"""Players and settings of run folders. No file that is read can run code."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError, naming_the_extra
from selfplay.learner import LearnerFactory, code_name, make_learner, restore
from selfplay.runs import folder as run_folder
from selfplay.runs.algorithms import Config, parse_settings
from selfplay.runs.folder import MODEL, SNAPSHOTS
from selfplay.settings import CountOrZero, CustomConfig, as_path, converted
from tictactoe.names import did_you_mean

if TYPE_CHECKING:
    from selfplay.dqn.network import NetworkFactory

Folder: TypeAlias = str | PathLike[str] | Any
"""The name of a run's folder: a path, that of a player in the package, or a `Run`."""

SHIPPED = "shipped"
SHIPPED_FOLDERS = {
    SHIPPED: Path(__file__).parents[1] / "model",
    "shipped-5x5x4": Path(__file__).parents[1] / "model_5x5x4",
}
"""The run folders of the players that come with the package; the README in each says how it was trained."""


@naming_the_extra()
def load(
    folder: Folder,
    network: "NetworkFactory | None" = None,
    steps: int | None = None,
    learner: LearnerFactory | None = None,
) -> Any:
    """Return the player of a run or of a run folder, as it was at the end of the run.

    "shipped" and "shipped-5x5x4" are the proved players that come with the package. With `steps`, one of
    `snapshot_steps`, it is the player after these steps. If the run has your own network or learner, give `network` or
    `learner` as you gave them to `train`. No file that is read can run code.

    Raises:
        UserError: a file is missing, truncated, foreign, or does not fit the others; there is no such snapshot.
    """
    place = folder_of(folder)
    saved = read_settings(place)
    check_own(saved, learner=learner, network=network)
    config = saved.config
    path = place / MODEL if steps is None else _snapshot(place, steps)
    if isinstance(config, DQNConfig):
        from selfplay.dqn.player import read_player

        return read_player(path, config, network)
    if isinstance(config, CustomConfig):
        from selfplay.tensor_file import read_state

        assert learner is not None  # as `check_own` made sure
        made = make_learner(learner, config.options)
        if made is learner:
            made = copy.deepcopy(made)  # what the caller gave stays as it is
        restore(made, read_state(path)[0])
        return made.player()
    from selfplay.tabular.tabular_players import read_player as read_table

    return read_table(path, config)


def _snapshot(folder: Path, steps: int) -> Path:
    """Return the file of the player after some steps.

    Raises:
        UserError: there is none.
    """
    steps = converted("steps", steps, CountOrZero)
    saved = snapshot_steps(folder)
    if steps not in saved:
        known = ", ".join(map(str, saved)) or "none"
        raise UserError(f"{folder}: has no snapshot at {steps} steps; it has {known}")
    return folder / SNAPSHOTS / f"{steps}.safetensors"


def snapshot_steps(folder: Folder) -> tuple[int, ...]:
    """Return the steps at which a run saved its player, in order: its first, its last, and some in between.

    `load` takes one of them.

    Raises:
        UserError: there is no such run folder.
    """
    names = [path.stem for path in (folder_of(folder) / SNAPSHOTS).glob("*.safetensors")]
    return tuple(sorted(int(name) for name in names if name.isdecimal()))


def folder_of(name: Folder) -> Path:
    """Return the path of a run folder.

    Raises:
        UserError: there is no such folder.
    """
    folder = SHIPPED_FOLDERS.get(name) if isinstance(name, str) else None
    folder = folder or as_path(name)
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such run folder{did_you_mean(name, SHIPPED_FOLDERS)}")
    return folder


@dataclass(frozen=True, kw_only=True)
class Saved:
    """The content of a run's config.json."""

    folder: Path
    """The run folder, or the file itself that was given in its place."""
    config: Config
    finished: bool
    kept_steps: int | None
    """Steps of the evaluation at which the player of the run was proved; None if it was not, or has not ended."""
    own: Mapping[str, str | None]
    """The names of its custom learner, network and agent."""


def read_settings(place: Path) -> Saved:
    """Return the settings of a run, and what else its config.json says, which may be given as a file.

    Raises:
        UserError: config.json is missing, is no configuration, or holds a value that is no setting.
    """
    content = run_folder.read_config(place)
    config = parse_settings(content, run_folder.config_path(place))
    own = {
        "learner": config.learner if isinstance(config, CustomConfig) else None,
        "network": content.get("network"),
        "agent": content.get("agent"),
    }
    kept_steps = content.get("kept_steps")
    return Saved(
        folder=place,
        config=config,
        finished=content.get("finished") is True,
        kept_steps=kept_steps if isinstance(kept_steps, int) else None,
        own=own,
    )


def check_own(saved: Saved, **given: Any) -> None:
    """Refuse another custom learner, network or agent than a run has.

    Those that are needed are named in `given`, with None for one that was not given.

    Raises:
        UserError: one is missing, or is given and the run has none.
    """
    for what, part in given.items():
        check_part(saved.folder, what, saved.own[what], part)


def check_part(place: Path, what: str, name: Any, part: Any) -> None:
    """Refuse a custom part that is given to a run or sweep without one, and none where there is one of this name.

    Raises:
        UserError: the part is missing, or there is none of its kind.
    """
    if name and part is None:
        way = f"give {what}= in Python"
        if what != "agent":  # which no player needs
            way = f"name it {name}@{place} where a player is named, or {way}"
        raise UserError(f"{place}: its {what} is your own, {name}; {way}")
    if not name and part is not None:
        raise UserError(f"{place}: has no {what} of your own; leave out {what}=")


def part_names(**parts: Any) -> dict[str, str]:
    """Return the names of the custom parts that are given and not None."""
    return {what: code_name(part) for what, part in parts.items() if part is not None}
