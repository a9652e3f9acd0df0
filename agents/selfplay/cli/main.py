"""The program: `selfplay COMMAND`, or `python -m selfplay COMMAND`, which is the same."""

import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from selfplay.command_line import run_command
from selfplay.errors import UserError
from tictactoe import __version__

COMMANDS = {
    "train": ("cli.train", "train a player until it is proved unbeatable"),
    "prove": ("cli.prove", "prove what a player is, exactly"),
    "repair": ("cli.repair", "correct a trained player in the few positions from which it is beaten"),
    "certify": ("cli.certify", "write down the play of an unbeatable player, for others to check"),
    "play": ("play.command", "play against a player"),
    "arena": ("arena.command", "let players meet each other"),
    "web": ("web.command", "open a page to play on, to look inside players, and to follow runs"),
    "sweep": ("sweep.command", "train with many settings and seeds, on all cores or many machines"),
    "report": ("sweep.report", "report the results of a sweep, with intervals and plots"),
    "course": (
        "cli.course",
        "write the course as notebooks: eight units, from the solved game to a bigger board",
    ),
}
"""The commands with their modules, which are imported when they are run, and what they do."""


def main(args: Sequence[str] | None = None, prog: str | None = None) -> NoReturn:
    """Run the command that the arguments name, and exit with the status that it deserves."""
    name, *rest = (sys.argv[1:] if args is None else args) or ["--help"]

    def command(rest: Sequence[str]) -> None:
        if name in ("-h", "--help"):
            print("Train players of tic-tac-toe by self-play, and prove what they are.\n")
            print("\n".join(f"  selfplay {each:7} {about}" for each, (_, about) in COMMANDS.items()))
            print("\nEach has --help. selfplay --version prints which version this is.")
        elif name == "--version":
            print(f"selfplay {__version__}")
        elif name in COMMANDS:
            importlib.import_module(f"selfplay.{COMMANDS[name][0]}").main(rest, prog or f"selfplay {name}")
        else:
            raise UserError(f"there is no command {name!r}; choose one of {', '.join(COMMANDS)}")

    run_command(command, prog or (f"selfplay {name}" if name in COMMANDS else "selfplay"), rest)
