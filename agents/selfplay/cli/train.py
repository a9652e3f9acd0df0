"""Train a player and evaluate it exactly: `selfplay train [ALGORITHM] [flags]`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, get_args

import tyro
from tyro.constructors import ConstructorRegistry, PrimitiveConstructorSpec, PrimitiveTypeInfo

from selfplay.cli.flags import PLAYING, commands_for, offer, say, verdict_style
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.program import command, open_console, tensorboard, tensorboard_address
from selfplay.runs.algorithms import ALGORITHMS, Config, defaults_of, settings_of
from selfplay.runs.api import train
from selfplay.runs.folder import RunFlags, about
from selfplay.runs.load import checked_settings
from selfplay.settings import SHORT_NAMES, parse_value, written
from tictactoe import Rewards
from tictactoe.rewards import PRESETS

if TYPE_CHECKING:
    from selfplay.runs.result import Run

SHORT_FLAGS = {f"--{short}": f"--{name.replace('_', '-')}" for short, name in SHORT_NAMES.items()}

FLAGS = ConstructorRegistry()
"""How words become values, where tyro's own rules differ from those of a sweep."""

Settings = TypeVar("Settings")


@dataclass(frozen=True)
class Origin:
    """Flags that say where the defaults of all others come from."""

    preset: str = "default"
    config: Path | None = None
    resume: Path | None = None


@dataclass(frozen=True)
class TrainFlags(Generic[Settings]):
    """All flags of the command: the settings of the algorithm, and those of this process, without a prefix."""

    settings: Annotated[Settings, tyro.conf.arg(name="")]
    run: Annotated[RunFlags, tyro.conf.arg(name="")]


def main(args: Sequence[str], prog: str = "selfplay train", **own: Any) -> None:
    """Train as the flags say, with `own` parts, show the exact score meanwhile, and write a run folder."""
    config, run_flags = read(args, prog, **own)
    # Before PyTorch is imported, which takes seconds.
    print(f"Training {config.algorithm} on {config.rules}: {about(config)}", flush=True)
    from selfplay.runs.result import Interrupted

    try:
        run = train(
            config,
            resume=run_flags.resume,
            force=run_flags.force,
            checkpoint_interval=run_flags.checkpoint_interval,
            name=run_flags.name,
            runs_dir=run_flags.runs_dir,
            **own,
        )
    except Interrupted as interrupted:
        run = interrupted.run
    if run.interrupted:
        present_interrupted(run)
        raise Interrupted(run)
    present(run, run_flags.verbose)


def read(args: Sequence[str], prog: str = "selfplay train", **own: Any) -> tuple[Config, RunFlags]:
    """Return the settings of the algorithm named first (default: the DQN), and the flags of the run.

    Flags override the defaults. For a run that is resumed or copied, with its `own` parts, its settings are the
    defaults.

    Raises:
        UserError: there is no such algorithm or run, or a value is out of bounds or does not fit the others.
        SystemExit: tyro has refused a flag or its value, or has printed the help.
    """
    algorithm, flags = "", list(args)
    if flags and not flags[0].startswith("-"):
        algorithm = flags.pop(0)
    flags = [spelled_out(flag) for flag in flags]
    # Two passes: tyro takes the defaults before it reads any flag, and these flags choose the defaults.
    origin, _ = tyro.cli(Origin, prog=prog, args=flags, return_unknown_args=True, add_help=False)
    default = defaults(algorithm, origin, own)
    kind: Any = TrainFlags[type(default)]  # type: ignore[misc] # known only now
    found = tyro.cli(
        kind,
        prog=f"{prog} {algorithm}".rstrip(),
        args=flags,
        default=TrainFlags(default, RunFlags()),
        description=description(default, prog),
        config=(tyro.conf.OmitArgPrefixes,),  # --rows, not --rules.rows
        registry=FLAGS,
    )
    return found.settings, found.run


@FLAGS.primitive_rule
def several_in_one_word(kind: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Return how a flag for several numbers is read, such as 64x32; None if the flag is of another type."""
    if kind.type_origin is not tuple:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INTxINT...",
        instance_from_str=lambda words: parse_value(words[0]),
        is_instance=lambda value: isinstance(value, tuple),
        str_from_instance=lambda value: [written(value)],
    )


@FLAGS.primitive_rule
def rewards_in_one_word(kind: PrimitiveTypeInfo) -> PrimitiveConstructorSpec[Any] | None:
    """Return how the flag for rewards is read, which is checked with the other settings; None for another type."""
    if Rewards not in get_args(kind.type):
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=f"{{{','.join(PRESETS)}}}|NAME=FLOAT:...",
        instance_from_str=lambda words: words[0],
        is_instance=lambda value: isinstance(value, str | Rewards),
        str_from_instance=lambda value: [written(value)],
    )


def spelled_out(flag: str) -> str:
    """Return the long form of a flag, which may have its value behind an equals sign."""
    name, equals, value = flag.partition("=")
    return f"{SHORT_FLAGS.get(name, name)}{equals}{value}"


def defaults(algorithm: str, origin: Origin, own: Mapping[str, Any]) -> Config:
    """Return the settings that the other flags change: those of a run, of a preset, or of the algorithm.

    Raises:
        UserError: there is no such algorithm or run, or the run is of another algorithm or has other `own` parts.
    """
    kind = settings_of(algorithm or DQNConfig.algorithm)
    place = origin.resume or origin.config
    if place is not None:
        default = checked_settings(place, **{"learner": None, "network": None, "agent": None, **own})
        if algorithm and algorithm != default.algorithm:
            raise UserError(f"{place}: is a run of {default.algorithm}, not of {algorithm}")
        return default
    return defaults_of(kind, {"preset": origin.preset})  # the second pass refuses an unknown preset


def description(default: Config, prog: str) -> str:
    """Return what an algorithm does, for its help; for the DQN also the other algorithms, one line each."""
    purposes = {name: str(kind.__doc__).splitlines()[0] for name, kind in ALGORITHMS.items()}
    own = str(default.__doc__).splitlines()[0]
    if not isinstance(default, DQNConfig):
        return own
    others = [f"  {prog} {name:13} {purpose}" for name, purpose in purposes.items() if name != default.algorithm]
    short = [f"{flag} is short for {name}." for flag, name in SHORT_FLAGS.items()]
    return "\n".join([own, *short, "", "Other algorithms, each with its own --help:", *others])


def present(run: "Run", verbose: bool) -> None:
    """Print what is proved of the player, and what to try next; if verbose also the table of both seats, and games."""
    from selfplay.runs.metrics import HEADLINES

    print()
    show_summary(run)
    if verbose:
        from selfplay.judge.ask import agent_policy
        from selfplay.judge.evaluate import evaluate_policy
        from selfplay.judge.games import example_games
        from selfplay.judge.move_values import ALL_STATES_CELLS
        from selfplay.judge.report import verdict_table

        console = open_console()
        console.print(verdict_table(run.verdict))
        every_state = run.config.rules.cells <= ALL_STATES_CELLS
        evaluation = evaluate_policy(agent_policy(run.player, run.config.rules), every_state)
        games = example_games(evaluation, run.player, console.width)
        say(f"\n{games.rstrip()}")
    say(f"\nThe run is in {run.folder}. What you can do next:\n")
    commands = commands_for(run.folder, prove="Evaluate it again:", **PLAYING)
    commands["See every setting:"] = command("train", run.config.algorithm, "--help")
    commands["See all runs' curves:"] = tensorboard(run.folder.parent)
    offer(commands)
    print(f"\n{tensorboard_address(HEADLINES)}")


def show_summary(run: "Run") -> None:
    """Print three lines: what is proved of the player, the ways to beat it, and since when it is proved."""
    from selfplay.judge.verdict import exact_score, title

    verdict, proved_from = run.verdict, run.proved_from
    as_first, as_second = verdict.first.loss, verdict.second.loss
    if verdict.unbeatable:
        meaning = "no opponent can beat it, in either seat"
    elif verdict.unexploitable:
        meaning = "no opponent gets more than best play gives it"
    elif as_first is None or as_second is None:
        meaning = "its play leads to too many positions to follow to the end"
    else:
        meaning = f"loses {as_first:.1%} of its games as X, {as_second:.1%} as O, to random play"
    ways, *facts = exact_score(verdict)
    if run.lapses:
        ways += f"; lapses: {run.lapses:,}"
    if proved_from is not None:
        seconds = proved_from.metrics["time/training_s"]
        facts.append(f"proved from {proved_from.steps:,} {run.config.unit} ({seconds:.1f} s) on")
    last = "; ".join(facts)
    lines = [f"{title(verdict)}: {meaning}", ways, last[:1].upper() + last[1:]]
    say("\n".join(f"{line}." for line in lines if line), verdict_style(verdict))


def present_interrupted(run: "Run") -> None:
    """Print what is known about the player of an interrupted run, and how to resume the run."""
    print()
    commands = {"Resume the run:": command("train", "--resume", str(run.folder))}
    if run.records:
        say(f"The last evaluation was after {run.records[-1].steps:,} {run.config.unit}.")
        show_summary(run)
        commands |= commands_for(run.folder, prove="Evaluate the player so far:", play=PLAYING["play"])
    say(f"\nThe run is in {run.folder}. What you can do next:\n")
    offer(commands)
