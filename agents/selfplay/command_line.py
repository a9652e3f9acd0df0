"""The conduct of every command: flags from a dataclass, mistakes as one line, honest exit statuses."""

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import tyro

from selfplay.errors import UserError

USER_ERROR, INTERRUPTED = 2, 130

Config = TypeVar("Config")


def parse(
    kind: type[Config], args: Sequence[str], prog: str, default: Config | None = None, about: str | None = None
) -> Config:
    """Read a dataclass from the command line; `default` holds the values of flags that are not given.

    `about` stands above the flags in the help, in place of the dataclass's docstring.

    Raises:
        UserError: a flag is unknown or its value is not of its type.
        SystemExit: `--help` was asked for and has been printed.
    """
    with _mistakes_in_one_line(kind, prog):
        if default is None:
            return tyro.cli(kind, args=args, prog=prog, description=about)
        return tyro.cli(kind, args=args, prog=prog, description=about, default=default)


def peek(kind: type[Config], args: Sequence[str], prog: str) -> Config:
    """Read the flags of a small dataclass and pass over all others, `--help` too.

    Raises:
        UserError: a value is not of its flag's type.
    """
    return take(kind, args, prog)[0]


def take(kind: type[Config], args: Sequence[str], prog: str) -> tuple[Config, list[str]]:
    """Read the flags of a small dataclass and return the other arguments, which are for a later `parse`.

    Raises:
        UserError: a value is not of its flag's type.
    """
    with _mistakes_in_one_line(kind, prog):
        return tyro.cli(kind, args=args, prog=prog, return_unknown_args=True, add_help=False)


@contextlib.contextmanager
def _mistakes_in_one_line(kind: type[Any], prog: str) -> Iterator[None]:
    complaint = io.StringIO()
    try:
        with contextlib.redirect_stderr(complaint):
            yield
    except SystemExit as stop:
        if not stop.code:
            raise
        gist = _one_line(complaint.getvalue(), prog).removeprefix(f"Error parsing {kind.__name__}: ")
        raise UserError(gist) from None


def _one_line(boxed: str, prog: str) -> str:
    """Return the gist of tyro's boxed message: what is wrong, and the flag it takes to be meant."""
    sections: list[list[str]] = [[]]
    for line in boxed.splitlines():
        text = line.strip("│| ")
        if set(text) <= set("─╭╮╰╯-+") or text.startswith(("╭", "+")):  # the second kind where there is only ASCII
            sections.append([])
        else:
            sections[-1].append(text)
    wrong, *others = [" ".join(section) for section in sections if section]
    meant = [match for section in others if section.startswith("Perhaps") for match in re.findall(r"--[\w-]+", section)]
    advice = f"perhaps you meant {meant[0]}; " if meant else ""
    return f"{wrong.rstrip('.')} ({advice}{prog} --help lists every flag)"


def run_command(command: Callable[[Sequence[str]], None], prog: str) -> NoReturn:
    """Run a command with the program's arguments and exit with the status it deserves."""
    try:
        command(sys.argv[1:])
    except UserError as error:
        print(f"{prog}: {error}", file=sys.stderr)
        sys.exit(USER_ERROR)
    except BrokenPipeError:  # whoever read our output has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(f"{prog}: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(USER_ERROR)
    except KeyboardInterrupt as interrupt:
        print(f"{prog}: {str(interrupt) or 'interrupted'}", file=sys.stderr)
        sys.exit(INTERRUPTED)
    sys.exit(0)
