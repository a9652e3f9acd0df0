"""The program: `selfplay COMMAND`, or `python -m selfplay COMMAND`, which is the same.

To add a command, write a module with a dataclass that `parse` reads, whose fields are its flags, and name it in
`COMMANDS`. Test to extend: `LINES` in `cli/test_user_errors.py`, with what is easily typed wrong.
"""

import importlib
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from selfplay.cli.flags import run_command
from selfplay.errors import UserError
from tictactoe import __version__
from tictactoe.names import did_you_mean

COMMANDS = {
    "train": ("cli.train", "train a player until it is proved unbeatable"),
    "prove": ("cli.prove", "evaluate a player exactly: can it be beaten?"),
    "certify": ("cli.certify", "write a certificate for others that a player is unbeatable"),
    "play": ("cli.play", "play against a player"),
    "arena": ("cli.arena", "print the exact results between players"),
    "web": ("cli.web", "open a page to play and to look inside players"),
    "sweep": ("cli.sweep", "train with many settings and seeds, on all cores or machines"),
    "report": ("cli.report", "compare runs in a table, or those of a sweep with intervals"),
    "course": ("cli.course", "write the course as notebooks, or check those of students"),
}
"""Each command with its module, which is imported only to run it, and its purpose."""


def main(args: Sequence[str] | None = None, prog: str | None = None, **own: Any) -> NoReturn:
    """Run the command that the arguments name, and exit with its status; `prog` replaces its name in messages.

    A program of your own may give its `network` or `agent`, as `selfplay.train` takes them: `main(agent=MyAgent)`.
    """
    given = list(sys.argv[1:] if args is None else args)
    name = given.pop(0) if given else "--help"
    if prog is None:
        prog = f"selfplay {name}" if name in COMMANDS else "selfplay"

    def command(flags: Sequence[str]) -> None:
        if name in ("-h", "--help"):
            print_commands()
        elif name == "--version":
            print(f"selfplay {__version__}")
        elif name in COMMANDS:
            module, _ = COMMANDS[name]
            parts = own if name in ("train", "sweep") else {}
            importlib.import_module(f"selfplay.{module}").main(flags, prog, **parts)
        else:
            near = did_you_mean(name, COMMANDS)
            raise UserError(f"there is no command {name!r}; choose one of {', '.join(COMMANDS)}{near}")

    run_command(command, prog, given)


def print_commands() -> None:
    """Print what the program is for, and its commands."""
    print("Train players of tic-tac-toe, and find out exactly whether they can be beaten.\n")
    for name, (_, purpose) in COMMANDS.items():
        print(f"  selfplay {name:7} {purpose}")
    print("\nEach command has --help. selfplay --version prints the version.")
