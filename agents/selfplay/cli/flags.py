"""What all commands share: flags from a dataclass, mistakes in one line, and exit statuses."""

import argparse
import ast
import contextlib
import dataclasses
import functools
import inspect
import io
import itertools
import os
import re
import shutil
import signal
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, get_args, get_origin, get_type_hints

from selfplay.errors import MissingExtraError, UserError, naming_flags, naming_the_extra, one_line
from selfplay.program import command, open_console
from selfplay.settings import LARGEST, check, declared
from tictactoe.names import did_you_mean

if TYPE_CHECKING:
    from selfplay.judging.verdict import Verdict

USER_ERROR, INTERRUPTED = 2, 130
PLAYING = {"play": "Play against it:", "web": "Look inside it in a browser:"}
"""Commands for a trained player, and what they do."""
OUT_OF_MEMORY = r"(?i)can('t|not) allocate memory|out of memory|failed to map segment"
"""Messages about too little memory, of PyTorch and of the system when it loads a library."""
OUT_OF_THREADS = "can't start new thread"
"""Message of Python if the system starts no more threads."""

Config = TypeVar("Config")


def parse(kind: type[Config], args: Sequence[str], prog: str) -> Config:
    """Read a dataclass from the command line: every field is a flag, and its docstring the help.

    Metadata of a field can make it `positional`, under the name to show, or give it `aliases`.

    Raises:
        UserError: a flag is unknown, or its value is not what the field declares.
        SystemExit: `--help` was given, and the help has been printed.
    """
    config: Config = parse_together([kind], args, prog, inspect.cleandoc(kind.__doc__ or "").split("\n\n"))[0]
    return config


@naming_flags()
def parse_together(parts: Sequence[Any], args: Sequence[str], prog: str, about: Sequence[str]) -> list[Any]:
    """Read several dataclasses from one command line; an instance instead of a class holds the defaults.

    `about` are the paragraphs above the flags in the help.

    Raises:
        UserError: a flag is unknown, or its value is not what the field declares.
        SystemExit: `--help` was given, and the help has been printed.
    """
    parser = _parser(parts, prog, about)
    found, unknown = parser.parse_known_intermixed_args(args)
    if unknown:
        flags = (_flag(field.name) for part in parts for field in dataclasses.fields(part))
        parser.error(f"unrecognized arguments: {' '.join(unknown)}{did_you_mean(unknown[0].partition('=')[0], flags)}")
    given = vars(found)
    configs = []
    for part in parts:
        own = {field.name: given[field.name] for field in dataclasses.fields(part) if field.name in given}
        for name, value in own.items():
            if value is None and not hasattr(part, name):  # after the unknown flags, which argparse would name last
                parser.error(f"{name.upper()} is missing")
        config = part(**own) if isinstance(part, type) else dataclasses.replace(part, **own)
        check(config)
        configs.append(config)
    return configs


def peek(kind: type[Any], args: Sequence[str], prog: str) -> dict[str, Any]:
    """Return the flags of a small dataclass that are given, and pass over all other arguments.

    Raises:
        UserError: a value is not of its flag's type.
    """
    found, _ = _parser([kind], prog, [], add_help=False).parse_known_args(args)
    return vars(found)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UserError(
            f"{message.removeprefix('argument ').replace('ignored explicit argument', 'takes no value, got')} "
            f"({self.prog} --help lists every flag)"
        )

    def print_help(self, file: object = None) -> None:  # noqa: ARG002
        print(self.format_help(), end="")  # argparse would pass over what cannot be written


def _parser(parts: Sequence[Any], prog: str, about: Sequence[str], add_help: bool = True) -> _Parser:
    width = shutil.get_terminal_size().columns - 2
    parser = _Parser(
        prog,
        description="\n".join(textwrap.fill(paragraph, width, subsequent_indent="    ") for paragraph in about),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
        add_help=add_help,
    )
    usage = [prog, "[flags]"]
    for part in parts:
        kind = part if isinstance(part, type) else type(part)
        hints, documents = get_type_hints(kind, include_extras=True), _documents(kind)
        groups = getattr(kind, "groups", {})
        headings = {heading: parser.add_argument_group(heading) for heading in (*groups, "learning")}
        places = {name: headings[heading] for heading, names in groups.items() for name in names.split()}
        for field in dataclasses.fields(kind):
            default = getattr(part, field.name, None)
            options = _options(hints[field.name], default)
            options["help"] = (documents.get(field.name, "") + options["help"]).replace("%", "%%")
            if metavar := field.metadata.get("positional"):
                usage.append(metavar)
                options |= {
                    "nargs": options.get("nargs", "?"),
                    "default": default,
                    "action": "store",
                    "metavar": metavar,
                }
                parser.add_argument(field.name, **options)
                continue
            group = places.get(field.name, headings["learning"] if groups else parser)
            group.add_argument(_flag(field.name), *field.metadata.get("aliases", ()), **options)
    parser.usage = " ".join(usage)
    return parser


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _options(hint: Any, default: Any) -> dict[str, Any]:
    """Return the arguments of `add_argument` for a flag of this type, with its help after the description."""
    kind, bounds, _ = declared(hint)
    shown = " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
    notes = [str(limits) for limits in bounds if limits.high < LARGEST]
    notes += [f"default: {shown}"] if shown not in ("", "None") else []
    options = {"help": f" ({'; '.join(notes)})" if notes else ""}
    if kind is bool:
        return options | {"action": argparse.BooleanOptionalAction}
    if get_origin(kind) is tuple:
        return _options(get_args(kind)[0], default) | {"action": "extend", "nargs": "*"}
    choices = ",".join(map(str, get_args(kind)))
    return options | {
        "type": functools.partial(_value, hint, "; write several as 1 2 3" * isinstance(default, tuple)),
        "metavar": f"{{{choices}}}" if choices else kind.__name__.upper(),
    }


def _value(hint: Any, several: str, text: str) -> Any:
    """Return the value of a text for a flag of this type; an unknown choice stays a text.

    `several` ends the message about one that is none.
    """
    kind, _, optional = declared(hint)
    if optional and text == "None":
        return None
    if choices := get_args(kind):
        return next((choice for choice in choices if str(choice) == text), text)
    try:
        return kind(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be of type {kind.__name__}, got {text!r}{several}") from None


@functools.cache
def _documents(kind: Any) -> dict[str, str]:
    """Return the docstrings below the fields of a dataclass, by name."""
    documents = {}
    for base in reversed(kind.__mro__[:-1]):
        definition: Any = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
        for pair in itertools.pairwise(definition.body):
            match pair:
                case ast.AnnAssign(target=ast.Name(name)), ast.Expr(value=ast.Constant(str(text))):
                    documents[name] = " ".join(text.split())
    return documents


def say(text: str, style: str = "") -> None:
    """Print a text with escapes for what could move the cursor, broken between words and only on a terminal.

    The text up to its first colon has the `style`.
    """
    from rich.text import Text

    console = open_console()
    shown = Text("\n".join(map(one_line, text.split("\n"))))
    shown.stylize(style, 0, shown.plain.find(":"))
    console.print(shown, soft_wrap=not console.is_terminal)


def show_verdict(verdict: "Verdict", *notes: str) -> None:
    """Print what is proved, its first words coloured, with notes, and the table of both seats."""
    from selfplay.judging.report import verdict_table
    from selfplay.judging.verdict import verdict_text

    style = "bold green" if verdict.unexploitable else "bold red"
    say("\n".join([verdict_text(verdict), *notes]), style=style)
    open_console().print(verdict_table(verdict))


def offer(commands: Mapping[str, str]) -> None:
    """Print what each command does and beside it the command, or below it if the screen is too narrow for a column."""
    column = max(map(len, commands))
    beside = column + max(map(len, commands.values())) + 4 <= open_console().width
    for what, line in commands.items():
        if not beside:
            say(what)
        print(f"  {what:{column}}  {one_line(line)}" if beside else f"  {one_line(line)}")


def commands_for(folder: Path, **names: str) -> dict[str, str]:
    """Return commands of this program for a run folder, by what they do."""
    return {what: command(name, str(folder)) for name, what in names.items()}


def run_command(command: Callable[[Sequence[str]], None], prog: str, args: Sequence[str] | None = None) -> NoReturn:
    """Run a command with these arguments, by default those of the program, and exit with its status."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:  # of a program whose imports Ctrl-C was to end at once
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files can hold what no terminal shows
    status, complaint = _outcome(command, sys.argv[1:] if args is None else args)
    with contextlib.suppress(OSError):  # nobody may be there to read it
        if complaint:
            print(f"{prog}: {one_line(complaint)}", file=sys.stderr, flush=True)
    sys.exit(status)


def _outcome(command: Callable[[Sequence[str]], None], args: Sequence[str]) -> tuple[int, str]:
    """Return the exit status, and the message if there is one."""
    if sys.stdout is None:  # else the next file that is opened would be taken for it
        return USER_ERROR, "the output: closed"
    try:
        try:
            with naming_the_extra(), naming_flags():
                command(args)
        finally:
            _flush_output()
    except (UserError, MissingExtraError) as error:
        return USER_ERROR, str(error)
    except KeyboardInterrupt as interrupt:
        return INTERRUPTED, str(interrupt) or "interrupted"
    except SystemExit as stop:
        if not isinstance(stop.__context__, BrokenPipeError):  # which rich makes a failure of
            raise
    except BrokenPipeError:
        pass  # the reader of our output has read enough
    except Exception as error:
        chain = _chain(error)
        if any(isinstance(each, KeyboardInterrupt) for each in chain):  # which choix, for one, takes for a failure
            return INTERRUPTED, "interrupted"
        if shortage := next(filter(None, map(_shortage, chain)), ""):
            return USER_ERROR, shortage
        if isinstance(error, OSError):
            return USER_ERROR, f"{error.filename or 'the output'}: {error.strerror or error}"
        raise  # a bug
    return 0, ""


def _chain(error: BaseException | None) -> list[BaseException]:
    """Return an error and the errors that were being handled when it was raised."""
    return [] if error is None else [error, *_chain(error.__context__)]


def _shortage(error: BaseException) -> str:
    """Return a message if an error says that the machine lacks memory or threads, else an empty text."""
    if isinstance(error, MemoryError) or re.search(OUT_OF_MEMORY, str(error)):
        return f"not enough memory for these settings ({str(error) or 'an array was refused'})"
    if OUT_OF_THREADS in str(error):
        return "no thread can be started: end other programs, or raise the limits that `ulimit -u` and -v show"
    return ""


def _flush_output() -> None:
    """Write the buffered output now, while an error can still be reported."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where its last flush does not fail again
        raise
