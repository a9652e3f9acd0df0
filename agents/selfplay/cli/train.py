"""Train a player and evaluate it exactly: `selfplay train [ALGORITHM] [flags]`."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_args

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from selfplay.cli.flags import SHORT_FLAGS, long_flags, offer, show_evaluation, unwrap_docstrings, wrapped
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.program import command, say, tensorboard
from selfplay.runs.algorithms import ALGORITHMS, Config, settings_of
from selfplay.runs.api import train
from selfplay.runs.folder import RunFlags, settings_summary, written
from selfplay.runs.load import Saved, check_own, read_settings
from selfplay.settings import SettingsError
from selfplay.tabular.config import TabularConfig
from tictactoe import Rewards, Rules
from tictactoe.rewards import PRESETS

if TYPE_CHECKING:
    from selfplay.runs.result import Run

FLAGS = ConstructorRegistry()
"""How words become values, where tyro's own rules differ from those of a sweep."""

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Origin:
    """Flags that say where the defaults of all others come from: a run, a preset, or the board."""

    config: Path | None = None
    resume: Path | None = None
    preset: str | None = None
    rows: int | None = None
    cols: int | None = None
    k: int | None = None


@dataclass(frozen=True)
class TrainFlags(Generic[Settings]):
    """All flags of the command, without a prefix."""

    settings: Annotated[Settings, tyro.conf.arg(name="")]
    run: Annotated[RunFlags, tyro.conf.arg(name="")]
    config: Path | None = None
    """Run folder, or its config.json, whose settings a new run takes over; other flags change them."""
    verbose: bool = False
    """Print also the table of both seats at the end, and games of the player."""


def main(args: Sequence[str], prog: str = "selfplay train", **own: Any) -> None:
    """Train as the flags say, with `own` parts, show the exact score meanwhile, and write a run folder."""
    flags, saved = read(args, prog, **own)
    config = flags.settings
    # Before PyTorch is imported, which takes seconds.
    preset = "default, " if getattr(config, "preset", None) == "default" else ""  # `settings_summary` names the others
    unproved = "; no run with this target was ever proved" if getattr(config, "target", "") == "article" else ""
    print(f"Training {config.algorithm} on {config.rules}: {preset}{settings_summary(config)}{unproved}", flush=True)
    of_process = vars(flags.run)
    if flags.run.resume is not None:
        of_process = of_process | {"resume": saved}
    from selfplay.runs.result import EXIT_STATUS, Interrupted

    try:
        run = train(config, **of_process, **own)
    except Interrupted as interrupted:
        run = interrupted.run
    if flags.verbose and run.records:
        show_details(run)
    show_commands(run)
    if run.interrupted:
        sys.exit(EXIT_STATUS[run.ended])


def read(
    args: Sequence[str], prog: str = "selfplay train", **own: Any
) -> tuple[TrainFlags[DQNConfig | TabularConfig], Saved | None]:
    """Return the flags, and what is saved of the run that is resumed or copied.

    The settings are those of the algorithm named first (default: the DQN), and flags override its defaults. For a run
    that is resumed or copied, with its `own` parts, its settings are the defaults.

    Raises:
        UserError: there is no such algorithm or run, a value is out of bounds or does not fit the others, or a flag is
            given twice.
        SystemExit: tyro has refused a flag or its value, or has printed the help.
    """
    algorithm, flags = "", list(args)
    if flags and not flags[0].startswith("-"):
        algorithm = flags.pop(0)
    flags = long_flags(flags)
    # Two passes: tyro takes the defaults before it reads any flag, and these flags choose the defaults.
    origin, _ = tyro.cli(Origin, prog=prog, args=flags, return_unknown_args=True, add_help=False)
    if origin.config is not None and origin.resume is not None:
        raise SettingsError("`config` begins a new run and `resume` continues one: leave out one of them")
    default, saved = defaults(algorithm, origin, own)
    unwrap_docstrings(TrainFlags, RunFlags, type(default), Rules)
    kind: Any = TrainFlags[type(default)]  # type: ignore[misc] # known only now
    found: TrainFlags[Any] = tyro.cli(
        kind,
        prog=f"{prog} {algorithm}".rstrip(),
        args=flags,
        default=TrainFlags(default, RunFlags()),
        description=description(default, prog),
        config=(tyro.conf.OmitArgPrefixes,),  # --rows, not --rules.rows
        registry=FLAGS,
    )
    return found, saved


@FLAGS.primitive_rule
def in_one_word(kind: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Return how layers, such as 64x32, and rewards are read: by their settings themselves; None for another flag."""
    if kind.type_origin is tuple:
        metavar = "INTxINT..."
    elif Rewards in get_args(kind.type):
        metavar = f"{{{','.join(PRESETS)}}}|NAME=FLOAT:..."
    else:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=metavar,
        instance_from_str=lambda words: words[0],
        is_instance=lambda value: isinstance(value, tuple | str | Rewards),
        str_from_instance=lambda value: [written(value)],
    )


def defaults(algorithm: str, origin: Origin, own: Mapping[str, Any]) -> tuple[Config, Saved | None]:
    """Return the settings that the other flags change, and the run that has them if they are those of a run.

    Raises:
        UserError: there is no such algorithm or run, or the run is of another algorithm or has other `own` parts.
    """
    place = origin.resume or origin.config
    if place is None:
        given = {name: value for name, value in vars(origin).items() if value is not None}
        return settings_of(algorithm or DQNConfig.algorithm)(**given), None
    saved = read_settings(place)
    check_own(saved, **{"learner": None, "network": None, "agent": None, **own})
    if algorithm not in ("", saved.config.algorithm):
        raise UserError(f"{saved.folder}: is a run of {saved.config.algorithm}, not of {algorithm}")
    return saved.config, saved


def description(default: Config, prog: str) -> str:
    """Return what an algorithm does, for its help; for the DQN also the other algorithms, one line each."""
    purposes = {name: str(kind.__doc__).splitlines()[0] for name, kind in ALGORITHMS.items()}
    own = str(default.__doc__).splitlines()[0]
    if not isinstance(default, DQNConfig):
        return wrapped(own)
    others = [f"  {prog} {name:13} {purpose}" for name, purpose in purposes.items() if name != default.algorithm]
    short = [f"{flag} is short for {name}." for flag, name in SHORT_FLAGS.items()]
    return wrapped(own, *short, "Other algorithms, each with its own --help:", *others)


def show_details(run: "Run") -> None:
    """Print the table of both seats, and games of the player."""
    from selfplay.judge.ask import agent_policy
    from selfplay.judge.evaluate import evaluate_policy
    from selfplay.judge.move_values import ALL_STATES_CELLS

    rules = run.config.rules
    evaluation = evaluate_policy(agent_policy(run.player, rules), rules.cells <= ALL_STATES_CELLS)
    show_evaluation(evaluation, run.player)


def show_commands(run: "Run") -> None:
    """Print where the run is, and what to do next; first how to continue it, unless its player is proved."""
    config, folder = run.config, str(run.folder)
    commands = {}
    if run.interrupted:
        commands["Continue it:"] = command("train", "--resume", folder)
    elif not run.verdict.unexploitable:
        longer = f"--{config.length_setting.replace('_', '-')}"
        commands["Continue it:"] = command("train", "--resume", folder, longer, str(2 * config.length))
    commands |= {
        "Play against it:": command("play", folder),
        "Look inside it in a browser:": command("web", folder),
        "Evaluate it again:": command("prove", folder),
        "See all runs' curves:": tensorboard(run.folder.parent),
    }
    say(f"The run is in {folder}. What you can do next:")
    offer(commands)
