"""The algorithms by name: the settings that each has, what learns by them, and what is loaded again.

A new algorithm is its settings, its learner, its player, and a line in `ALGORITHMS`. What takes seconds to import,
PyTorch above all, is imported when something is to be trained or loaded.
"""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from selfplay.checks import check_changes
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.errors import UserError, naming_the_extra
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.training.flags import RunFlags
from selfplay.training.folder import CONFIG, MODEL, read_config, settings

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.dqn.network import NetworkFactory
    from selfplay.learner import Learner
    from selfplay.tensor_file import Reader
    from selfplay.training.experiment import Run
    from selfplay.training.loop import Record

Config: TypeAlias = DQNConfig | TabularConfig

SHIPPED, SHIPPED_FOLDER = "shipped", Path(__file__).parent / "model"
"""What the player that comes with the package is called, and its run folder, whose README says how it was trained."""


class Algorithm(NamedTuple):
    """Hold what there is of an algorithm."""

    settings: type[Config]
    learner: "Callable[[Any, NetworkFactory | None], Learner]"
    """Returns the learner of the settings, with a network of one's own or without."""
    player: "Callable[[Path, Any, Mapping[str, object], NetworkFactory | None, Reader], Player]"
    """Returns the player that a file holds, by the settings and notes of its run, and by what reads such a file."""


def _dqn(config: DQNConfig, network: "NetworkFactory | None") -> "Learner":
    from selfplay.dqn.learner import DQNLearner

    return DQNLearner(config, network=network)


def _dqn_player(
    path: Path, config: DQNConfig, notes: Mapping[str, object], network: "NetworkFactory | None", read: "Reader"
) -> "Player":
    from selfplay.dqn.player import read_player

    return read_player(path, config, notes, network, read)


def _tabular(config: TabularConfig, network: "NetworkFactory | None") -> "Learner":
    from selfplay.tabular.learners import make_learner

    _no_network(config, network)
    return make_learner(config)


def _tabular_player(
    path: Path, config: TabularConfig, _notes: Mapping[str, object], network: "NetworkFactory | None", read: "Reader"
) -> "Player":
    from selfplay.tabular.players import read_player

    _no_network(config, network)
    return read_player(path, config, read)


def _no_network(config: TabularConfig, network: "NetworkFactory | None") -> None:
    if network is not None:
        raise UserError(f"{config.algorithm} has a table and no network: leave out network=")


ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType(
    {
        "dqn": Algorithm(DQNConfig, _dqn, _dqn_player),
        "minimax-q": Algorithm(MinimaxQConfig, _tabular, _tabular_player),
        "afterstate-q": Algorithm(AfterstateQConfig, _tabular, _tabular_player),
        "td-value": Algorithm(TDValueConfig, _tabular, _tabular_player),
        "td-backup": Algorithm(TDBackupConfig, _tabular, _tabular_player),
    }
)
"""What there is of each algorithm by its name on the command line and in config.json."""


@naming_the_extra()
def train(
    config: Config | None = None,
    *,
    network: "NetworkFactory | None" = None,
    resume: str | Path | None = None,
    force: bool = False,
    checkpoint_interval: float = RunFlags.checkpoint_interval,
    stop_when: Callable[[], bool] | None = None,
    **flags: Any,
) -> "Run":
    """Train a player, showing the exact score, and leave a run folder behind: what `selfplay train` does.

    `config` holds the settings of an algorithm; without it `flags` are those of a DQN, as in `train(seed=1,
    mask=True)`, or, with `resume`, a run folder to go on in, those of its run that are to be others. `network` makes a
    network of one's own: `network(rules)` returns a module from [B, 3A] to [B, A]. `checkpoint_interval` is in
    seconds. `stop_when` is asked after every few steps whether to interrupt the run, as Ctrl-C does. Returned are
    `.player`, `.proof`, `.folder` and `.records`, the evaluations.

    Raises:
        UserError: a setting is wrong, the folder cannot be used, or the own network does not fit.
        KeyboardInterrupt: the run was interrupted, after a checkpoint; its folder can be resumed.
    """
    run_flags = RunFlags(None if resume is None else Path(resume), force, checkpoint_interval)
    if config is not None and flags:
        raise UserError(f"settings stand in the config or beside it, not both: {', '.join(flags)}")
    if run_flags.resume is not None:
        before, _ = read_settings(run_flags.resume)
        config = _changed(before, flags) if config is None else config
        check_resumed(run_flags.resume, config, force)
    elif config is None:
        config = configured(DQNConfig.algorithm, flags)
    from selfplay.training import experiment

    if run_flags.resume is not None:
        from selfplay.dqn.player import check_network

        check_network(run_flags.resume / CONFIG, read_config(run_flags.resume), network)
    with _one_thread():
        learner = ALGORITHMS[config.algorithm].learner(config, network)
        with experiment.entered(learner.config, run_flags, stop_when) as kept:
            return experiment.run(learner, kept)


def training(config: Config, network: "NetworkFactory | None" = None) -> "Iterator[Record]":
    """Train without a folder and without a word, and yield each evaluation.

    Each has `.steps`, `.evaluation`, `.metrics` by TensorBoard tag, and `.player`, the one that was evaluated.
    Whoever has seen enough stops iterating. While it trains PyTorch has one thread, which is quickest for networks
    this small. What the arguments are stands at `train`.

    Raises:
        UserError: the own network does not fit, or what was learned is no longer finite.
    """
    with naming_the_extra():
        from selfplay.training.loop import records

        learner = ALGORITHMS[config.algorithm].learner(config, network)
    with _one_thread():
        yield from records(learner)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Have PyTorch use one thread: on networks this small more only wait for each other."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def configured(algorithm: str, flags: Mapping[str, Any]) -> Config:
    """Return the settings of an algorithm, or of a preset of the DQN if `flags` name one, with some changed.

    Raises:
        UserError: there is no such algorithm, preset or setting, or it cannot have that value.
    """
    if algorithm not in ALGORITHMS:
        raise UserError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(ALGORITHMS)}")
    if algorithm == DQNConfig.algorithm:
        return _changed(PRESETS[_known(flags.get("preset", "default"))], flags)
    return _changed(ALGORITHMS[algorithm].settings(), flags)


def _changed(config: Config, flags: Mapping[str, Any]) -> Config:
    """Return the settings with some changed.

    Raises:
        UserError: there is no such setting, or it cannot have that value.
    """
    names = [field.name for field in fields(config)]
    for name in flags:
        if name not in names:
            raise UserError(f"{config.algorithm} has no setting {name!r}; it has {', '.join(names)}")
    return dataclasses.replace(config, **flags)


def _known(preset: object) -> str:
    if not isinstance(preset, str) or preset not in PRESETS:
        raise UserError(f"there is no preset {preset!r}; choose one of {', '.join(PRESETS)}")
    return preset


@naming_the_extra()
def load(folder: str | Path, network: "NetworkFactory | None" = None, steps: int | None = None) -> "Player":
    """Return the player that a run folder of any algorithm holds; its greedy moves are those of the run's end.

    "shipped" is the proved player that comes with the package. `network` is what made the network of one's own, where
    the run has one. With `steps` it is the player as it was after so many, one of `kept_steps`. Nothing that is read
    can run code.

    Raises:
        UserError: a file is missing, truncated, foreign, or does not fit the others; no player was kept at `steps`.
    """
    from selfplay.tensor_file import read_model
    from selfplay.training.kept import PLAYERS, read_kept

    folder = _run_folder(folder)
    config, notes = read_settings(folder)
    name, read = (MODEL, read_model) if steps is None else (PLAYERS, partial(read_kept, steps=steps))
    return ALGORITHMS[config.algorithm].player(folder / name, config, notes, network, read)


@naming_the_extra()
def kept_steps(folder: str | Path) -> tuple[int, ...]:
    """Return after how many steps a run has kept its player, in order: at its evaluations 1, 2, 4, 8, ... and its end.

    `load` takes one of them. A run of before such players were kept has none, and neither has the shipped player.

    Raises:
        UserError: there is no such run folder, or its file of players cannot be read.
    """
    from selfplay.training import kept

    return kept.kept_steps(_run_folder(folder))


def _run_folder(name: str | Path) -> Path:
    folder = SHIPPED_FOLDER if name == SHIPPED else Path(name)
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such run folder")
    return folder


def read_settings(folder: Path) -> tuple[Config, dict[str, Any]]:
    """Return the settings of a run, and all that its config.json holds.

    Raises:
        UserError: config.json is missing, is not ours, or holds a value that is no setting.
    """
    path, content = folder / CONFIG, read_config(folder)
    algorithm, found = content.get("algorithm"), content.get("config")
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS or not isinstance(found, dict):
        raise UserError(f"{path}: is not the configuration of a run of {', '.join(ALGORITHMS)}")
    kind = ALGORITHMS[algorithm].settings
    found = kind.of_today(found)
    known = {field.name for field in fields(kind)} - {"run_dir"}
    if found.keys() != known:
        odd = ", ".join(map(repr, sorted(found.keys() ^ known)))
        raise UserError(f"{path}: is from another version of this program (settings that differ: {odd})")
    # JSON has neither tuples nor paths.
    for name in ("hidden", "convolution"):
        if isinstance(found.get(name), list):
            found[name] = tuple(found[name])
    if isinstance(found.get("from_table"), str):
        found["from_table"] = Path(found["from_table"])
    try:
        return kind(**found), content
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def check_resumed(resumed: Path, config: Config, force: bool) -> None:
    """Refuse settings with which a run cannot go on.

    Raises:
        UserError: they are of another algorithm or folder, or others than the run has, and not by force.
    """
    before, _ = read_settings(resumed)
    if before.algorithm != config.algorithm:
        raise UserError(f"{resumed}: is a run of {before.algorithm}, not of {config.algorithm}")
    if config.run_dir is not None:
        raise UserError("--run-dir and --resume both name the run's folder; leave out --run-dir")
    check_changes(settings(before), settings(config), config.length_setting, force, str(resumed))
