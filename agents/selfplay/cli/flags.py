"""What all commands share: flags from a dataclass, what they print, and exit statuses."""

import functools
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from selfplay.errors import MissingExtraError, UserError, naming_the_extra
from selfplay.program import command, open_console, say
from selfplay.settings import check
from tictactoe.rules import UnknownRuleError

if TYPE_CHECKING:
    from selfplay.judge.verdict import Verdict

USER_ERROR, INTERRUPTED = 2, 130
"""Exit statuses."""
PLAYING = {"play": "Play against it:", "web": "Look inside it in a browser:"}
"""Commands for a trained player, and what they do."""

Config = TypeVar("Config")


def parse(kind: type[Config], args: Sequence[str], prog: str) -> Config:
    """Return a dataclass as the command line sets it: every field is a flag, and its docstring the help.

    A field without a default is positional, and so is one whose type is `tyro.conf.Positional[...]`.

    Raises:
        UserError: a value is out of bounds, or does not fit the others.
        SystemExit: with status 2 a flag is unknown or its value is of another type, with status 0 `--help` was given;
            tyro has printed the mistake or the help.
    """
    import tyro

    # Given a class, tyro would frame the UserErrors of its __post_init__ as mistakes of a type; a function's it leaves.
    config = tyro.cli(
        functools.partial(kind),
        prog=prog,
        args=args,
        config=(
            tyro.conf.PositionalRequiredArgs,
            tyro.conf.PositionalMetavarFromFieldName,
            tyro.conf.OmitArgPrefixes,  # --rows, not --rules.rows
        ),
    )
    check(config)
    return config


def show_verdict(verdict: "Verdict", *notes: str) -> None:
    """Print what is proved, its first words coloured, with notes, and the table of both seats."""
    from selfplay.judge.report import verdict_table
    from selfplay.judge.verdict import verdict_text
    from selfplay.runs.screen import verdict_style

    say("\n".join([verdict_text(verdict), *notes]), verdict_style(verdict))
    open_console().print(verdict_table(verdict))


def offer(commands: Mapping[str, str]) -> None:
    """Print command lines, each behind what it does; nothing breaks a line, so that it can be copied."""
    column = max(map(len, commands))
    for what, line in commands.items():
        print(f"  {what:{column}}  {line}")


def commands_for(folder: Path, **names: str) -> dict[str, str]:
    """Return commands of this program for a run folder, by what they do."""
    return {what: command(name, str(folder)) for name, what in names.items()}


def run_command(main: Callable[[Sequence[str]], None], prog: str, args: Sequence[str] | None = None) -> NoReturn:
    """Run the main function of a command with these arguments, by default those of the program, and exit.

    The status is 2 after a user's mistake and 130 after Ctrl-C. Any other error keeps its traceback.
    """
    status = 0
    try:
        with naming_the_extra():
            main(sys.argv[1:] if args is None else args)
    except (UserError, MissingExtraError, UnknownRuleError) as error:
        print(f"{prog}: {error}", file=sys.stderr)
        status = USER_ERROR
    except KeyboardInterrupt as interrupt:
        print(f"{prog}: {str(interrupt) or 'interrupted'}", file=sys.stderr)
        status = INTERRUPTED
    sys.exit(status)
