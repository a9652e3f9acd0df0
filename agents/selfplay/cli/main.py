"""The program: `selfplay COMMAND`, or `python -m selfplay COMMAND`, which is the same."""

import functools
import importlib
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from selfplay.errors import MissingExtraError, naming_the_extra

COMMANDS = {
    "train": "train a player until it is proved unbeatable",
    "prove": "prove what a player is, exactly",
    "repair": "correct a trained player in the few positions from which it is beaten",
    "certify": "write down the play of an unbeatable player, for others to check",
    "play": "play against a player",
    "arena": "let players meet each other",
    "web": "open a page to play on, to look inside players, and to follow runs",
    "sweep": "train with many settings and seeds, on all cores or many machines",
    "report": "report the results of a sweep, with intervals and plots",
    "course": "write the course as notebooks: eight units, from the game solved by hand to a bigger board",
}
PLACES = {
    "play": "play.command",
    "arena": "arena.command",
    "web": "web.command",
    "sweep": "sweep.command",
    "report": "sweep.report",
}
"""The module of a command that has a folder of its own."""


def main(args: Sequence[str] | None = None, prog: str | None = None) -> NoReturn:
    """Run the command that the arguments name, and exit with the status that it deserves."""
    # Until the command itself takes over, Ctrl-C ends the imports, which take a second or more, without a traceback.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    name, *rest = (sys.argv[1:] if args is None else args) or [""]
    if name in ("", "-h", "--help"):
        try:
            print(about(), flush=True)
        except BrokenPipeError:  # whoever read it has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    if name not in COMMANDS:
        _refuse(f"there is no command {name!r}; choose one of {', '.join(COMMANDS)}")
    prog = prog or f"selfplay {name}"
    try:
        with naming_the_extra():
            module = importlib.import_module(f"selfplay.{PLACES.get(name, f'cli.{name}')}")
            from selfplay.command_line import run_command
    except MissingExtraError as error:
        _refuse(str(error))
    run_command(functools.partial(module.main, prog=prog), prog, rest)


def about() -> str:
    """Return what there is to be started."""
    commands = "\n".join(f"  selfplay {name:7} {what}" for name, what in COMMANDS.items())
    return f"Train players of tic-tac-toe by self-play, and prove what they are.\n\n{commands}\n\nEach has --help."


def _refuse(why: str) -> NoReturn:
    print(f"selfplay: {why}", file=sys.stderr)
    sys.exit(2)
