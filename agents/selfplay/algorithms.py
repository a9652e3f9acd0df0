"""The algorithms by name, and what `selfplay` offers of them: training, loading, snapshots.

A new algorithm is its settings, its learner, its player, and a line in `ALGORITHMS`. What takes seconds to import,
PyTorch above all, is imported when something is trained or loaded.
"""

import contextlib
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.errors import UserError, naming_the_extra, setting_name
from selfplay.settings import CountOrZero, as_path, check_changes, converted, require
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.training import folder as run_folder
from selfplay.training.folder import CONFIG, MODEL, SNAPSHOTS, RunFlags, read_config
from tictactoe import Rules
from tictactoe.names import did_you_mean

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.dqn.network import NetworkFactory
    from selfplay.learner import Learner
    from selfplay.training.loop import Record
    from selfplay.training.result import Run

Config: TypeAlias = DQNConfig | TabularConfig

SHIPPED, SHIPPED_FOLDER = "shipped", Path(__file__).parent / "model"
"""Name of the player that comes with the package, and its run folder, whose README says how it was trained."""


ALGORITHMS: Mapping[str, type[Config]] = MappingProxyType(
    {kind.algorithm: kind for kind in (DQNConfig, MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig)}
)
"""The settings of each algorithm by its name on the command line and in config.json."""


def _make_learner(config: Config, network: "NetworkFactory | None") -> "Learner":
    """Return the learner of these settings before its first step."""
    if isinstance(config, DQNConfig):
        from selfplay.dqn.learner import DQNLearner

        return DQNLearner(config, network=network)
    from selfplay.tabular.learners import make_learner

    _check_no_network(config, network)
    return make_learner(config)


def _check_no_network(config: TabularConfig, network: "NetworkFactory | None") -> None:
    """Refuse a network for a table."""
    if network is not None:
        raise UserError(f"{config.algorithm} has a table and no network: leave out network=")


@naming_the_extra()
def train(
    config: Config | None = None,
    *,
    network: "NetworkFactory | None" = None,
    resume: str | Path | None = None,
    force: bool = False,
    checkpoint_interval: float = RunFlags.checkpoint_interval,
    stop_when: Callable[[], bool] = lambda: False,
    progress: bool = True,
    **flags: Any,
) -> "Run":
    """Train a player, showing the exact score, and leave a run folder behind: what `selfplay train` does.

    `config` holds the settings of an algorithm; without it `flags` are those of a DQN, as in `train(seed=1,
    mask=True)`, or, with `resume`, settings of the run in that folder to be changed. `network` makes a network of
    your own: `network(rules)` returns a module from [B, 3A] to [B, A]. `checkpoint_interval` is in seconds.
    `stop_when` is asked after every few steps whether to interrupt the run, as Ctrl-C does. `progress=False` prints
    nothing. The result has `.player`, `.proof`, `.folder`, `.records`, the evaluations, and `.interrupted`; a run that
    was interrupted has written a checkpoint, from which `resume` goes on.

    Raises:
        UserError: a setting is invalid, the folder cannot be used, or the network does not fit.
        KeyboardInterrupt: Ctrl-C was pressed twice, or SIGTERM ended the run; its folder can be resumed.
    """
    run_flags = RunFlags(None if resume is None else as_path(resume, "resume"), force, checkpoint_interval)
    if config is not None and flags:
        raise UserError(f"give settings in the config or beside it, not both: {', '.join(flags)}")
    if run_flags.resume is not None:
        config = _resumed(run_flags.resume, config, flags, network, force)
    elif config is None:
        config = configured(DQNConfig.algorithm, flags)
    from selfplay.training import run

    with _one_thread():
        learner = _make_learner(config, network)
        return run.train_in_folder(learner, run_flags, partial(load, network=network), stop_when, progress)


def _resumed(
    folder: Path, config: Config | None, flags: Mapping[str, Any], network: "NetworkFactory | None", force: bool
) -> Config:
    """Return the settings with which a run continues.

    Raises:
        UserError: they are of another algorithm or folder, or differ without force, or the network does not fit.
    """
    before, notes = read_settings(folder)
    if config is None:
        config = _changed(before, flags)
    if before.algorithm != config.algorithm:
        raise UserError(f"{folder}: is a run of {before.algorithm}, not of {config.algorithm}")
    if config.run_dir is not None:
        run_dir = setting_name("run_dir")
        raise UserError(f"{run_dir} and {setting_name('resume')} both name the run's folder; leave out {run_dir}")
    if not force:
        check_changes(before, config, str(folder))
    from selfplay.dqn.player import check_network

    check_network(folder / CONFIG, notes, network)
    return config


def training(config: Config, network: "NetworkFactory | None" = None) -> "Iterator[Record]":
    """Train without a folder and without output, and yield each evaluation.

    Each has `.steps`, `.evaluation`, `.metrics` by TensorBoard tag, and `.player`, a copy of the player then.
    To stop early, stop iterating. While it trains PyTorch has one thread, which is fastest for networks of this size.
    The arguments are those of `train`.

    Raises:
        UserError: the network does not fit, or what was learned is no longer finite.
    """
    with naming_the_extra():
        from selfplay.training import loop

        learner = _make_learner(config, network)
    with _one_thread():
        for record in loop.train(learner):
            yield _with_copy(record)


def _with_copy(record: "Record") -> "Record":
    """Return a record whose player stays as it is while the run goes on."""
    player = copy.deepcopy(record.player)
    return replace(record, get_player=lambda: player)


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


def settings_of(algorithm: str) -> type[Config]:
    """Return the dataclass that holds the settings of an algorithm.

    Raises:
        UserError: there is no such algorithm.
    """
    if algorithm not in ALGORITHMS:
        near = did_you_mean(algorithm, ALGORITHMS)
        raise UserError(f"there is no algorithm {algorithm!r}; choose one of {', '.join(ALGORITHMS)}{near}")
    return ALGORITHMS[algorithm]


def configured(algorithm: str, flags: Mapping[str, Any]) -> Config:
    """Return the settings of an algorithm, or of a preset of the DQN if `flags` name one, with some changed.

    Raises:
        UserError: there is no such algorithm, preset or setting, or it cannot have that value.
    """
    kind = settings_of(algorithm)
    if kind is not DQNConfig:
        return _changed(kind(), flags)
    preset = str(flags.get("preset", "default"))
    if preset not in PRESETS:
        near = did_you_mean(preset, PRESETS)
        raise UserError(f"there is no preset {preset!r}; choose one of {', '.join(PRESETS)}{near}")
    return _changed(PRESETS[preset], flags)


def _changed(config: Config, flags: Mapping[str, Any]) -> Config:
    """Return the settings with some changed.

    Raises:
        UserError: there is no such setting, or it cannot have that value.
    """
    names = [field.name for field in fields(config)]
    settings = dict(flags)
    rules = settings.pop("rules", None)
    if rules is not None:
        require(isinstance(rules, Rules), "rules", "Rules(rows, cols, k)", rules)
        require("rows" in names or rules == config.rules, "rules", f"{config.rules!r} for {config.algorithm}", rules)
        sizes = asdict(rules)
        if twice := ", ".join(map(setting_name, sorted(sizes.keys() & settings))):
            raise UserError(f"rules= and {twice} both give the board; leave one out")
        settings |= sizes if rules != config.rules else {}
    for name in settings:
        if name not in names:
            near = did_you_mean(setting_name(name), map(setting_name, names)) or f"; it has {', '.join(names)}"
            raise UserError(f"{config.algorithm} has no setting {setting_name(name)}{near}")
    return replace(config, **settings)


@naming_the_extra()
def load(folder: str | Path, network: "NetworkFactory | None" = None, steps: int | None = None) -> "Player":
    """Return the player of a run folder of any algorithm; its greedy moves are those of the run's end.

    "shipped" is the proved player that comes with the package. `network` makes the network of your own, where the run
    has one. With `steps` it is the player as it was after these steps, one of `snapshot_steps`. No file that is read
    can run code.

    Raises:
        UserError: a file is missing, truncated, foreign, or does not fit the others; there is no such snapshot.
    """
    folder = _run_folder(folder)
    config, notes = read_settings(folder)
    path = folder / MODEL
    if steps is not None:
        steps = converted("steps", steps, CountOrZero)
        path = folder / SNAPSHOTS / f"{steps}.safetensors"
        saved = run_folder.snapshot_steps(folder)
        if steps not in saved:
            raise UserError(
                f"{folder}: has no snapshot at {steps} steps; it has {', '.join(map(str, saved)) or 'none'}"
            )
    if isinstance(config, DQNConfig):
        from selfplay.dqn.player import read_player

        return read_player(path, config, notes, network)
    from selfplay.tabular.players import read_player as read_table

    _check_no_network(config, network)
    return read_table(path, config)


def snapshot_steps(folder: str | Path) -> tuple[int, ...]:
    """Return the steps at which a run saved its player, in order: at its evaluations 1, 2, 4, 8, ... and its end.

    `load` takes one of them. The shipped player has none.

    Raises:
        UserError: there is no such run folder.
    """
    return run_folder.snapshot_steps(_run_folder(folder))


def _run_folder(name: str | Path) -> Path:
    folder = SHIPPED_FOLDER if name == SHIPPED else as_path(name)
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such run folder")
    return folder


def read_settings(folder: Path) -> tuple[Config, dict[str, Any]]:
    """Return the settings of a run, and the whole content of its config.json.

    Raises:
        UserError: config.json is missing, is of another format, or holds a value that is no setting.
    """
    path, content = folder / CONFIG, read_config(folder)
    algorithm, saved = content.get("algorithm"), content.get("config")
    if str(algorithm) not in ALGORITHMS or not isinstance(saved, dict):
        raise UserError(f"{path}: is not the configuration of a run of {', '.join(ALGORITHMS)}")
    kind = ALGORITHMS[str(algorithm)]
    known = {field.name for field in fields(kind)} - {"run_dir"}
    if odd := ", ".join(map(repr, sorted(saved.keys() ^ known))):
        raise UserError(f"{path}: is from another version of this program (settings that differ: {odd})")
    try:
        return kind(**saved), content
    except UserError as error:
        raise UserError(f"{path}: {error}") from None
