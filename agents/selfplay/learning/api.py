"""The algorithms by name, and the functions that train and load them.

A new algorithm needs settings, a learner, a player, and a line in `ALGORITHMS`. Imports that take seconds, PyTorch
above all, wait until something is trained or loaded.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, fields, replace
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from selfplay.dqn.config import OWN_NETWORK, PRESETS, DQNConfig
from selfplay.errors import UserError, naming_the_extra, setting_name
from selfplay.learning import folder as run_folder
from selfplay.learning.folder import METRICS, MODEL, SNAPSHOTS, RunFlags, read_config
from selfplay.own.config import OwnConfig
from selfplay.settings import CountOrZero, RunSettings, as_path, check_changes, converted, require
from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from tictactoe import Rules
from tictactoe.names import did_you_mean

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.dqn.network import NetworkFactory
    from selfplay.learner import RunLearner
    from selfplay.learning.loop import Record
    from selfplay.learning.result import Run
    from selfplay.own.config import Learner

Config: TypeAlias = DQNConfig | TabularConfig | OwnConfig
Folder: TypeAlias = "str | PathLike[str] | Run"
"""What names the folder of a run."""

SHIPPED, SHIPPED_FOLDER = "shipped", Path(__file__).parents[1] / "model"
"""Name of the player that comes with the package, and its run folder; the README there says how it was trained."""


ALGORITHMS: Mapping[str, type[Config]] = MappingProxyType(
    {kind.algorithm: kind for kind in (DQNConfig, MinimaxQConfig, AfterstateQConfig, TDValueConfig, TDBackupConfig)}
)
"""The settings of each algorithm by its name on the command line and in config.json."""


def _make_learner(config: Config, own: Any, network: "NetworkFactory | None") -> "RunLearner":
    """Return the learner of these settings before its first step; `own` is a learner of the user."""
    if isinstance(config, DQNConfig):
        from selfplay.dqn.learner import DQNLearner

        return DQNLearner(config, network)
    if network is not None:
        raise UserError(f"{config.algorithm} has no network that could be replaced: leave out network=")
    if isinstance(config, OwnConfig):
        from selfplay.own.learner import OwnLearner

        return OwnLearner(own, config)
    from selfplay.tabular.learners import make_learner

    return make_learner(config)


@naming_the_extra()
def train(
    algorithm: str | Config | None = None,
    /,
    *,
    learner: "Learner | Callable[..., Learner] | None" = None,
    network: "NetworkFactory | None" = None,
    resume: "Folder | None" = None,
    force: bool = False,
    checkpoint_interval: float = RunFlags.checkpoint_interval,
    stop_when: Callable[[], bool] = lambda: False,
    progress: bool = True,
    **settings: Any,
) -> "Run":
    """Train a player, show its exact score while it learns, and write a run folder, as `selfplay train` does.

    `settings` are those of a DQN: `train(seed=1, mask=True)`. Name another algorithm first: `train("minimax-q",
    games=2000)`. Or change the settings of a config object: `train(selfplay.open(RUN).config, seed=2)`. A config.json
    makes the same run again: `train(**json.load(file))`. `learner` is your own algorithm, a `selfplay.Learner` or a
    class that makes one. `network` makes your own network: `network(rules)` returns a module from [B, 3A] to [B, A].

    With `resume` the run in that folder continues from its last checkpoint, with these `settings` changed; with `force`
    even settings that a resumed run must keep. `checkpoint_interval` is in seconds. `stop_when` is called every few
    steps; if it returns True, the run is interrupted, as by Ctrl-C. An interrupted run has written a checkpoint, and
    its `.interrupted` is True. `progress=False` prints nothing.

    Raises:
        UserError: a setting is invalid, the folder cannot be used, or the network or learner does not fit.
        KeyboardInterrupt: Ctrl-C was pressed twice, or SIGTERM ended the run; its folder can be resumed.
    """
    run_flags = RunFlags(None if resume is None else as_path(resume, "resume"), None, force, checkpoint_interval)
    if run_flags.resume is None:
        config, own = chosen(algorithm, learner, settings)
    else:
        config, own = _resumed(run_flags.resume, algorithm, learner, settings, network, force)
    from selfplay.learning import run

    with _one_thread():
        trained = _make_learner(config, own, network)

        def read(folder: Path, steps: int | None) -> "Player":
            if steps is not None:
                return load(folder, network, steps, learner)
            return trained.player() if own is None else own.player()

        return run.train_in_folder(trained, run_flags, read, stop_when, progress)


def chosen(algorithm: str | Config | None, learner: Any, settings: Mapping[str, Any]) -> tuple[Config, Any]:
    """Return the settings of a new run, and the learner of the user if there is one.

    Raises:
        UserError: one is invalid, or does not fit the learner.
    """
    base: Config
    if isinstance(algorithm, RunSettings):
        base = algorithm
    elif learner is not None and algorithm is None:
        base = OwnConfig()
    elif algorithm is None and isinstance(settings.get("config"), dict):  # all of a config.json
        base = parse_settings(settings, "config.json")
        settings = {name: value for name, value in settings.items() if name not in run_folder.CONFIG_KEYS}
    else:
        base, settings = configured(str(algorithm or DQNConfig.algorithm), settings), {}
    if (learner is None) == isinstance(base, OwnConfig):
        what = "has your own learner; give" if learner is None else "does not have your own learner; leave out"
        raise UserError(f"{base.algorithm}: {what} learner=")
    if not isinstance(base, OwnConfig):
        return _changed(base, settings), None
    from selfplay.own.learner import described, made

    own = made(learner, base.options)
    config = described(own, base)
    seed = {"seed": config.options.get("seed", config.seed)} if algorithm is None else {}
    return _changed(config, {**seed, **settings}), own


def _resumed(
    folder: Path,
    algorithm: str | Config | None,
    learner: Any,
    settings: Mapping[str, Any],
    network: "NetworkFactory | None",
    force: bool,
) -> tuple[Config, Any]:
    """Return the settings with which a run continues, and the learner of the user if there is one.

    Raises:
        UserError: they are of another algorithm or folder, or differ without force, or the network does not fit.
    """
    before = checked_settings(folder, learner, network)
    if algorithm is not None and before.algorithm != (name := getattr(algorithm, "algorithm", algorithm)):
        raise UserError(f"{folder}: is a run of {before.algorithm}, not of {name}")
    config, own = chosen(algorithm if isinstance(algorithm, RunSettings) else before, learner, settings)
    if config.run_dir is not None:
        run_dir = setting_name("run_dir")
        raise UserError(f"{run_dir} and {setting_name('resume')} both name the run's folder; leave out {run_dir}")
    if not force:
        check_changes(before, config, str(folder))
    return config, own


def training(
    algorithm: str | Config | None = None,
    /,
    *,
    learner: "Learner | Callable[..., Learner] | None" = None,
    network: "NetworkFactory | None" = None,
    **settings: Any,
) -> "Iterator[Record]":
    """Train without a folder and without output, and yield each evaluation.

    Each record has `.steps`, `.evaluation`, `.metrics` by TensorBoard tag, and `.player`, a copy of the player at that
    moment. To stop early, stop iterating. While it trains, PyTorch uses one thread, which is fastest for networks of
    this size. The arguments are those of `train`.

    Raises:
        UserError: a setting is invalid, the network or learner does not fit, or what was learned is not finite.
    """
    with naming_the_extra():
        from selfplay.learning import loop

        trained = _make_learner(*chosen(algorithm, learner, settings), network)
    with _one_thread():
        for record in loop.train(trained):
            yield _with_player(record, trained.copied_player())


def _with_player(record: "Record", player: "Player") -> "Record":
    """Return a record with a copy of its player, which stays as it is while the run goes on."""
    return replace(record, get_player=lambda: player)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Let PyTorch use one thread; with networks this small, more threads only wait for each other."""
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
    base = settings_of(algorithm)()
    if isinstance(base, DQNConfig):
        base = PRESETS.get(str(flags.get("preset")), base)  # an unknown preset is refused below
    return _changed(base, flags)


def _changed(config: Config, flags: Mapping[str, Any]) -> Config:
    """Return the settings with some changed.

    Raises:
        UserError: there is no such setting, or it cannot have that value.
    """
    names = [field.name for field in fields(config)]
    settings = dict(flags)
    rules = settings.pop("rules", None)
    if rules is not None:
        alone = isinstance(rules, Rules) and settings.keys().isdisjoint(asdict(rules))
        require(alone, "rules", "Rules(rows, cols, k), without rows=, cols= or k= beside it", rules)
        settings |= asdict(rules) if rules != config.rules else {}
    for name in settings:
        if name not in names:
            near = did_you_mean(setting_name(name), map(setting_name, names)) or f"; it has {', '.join(names)}"
            raise UserError(f"{config.algorithm} has no setting {setting_name(name)}{near}")
    return replace(config, **settings)


@naming_the_extra()
def load(
    folder: "Folder",
    network: "NetworkFactory | None" = None,
    steps: int | None = None,
    learner: "Learner | Callable[..., Learner] | None" = None,
) -> "Player":
    """Return the player of a run or of a run folder, as it was at the end of the run.

    "shipped" is the proved player that comes with the package. With `steps`, one of `snapshot_steps`, it is the player
    after these steps. If the run has your own network or learner, give `network` or `learner` as you gave them to
    `train`. No file that is read can run code.

    Raises:
        UserError: a file is missing, truncated, foreign, or does not fit the others; there is no such snapshot.
    """
    folder = _run_folder(folder)
    config = checked_settings(folder, learner, network)
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

        return read_player(path, config, network)
    if isinstance(config, OwnConfig):
        from selfplay.own.learner import restored

        player: Player = restored(learner, config, path).player()
        return player
    from selfplay.tabular.players import read_player as read_table

    return read_table(path, config)


@naming_the_extra()
def open(  # noqa: A001 (of `selfplay`, where it is called selfplay.open)
    folder: "Folder",
    network: "NetworkFactory | None" = None,
    learner: "Learner | Callable[..., Learner] | None" = None,
) -> "Run":
    """Return the run of a folder, as `train` returned it; its players are read when you use them.

    `network` and `learner` are those of `load`.

    Raises:
        UserError: there is no such run folder, or a file is missing or foreign.
    """
    from selfplay.learning.metrics import read_metrics
    from selfplay.learning.result import Run, earlier_records

    folder = _run_folder(folder)
    config, content = read_settings(folder)
    lines = read_metrics(folder / METRICS, config.unit) if (folder / METRICS).exists() else ()

    def read(steps: int | None) -> "Player":
        return load(folder, network, steps, learner)

    records = earlier_records(lines, config, read)
    return Run(config, folder, read, records, interrupted=content.get("finished") is not True)


def snapshot_steps(folder: "Folder") -> tuple[int, ...]:
    """Return the steps at which a run saved its player, in order: its first, its last, and some in between.

    `load` takes one of them. The shipped player has none.

    Raises:
        UserError: there is no such run folder.
    """
    return run_folder.snapshot_steps(_run_folder(folder))


def _run_folder(name: "Folder") -> Path:
    folder = SHIPPED_FOLDER if name == SHIPPED else as_path(name)
    if not folder.is_dir():
        raise UserError(f"{folder}: there is no such run folder{did_you_mean(name, [SHIPPED])}")
    return folder


def read_settings(place: Path) -> tuple[Config, dict[str, Any]]:
    """Return the settings of a run, and the whole content of its config.json, which may be given as a file.

    Raises:
        UserError: config.json is missing, is of another format, or holds a value that is no setting.
    """
    content = read_config(place)
    return parse_settings(content, run_folder.config_path(place)), content


def checked_settings(place: Path, learner: Any = None, network: Any = None) -> Config:
    """Return the settings of a run, and refuse another learner or network of the user than it has.

    Raises:
        UserError: config.json cannot be read; a learner or network is missing, or is given and the run has none.
    """
    config, content = read_settings(place)
    own = {"learner": (getattr(config, "learner", None), learner), "network": (content.get(OWN_NETWORK), network)}
    for what, (name, given) in own.items():
        if name is not None and given is None:
            way = f"name it {name}@{place} where a player is named, or give {what}= in Python"
            raise UserError(f"{place}: its {what} is your own, {name}; {way}")
        if name is None and given is not None:
            raise UserError(f"{place}: has no {what} of your own; leave out {what}=")
    return config


def parse_settings(content: Mapping[str, Any], path: Path | str) -> Config:
    """Return the settings that the content of a config.json holds.

    Raises:
        UserError: it holds none, or a value that is no setting.
    """
    kinds = {**ALGORITHMS, OwnConfig.algorithm: OwnConfig}
    algorithm, saved = content.get("algorithm"), content.get("config")
    if str(algorithm) not in kinds or not isinstance(saved, dict):
        raise UserError(f"{path}: is not the configuration of a run of {', '.join(kinds)}")
    kind = kinds[str(algorithm)]
    known = {field.name for field in fields(kind)} - {"run_dir"}
    if odd := ", ".join(map(repr, sorted(saved.keys() ^ known))):
        raise UserError(f"{path}: is from another version of this program (settings that differ: {odd})")
    try:
        return kind(**saved)
    except UserError as error:
        raise UserError(f"{path}: {error}") from None


def _show_settings(function: Any) -> None:
    """Have `help` show the settings of a DQN, and their defaults, before other `settings` of a function."""
    signature = inspect.signature(function)
    *named, others = signature.parameters.values()
    settings = [inspect.Parameter(each.name, others.KEYWORD_ONLY, default=each.default) for each in fields(DQNConfig)]
    function.__signature__ = signature.replace(parameters=[*named, *settings, others])


_show_settings(train)
_show_settings(training)
