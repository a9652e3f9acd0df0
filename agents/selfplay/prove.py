"""Prove what a saved player is: `python -m selfplay.prove RUN`."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console

from selfplay.checks import check_counts
from selfplay.command_line import parse, run_command
from selfplay.games import self_play_game
from selfplay.reach import assess
from selfplay.report import evaluation_table, verdict
from selfplay.run_folder import load

PROG = "python -m selfplay.prove"


@dataclass(frozen=True)
class ProveConfig:
    """Evaluate the player of a run folder exactly."""

    run: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(metavar="RUN")]
    """Folder that `python train.py` has left."""
    positions: int = 10_000_000
    """Above 16 cells: distinct positions that the player is followed to in each seat, at most; these take 2 GB."""


def main(args: Sequence[str]) -> None:
    """Print the exact evaluation of a saved player and a game against itself."""
    config = parse(ProveConfig, args, PROG)
    check_counts(config, "positions")
    player = load(config.run)
    evaluation = assess(player, player.rules, every_state=True, positions=config.positions)
    console = Console()
    print(self_play_game(player, player.rules) + "\n")
    console.print(evaluation_table(evaluation))
    print(verdict(evaluation))


if __name__ == "__main__":
    run_command(main, PROG)
