"""The conduct of every command: flags from a dataclass, mistakes as one line, honest exit statuses."""

import contextlib
import difflib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn, TypeVar

import tyro

from selfplay.errors import MissingExtraError, UserError, naming_the_extra, one_line

USER_ERROR, INTERRUPTED = 2, 130
OUT_OF_MEMORY = r"(?i)can('t|not) allocate memory|out of memory|failed to map segment"
"""What PyTorch, and the system where it loads a library, say then."""
OUT_OF_THREADS = "can't start new thread"
"""What Python says then."""

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
    with _mistakes_in_one_line(kind, prog, args):
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
    with _mistakes_in_one_line(kind, prog, args):
        return tyro.cli(kind, args=args, prog=prog, return_unknown_args=True, add_help=False)


@contextlib.contextmanager
def _mistakes_in_one_line(kind: type[Any], prog: str, args: Sequence[str]) -> Iterator[None]:
    complaint = io.StringIO()
    helping = not {"-h", "--help"}.isdisjoint(args)
    try:
        with contextlib.redirect_stderr(complaint), contextlib.nullcontext() if helping else _wide_terminal():
            yield
    except SystemExit as stop:
        if not stop.code:
            raise
        gist = _one_line(complaint.getvalue(), prog).removeprefix(f"Error parsing {kind.__name__}: ")
        raise UserError(gist) from None


@contextlib.contextmanager
def _wide_terminal() -> Iterator[None]:
    """Have tyro break no lines, which it does within long values and after commas, as in 1,000,000."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "1000000"
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        if before is not None:
            os.environ["COLUMNS"] = before


def _one_line(boxed: str, prog: str) -> str:
    """Return the gist of tyro's boxed message: what is wrong, and the flag it takes to be meant."""
    sections: list[list[str]] = [[]]
    for line in boxed.splitlines():
        text = line.strip("│| ")
        if set(text) <= set("─╭╮╰╯-+") or text.startswith(("╭", "+")):  # the second kind where there is only ASCII
            sections.append([])
        else:
            sections[-1].append(text)
    texts = [" ".join(section) for section in sections if any(section)]
    if not boxed.lstrip().startswith(("╭", "+")):  # without a frame around it, the title has a section of its own
        texts = texts[1:] or texts
    wrong, *others = texts
    if missing := re.match(r"Missing from .*?: (\w+) (.*?)\.? \(required\)", wrong):
        wrong = f"{missing[1]} is missing: {missing[2]}"
    meant = [match for section in others if section.startswith("Perhaps") for match in re.findall(r"--[\w-]+", section)]
    near = max(meant, key=lambda flag: difflib.SequenceMatcher(None, wrong, flag).ratio(), default=None)
    advice = f"perhaps you meant {near}; " if near else ""
    return f"{wrong.rstrip('.')} ({advice}{prog} --help lists every flag)"


def say(text: str) -> None:
    """Print a text, on a terminal broken between words only, elsewhere not at all."""
    from rich.console import Console

    console = Console(highlight=False)
    console.print(text, markup=False, soft_wrap=not console.is_terminal)


def offer(what: str, line: str) -> None:
    """Print what a command does and, on a line of its own that can be pasted, the command."""
    print(f"{what}\n  {line}")


def run_command(command: Callable[[Sequence[str]], None], prog: str, args: Sequence[str] | None = None) -> NoReturn:
    """Run a command with these arguments, by default the program's, and exit with the status it deserves."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # names of files can hold what no terminal shows
    status, complaint = _outcome(command, sys.argv[1:] if args is None else args)
    with contextlib.suppress(OSError):  # nobody may be there to read it
        if complaint:
            print(f"{prog}: {one_line(complaint)}", file=sys.stderr, flush=True)
    sys.exit(status)


def _outcome(command: Callable[[Sequence[str]], None], args: Sequence[str]) -> tuple[int, str]:
    """Return the exit status, and what there is to complain of."""
    try:
        try:
            with _interruptible(), naming_the_extra():
                command(args)
        finally:
            _flush_output()
    except UserError as error:
        return USER_ERROR, str(error)
    except BrokenPipeError:  # whoever read our output has read enough
        return 0, ""
    except MissingExtraError as error:
        return USER_ERROR, str(error)
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # which rich makes a failure of
            return 0, ""
        raise
    except OSError as error:
        return USER_ERROR, _shortage(error) or f"{error.filename or 'the output'}: {error.strerror or error}"
    except KeyboardInterrupt as interrupt:
        return INTERRUPTED, str(interrupt) or "interrupted"
    except Exception as error:
        if shortage := _shortage(error):
            return USER_ERROR, shortage
        if not _comes_of_an_interrupt(error):
            raise  # a bug
        return INTERRUPTED, "interrupted"
    return 0, ""


def _shortage(error: BaseException | None) -> str:
    """Return what the machine lacked if that made a command fail, also where a library has taken it for something else.

    It is empty for every other failure.
    """
    while error is not None:
        if isinstance(error, MemoryError) or re.search(OUT_OF_MEMORY, str(error)):
            return f"there is not the memory for these settings ({str(error) or 'an array was refused'})"
        if OUT_OF_THREADS in str(error):
            return "no thread can be started: end other programs, or raise the limits that `ulimit -u` and -v show"
        error = error.__context__
    return ""


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    """Have Ctrl-C raise KeyboardInterrupt, if it ends the process at once; before and after nothing is lost by that.

    Every program that ends in `run_command` sees to it in its first lines, because its imports take a second or more.
    """
    at_once = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    if at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        if at_once:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


def _comes_of_an_interrupt(error: BaseException | None) -> bool:
    """Tell whether a library took Ctrl-C for a failure, as choix does, and raised an error of its own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _flush_output() -> None:
    """Write what is still held back, or nobody would hear that it cannot be written."""
    try:
        if sys.stdout:
            sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # where its last flush does not fail again
        raise
