"""Prove what a saved player is: `python -m selfplay.prove RUN`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from selfplay.command_line import parse, run_command
from selfplay.errors import UserError
from selfplay.evaluation import evaluate
from selfplay.games import self_play_game
from selfplay.report import evaluation_table, verdict
from selfplay.run_folder import load

PROG = "python -m selfplay.prove"


@dataclass(frozen=True)
class ProveConfig:
    """Evaluate the player of a run folder exactly."""

    run: Annotated[Path, tyro.conf.Positional]
    """Folder that `python train.py` has left."""


def main(args: Sequence[str]) -> None:
    """Print the exact evaluation of a saved player and a game against itself."""
    config = parse(ProveConfig, args, PROG)
    player = load(config.run)
    try:
        evaluation = evaluate(player, player.rules)
    except ValueError as error:
        raise UserError(f"{config.run}: {error}") from None
    console = Console()
    print(self_play_game(player, player.rules) + "\n")
    console.print(evaluation_table(evaluation))
    print(verdict(evaluation))


if __name__ == "__main__":
    run_command(main, PROG)
