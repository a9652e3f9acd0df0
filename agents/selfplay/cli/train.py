"""Train a player and evaluate it exactly: `selfplay train [ALGORITHM] [flags]`."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from selfplay.cli.flags import PLAYING, commands_for, offer, parse_together, peek, say, show_verdict
from selfplay.dqn.config import PRESETS, DQNConfig
from selfplay.errors import UserError
from selfplay.learning.api import ALGORITHMS, Config, checked_settings, settings_of, train
from selfplay.learning.folder import RunFlags, about as about_run, way_on
from selfplay.program import command, open_console, tensorboard

if TYPE_CHECKING:
    from selfplay.learning.result import Run


def main(args: Sequence[str], prog: str = "selfplay train") -> None:
    """Train as the flags say, show the exact score meanwhile, and write a run folder."""
    config, run_flags = read(args, prog)
    # Before PyTorch is imported, which takes seconds.
    print(f"Training {config.algorithm} on {config.rules}: {about_run(config)}", flush=True)
    from selfplay.learning.result import Interrupted

    try:
        run = train(
            config,
            resume=run_flags.resume,
            force=run_flags.force,
            checkpoint_interval=run_flags.checkpoint_interval,
        )
    except Interrupted as interrupted:
        run = interrupted.run
    if run.interrupted:
        present_interrupted(run)
        raise Interrupted(run)
    present(run)


def read(args: Sequence[str], prog: str = "selfplay train") -> tuple[Config, RunFlags]:
    """Return the settings of the algorithm named first (default: the DQN), and the flags of the run.

    Flags override the defaults. For a run that is resumed or copied, its settings are the defaults.

    Raises:
        UserError: there is no such algorithm, flag or run, or a value is not what the flag takes.
    """
    algorithm, *rest = args if args and not args[0].startswith("-") else ("", *args)
    kind = settings_of(algorithm or DQNConfig.algorithm)
    default: Config
    flags = peek(RunFlags, rest, prog)
    place = flags.get("resume", flags.get("config"))
    if place is not None:
        default = checked_settings(place)
        if algorithm and algorithm != default.algorithm:
            raise UserError(f"{place}: is a run of {default.algorithm}, not of {algorithm}")
    elif kind is DQNConfig:
        preset = str(peek(DQNConfig, rest, prog).get("preset"))
        default = PRESETS.get(preset, PRESETS["default"])  # an unknown preset is refused below
    else:
        default = kind()
    config, run_flags = parse_together([default, RunFlags], rest, f"{prog} {algorithm}".rstrip(), about(default, prog))
    return config, run_flags


def about(default: Config, prog: str) -> list[str]:
    """Return what an algorithm does; for the DQN also the other algorithms, one line each."""
    purposes = {name: str(kind.__doc__).splitlines()[0] for name, kind in ALGORITHMS.items()}
    own = purposes.pop(default.algorithm)
    if not isinstance(default, DQNConfig):
        return [own]
    others = [f"  {prog} {name:13} {purpose}" for name, purpose in purposes.items()]
    return [own, "Other algorithms, each with its own --help:", *others]


def present(run: "Run") -> None:
    """Print the exact evaluation of the player, example games of it, and what to try next."""
    from selfplay.judging.agents import player_policy
    from selfplay.judging.games import example_games

    since = []
    if proved := run.proved_from:
        after = f"{proved.steps:,} {run.config.unit} ({proved.metrics['time/training_s']:.1f} s of training)"
        since = [f"Proved at each evaluation from {after} on."]
    say("")
    show_verdict(run.proof, *since)
    say("\n" + example_games(player_policy(run.player), run.player, run.proof, open_console().width).rstrip())
    say(f"\nThe run is in {run.folder}. What you can do next:\n")
    commands = commands_for(run.folder, prove="Evaluate it again:", **PLAYING)
    algorithm = [] if run.config.algorithm == DQNConfig.algorithm else [run.config.algorithm]
    help_line = command("train", *algorithm, "--help")
    offer({**commands, "See all runs' curves:": tensorboard(run.folder.parent), "See every setting:": help_line})


def present_interrupted(run: "Run") -> None:
    """Print what is known about the player of an interrupted run, and how to resume the run."""
    say("")
    if run.records:
        last = run.records[-1]
        say(f"The last evaluation was after {last.steps:,} {run.config.unit}.")
        show_verdict(last.evaluation)
    say(f"\nThe run is in {run.folder}. What you can do next:\n")
    words = way_on(run.folder)
    label = "Start it again (the disk had no room for a checkpoint):" if "--force" in words else "Resume the run:"
    player = commands_for(run.folder, prove="Evaluate the player so far:", play=PLAYING["play"]) if run.records else {}
    offer({label: command(*words), **player})
