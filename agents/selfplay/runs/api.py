"""The functions that train: `train` with a run folder, `training` without one; and `open`, which reads a run.

Imports that take seconds, PyTorch above all, wait until something is trained.
"""

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError, naming_the_extra
from selfplay.files import locked
from selfplay.learner import Learner, LearnerFactory, copied_player, make_learner
from selfplay.program import waiting
from selfplay.runs.algorithms import Config, described, new_learner, settings_of
from selfplay.runs.folder import METRICS, RunFlags, check_empty, new_run_dir
from selfplay.runs.load import Folder, Saved, check_own, folder_of, part_names, read_settings
from selfplay.settings import CustomConfig, RunSettings, SettingsError, to_json

if TYPE_CHECKING:
    from selfplay.dqn.dqn import DQNAgent
    from selfplay.dqn.network import NetworkFactory
    from selfplay.runs.loop import Record
    from selfplay.runs.result import Run


@naming_the_extra()
def train(
    algorithm: str | Config | None = None,
    /,
    *,
    learner: LearnerFactory | None = None,
    network: "NetworkFactory | None" = None,
    agent: "type[DQNAgent] | None" = None,
    stop_when: Callable[[], bool] = lambda: False,
    progress: bool = True,
    **settings: Any,
) -> "Run":
    """Train a player, show its exact score while it learns, and write a run folder, as `selfplay train` does.

    `settings` are those of a DQN: `train(seed=1, mask=True)`. Name another algorithm first: `train("minimax-q",
    games=2000)`. Or give a config object, and settings to change in it: `train(selfplay.open(RUN).config, seed=2)`.
    `learner` is your own algorithm, a `selfplay.Learner` or a class that makes one. `network` is your own network: a
    module from [B, 3A] to [B, A], or a function of the rules that returns one. `agent` is your own subclass of
    `selfplay.DQNAgent`. A run folder holds weights, never code, so give the same one again to resume the run.

    With `resume` the run in that folder continues from its last checkpoint, with these `settings` changed; with `force`
    even settings that a resumed run must keep. `checkpoint_interval` is in seconds. `name` and `runs_dir` are the name
    of a new run's folder and where it is made; `run_dir` is the folder itself. `stop_when` is called every few steps;
    if it returns True, the run is interrupted, as by Ctrl-C. An interrupted run has written a checkpoint, and its
    `.interrupted` is True. `progress=False` prints nothing.

    Raises:
        UserError: a setting is invalid, the folder cannot be used, or the network, agent or learner does not fit.
        KeyboardInterrupt: Ctrl-C was pressed twice, or SIGTERM ended the run; its folder can be resumed.
    """
    given = settings.get("resume")
    flags = RunFlags(**{each.name: settings.pop(each.name) for each in fields(RunFlags) if each.name in settings})
    # A folder that cannot be used is refused before PyTorch is imported, which takes seconds.
    if flags.resume is None:
        config, custom = chosen(algorithm, learner, settings)
        place, finished = new_run_dir(config, flags), False
        check_empty(place, flags.named_by)
    else:
        saved = given if isinstance(given, Saved) else read_settings(flags.resume)
        check_own(saved, learner=learner, network=network, agent=agent)
        config, custom = _resumed(saved, algorithm, learner, settings, flags.force)
        place, finished = flags.resume, saved.finished
    with waiting("PyTorch is being imported") if progress else contextlib.nullcontext():
        from selfplay.runs import result, run
    with _one_thread():
        trained = new_learner(config, custom, network, agent)
        if isinstance(config, DQNConfig):
            config = replace(config, device=trained.device.type)  # type: ignore[attr-defined] # a resumed run keeps it
        ended = result.FINISHED if finished else result.INTERRUPTED
        new = result.Run(config, place, [], ended, network=network, learner=learner)
        notes = part_names(network=network, agent=agent)
        return run.train_in_folder(new, trained, flags, notes, stop_when, progress)


def training(
    algorithm: str | Config | None = None,
    /,
    *,
    learner: LearnerFactory | None = None,
    network: "NetworkFactory | None" = None,
    agent: "type[DQNAgent] | None" = None,
    **settings: Any,
) -> "Iterator[Record]":
    """Train without a folder and without output, and yield each evaluation.

    Each record has `.steps`, `.verdict`, `.metrics` by TensorBoard tag, and `.player`, a copy of the player at that
    moment. To stop early, stop iterating. While it trains, PyTorch uses one thread, which is fastest for networks of
    this size. The arguments are those of `train`.

    Raises:
        UserError: a setting is invalid, the network, agent or learner does not fit, or what was learned is not
            finite.
    """
    with naming_the_extra():
        from selfplay.runs import loop

        config, custom = chosen(algorithm, learner, settings)
        trained = new_learner(config, custom, network, agent)
    with _one_thread():
        for record in loop.train(trained, config):
            yield replace(record, player=copied_player(trained))


@naming_the_extra()
def open(  # noqa: A001 (of `selfplay`, where it is called selfplay.open)
    folder: Folder,
    network: "NetworkFactory | None" = None,
    learner: LearnerFactory | None = None,
) -> "Run":
    """Return the run of a folder, as `train` returned it; its players are read when you use them.

    `network` and `learner` are those of `load`.

    Raises:
        UserError: there is no such run folder, or a file is missing or foreign.
    """
    from selfplay.runs.metrics import read_metrics
    from selfplay.runs.result import FINISHED, INTERRUPTED, Run, earlier_records

    place = folder_of(folder)
    saved = read_settings(place)
    config = saved.config
    lines = read_metrics(place / METRICS, config.unit) if (place / METRICS).exists() else ()
    ended = FINISHED if saved.finished else INTERRUPTED
    return Run(config, place, earlier_records(lines, config), ended, saved.kept_steps, network, learner)


def chosen(
    algorithm: str | Config | None, learner: LearnerFactory | None, settings: Mapping[str, Any]
) -> tuple[Config, Learner | None]:
    """Return the settings of a new run, and its custom learner if it has one.

    Raises:
        UserError: one is invalid, or does not fit the learner.
    """
    if isinstance(algorithm, RunSettings):
        base = algorithm
    elif algorithm is None and learner is not None:
        base = CustomConfig()
    else:
        base, settings = settings_of(algorithm or DQNConfig.algorithm)(**settings), {}
    if not isinstance(base, CustomConfig):
        if learner is not None:
            raise UserError(f"{base.algorithm}: does not have your own learner; leave out learner=")
        return replace(base, **settings), None
    if learner is None:
        raise UserError(f"{base.algorithm}: has your own learner; give learner=")
    made = make_learner(learner, base.options)
    config = described(made, base)
    if algorithm is None and "seed" in config.options:
        settings = {"seed": config.options["seed"], **settings}
    return replace(config, **settings), made


def _resumed(
    saved: Saved,
    algorithm: str | Config | None,
    learner: LearnerFactory | None,
    settings: Mapping[str, Any],
    force: bool,
) -> tuple[Config, Learner | None]:
    """Return the settings with which a run continues, and its custom learner if it has one.

    Raises:
        UserError: they are of another algorithm than those of the run, or differ without force; the run is
            finished, or another process is training in its folder.
    """
    folder, before = saved.folder, saved.config
    name = algorithm.algorithm if isinstance(algorithm, RunSettings) else algorithm
    if name is not None and name != before.algorithm:
        raise UserError(f"{folder}: is a run of {before.algorithm}, not of {name}")
    config, made = chosen(algorithm if isinstance(algorithm, RunSettings) else before, learner, settings)
    if isinstance(before, DQNConfig) and isinstance(config, DQNConfig) and config.device == "auto":
        config = replace(config, device=before.device)  # what it became
    if not force:
        check_changes(before, config, str(folder))
    with locked(folder):  # else a run that another process is training would only be refused after seconds
        if saved.finished and to_json(config) == to_json(before):
            longer = f"`{config.length_setting}` above {config.length} continues it"
            raise SettingsError(f"{folder}: is finished; {longer}, or if a proof ended it, `stop` never with `force`")
    return config, made


def check_changes(before: RunSettings, now: RunSettings, place: str) -> None:
    """Refuse to resume a run with other settings; its length may grow, since nothing before the end depends on it.

    Raises:
        SettingsError: some differ; all differences are shown.
    """
    old, new = to_json(before), to_json(now)
    differences = [name for name in new if old[name] != new[name]]
    if now.length_setting in differences and now.length > before.length:
        differences.remove(now.length_setting)
    if differences:
        shown = "; ".join(f"`{name}` was {old[name]!r} and now is {new[name]!r}" for name in differences)
        raise SettingsError(f"{place}: other settings than those of the run: {shown} (`force` takes them)")


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


def _show_settings(function: Any, *kinds: Any) -> None:
    """Have `help` show the fields of these dataclasses, and their defaults, before other `settings` of a function."""
    signature = inspect.signature(function)
    *named, others = signature.parameters.values()
    settings = [
        inspect.Parameter(each.name, others.KEYWORD_ONLY, default=each.default)
        for kind in kinds
        for each in fields(kind)
    ]
    function.__signature__ = signature.replace(parameters=[*named, *settings, others])


_show_settings(train, RunFlags, DQNConfig)
_show_settings(training, DQNConfig)
