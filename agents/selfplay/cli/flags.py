"""The parts that all commands share: flags from a dataclass, what they print, and exit statuses."""

import shutil
import sys
import textwrap
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields, is_dataclass, make_dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar, get_args, get_type_hints

from selfplay.errors import MissingExtraError, UserError, naming_the_extra
from selfplay.program import open_console, say
from selfplay.settings import SHORT_NAMES, SettingsError
from tictactoe.rules import UnknownRuleError

if TYPE_CHECKING:
    from selfplay.judge.evaluate import Evaluation
    from selfplay.protocols import Player

USER_ERROR, INTERRUPTED = 2, 130
"""Exit statuses."""
SHORT_FLAGS = {f"--{short}": f"--{name.replace('_', '-')}" for short, name in SHORT_NAMES.items()} | {"-k": "--k"}

Config = TypeVar("Config")


def parse(kind: type[Config], args: Sequence[str], prog: str) -> Config:
    """Return a dataclass as the command line sets it: every field is a flag, and its docstring the help.

    A field without a default is positional, and so is one whose type is `tyro.conf.Positional[...]`.

    Raises:
        UserError: a value is out of bounds, or does not fit the others, or a flag is given twice.
        SystemExit: with status 2 a flag is unknown or its value is of another type, with status 0 `--help` was given;
            tyro has printed the mistake or the help.
    """
    import tyro

    unwrap_docstrings(kind)
    hints = get_type_hints(kind, include_extras=True)
    several = [name for name, hint in hints.items() if tyro.conf.UseAppendAction in get_args(hint)]
    # tyro frames the UserErrors of a dataclass as mistakes of a type, unless it is the field of another.
    whole: Any = make_dataclass("Flags", [("flags", Annotated[kind, tyro.conf.arg(name="")])])
    flags: Config = tyro.cli(
        whole,
        prog=prog,
        args=long_flags(args, several),
        description=wrapped(*paragraphs(kind)),
        config=(
            tyro.conf.PositionalRequiredArgs,
            tyro.conf.PositionalMetavarFromFieldName,
            tyro.conf.OmitArgPrefixes,  # --rows, not --rules.rows
        ),
    ).flags
    return flags


def long_flags(args: Sequence[str], several: Collection[str] = ()) -> list[str]:
    """Return arguments with each short flag, such as -k, in its long form.

    Raises:
        UserError: a flag is given twice, and is not one of `several`, the names of fields that collect values.
    """
    found: list[str] = []
    names: set[str] = set()
    for word in args:
        flag, equals, value = word.partition("=")
        flag = SHORT_FLAGS.get(flag, flag)
        found.append(f"{flag}{equals}{value}")
        name = flag.removeprefix("--").replace("-", "_")
        if flag.startswith("--") and name in names and name not in several:
            raise UserError(f"{flag}: is given twice; give it once")
        names.add(name)
    return found


def unwrap_docstrings(*kinds: type) -> None:
    """Let tyro show the docstrings of the fields of dataclasses without the line breaks of our source."""
    import docstring_parser

    for kind in kinds:
        found = {each.name: each for each in fields(kind)}
        for base in filter(is_dataclass, reversed(kind.__mro__)):
            for doc in docstring_parser.parse_from_object(base).params:
                if doc.arg_name in found and doc.description:
                    unwrapped = {"help": " ".join(doc.description.split())}
                    found[doc.arg_name].metadata = MappingProxyType({**found[doc.arg_name].metadata, **unwrapped})


def paragraphs(kind: type) -> list[str]:
    """Return the paragraphs of the docstring of a dataclass, each in one line."""
    return [" ".join(paragraph.split()) for paragraph in str(kind.__doc__).split("\n\n")]


def wrapped(*lines: str) -> str:
    """Return lines broken at the width of the terminal.

    Each begins with a space, because tyro joins those that begin with a letter.
    """
    width = shutil.get_terminal_size().columns - 1
    broken = []
    for line in lines:
        indent = " " * (len(line) - len(line.lstrip()) + 1)
        broken += textwrap.wrap(line.strip(), width, initial_indent=indent, subsequent_indent=2 * indent[1:] + " ")
    return "\n".join(broken)


def show_evaluation(evaluation: "Evaluation", player: "Player | None") -> None:
    """Print the table of both seats, and the shortest games that beat a player, or else a game with itself."""
    from selfplay.judge.agent_tables import verdict_table
    from selfplay.judge.example_games import example_games

    console = open_console()
    console.print(verdict_table(evaluation.verdict))
    games = example_games(evaluation, player, console.width)
    if games:
        say(f"\n{games}")


def offer(commands: Mapping[str, str]) -> None:
    """Print command lines, each behind what it does; nothing breaks a line, so that it can be copied."""
    column = max(map(len, commands))
    for what, line in commands.items():
        print(f"  {what:{column}}  {line}")


def run_command(main: Callable[[Sequence[str]], None], prog: str, args: Sequence[str] | None = None) -> NoReturn:
    """Run the main function of a command with these arguments, by default those of the program, and exit.

    The status is 2 after a user's mistake and 130 after Ctrl-C. Any other error keeps its traceback.
    """
    status = 0
    try:
        with naming_the_extra():
            main(sys.argv[1:] if args is None else args)
    except (UserError, MissingExtraError, UnknownRuleError) as error:
        shown = error.as_flags if isinstance(error, SettingsError) else error
        print(f"{prog}: {shown}", file=sys.stderr)
        status = USER_ERROR
    except KeyboardInterrupt as interrupt:
        print(f"{prog}: {str(interrupt) or 'interrupted'}", file=sys.stderr)
        status = INTERRUPTED
    sys.exit(status)
