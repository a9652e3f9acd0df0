"""The program: `selfplay COMMAND`, or `python -m selfplay COMMAND`, which is the same."""

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from selfplay.cli.flags import run_command
from selfplay.errors import UserError
from tictactoe import __version__
from tictactoe.names import did_you_mean

COMMANDS = {
    "train": ("cli.train", "train a player until it is proved unbeatable"),
    "prove": ("cli.prove", "evaluate a player exactly: can it be beaten?"),
    "repair": ("cli.repair", "correct the moves of a trained player that lose"),
    "certify": ("cli.certify", "write a certificate for others that a player is unbeatable"),
    "play": ("cli.play", "play against a player"),
    "arena": ("cli.arena", "let players meet, and rate them"),
    "web": ("cli.web", "open a page to play, look inside players, and follow runs"),
    "sweep": ("cli.sweep", "train with many settings and seeds, on all cores or machines"),
    "report": ("cli.report", "report the results of a sweep, with intervals and plots"),
    "course": ("cli.course", "write the course as notebooks, or check those of students"),
}
"""Each command with its module, which is imported only to run it, and what it does."""


def main(args: Sequence[str] | None = None, prog: str | None = None) -> NoReturn:
    """Run the command that the arguments name, and exit with its status."""
    name, *rest = (sys.argv[1:] if args is None else args) or ["--help"]

    def command(rest: Sequence[str]) -> None:
        if name in ("-h", "--help"):
            print("Train players of tic-tac-toe, and find out exactly whether they can be beaten.\n")
            print("\n".join(f"  selfplay {each:7} {about}" for each, (_, about) in COMMANDS.items()))
            print("\nEach command has --help. selfplay --version prints the version.")
        elif name == "--version":
            print(f"selfplay {__version__}")
        elif name in COMMANDS:
            importlib.import_module(f"selfplay.{COMMANDS[name][0]}").main(rest, prog or f"selfplay {name}")
        else:
            raise UserError(
                f"there is no command {name!r}; choose one of {', '.join(COMMANDS)}{did_you_mean(name, COMMANDS)}"
            )

    run_command(command, prog or (f"selfplay {name}" if name in COMMANDS else "selfplay"), rest)
