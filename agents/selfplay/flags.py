"""Flags out of settings: every field of a dataclass is a flag, under headings, with its docstring as help."""

import ast
import dataclasses
import functools
import inspect
import textwrap
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_type_hints

import tyro

from selfplay.command_line import parse

Settings = TypeVar("Settings")


def read_settings(
    default: Settings, groups: Mapping[str, str], others: Mapping[str, Any], args: Sequence[str], prog: str, about: str
) -> tuple[Settings, dict[str, Any]]:
    """Read settings, and with them other small dataclasses that have a heading of their own.

    `groups` are the headings with the names under each; what is under none is under "learning". `others` hold
    dataclasses with their defaults by heading.

    Raises:
        UserError: a flag is unknown or its value is none of it.
        SystemExit: `--help` was asked for and has been printed.
    """
    names = [field.name for field in dataclasses.fields(default)]  # type: ignore[arg-type]
    of_group = {name: group for group, named in groups.items() for name in named.split() if name in names}
    headings = list(dict.fromkeys([*(group for group in groups if group in of_group.values()), "learning"]))
    kinds = {
        heading: _flags(heading, default, [name for name in names if of_group.get(name, "learning") == heading])
        for heading in headings
    }
    kinds |= {
        heading: _flags(heading, other, [field.name for field in dataclasses.fields(other)])
        for heading, other in others.items()
    }
    without_prefix: Any = tyro.conf.OmitArgPrefixes
    parts = [
        (heading, without_prefix[kind], dataclasses.field(default_factory=kind)) for heading, kind in kinds.items()
    ]
    whole = _made(type(default).__name__, parts)
    found: Any = parse(whole, args, prog, about=about)
    values = {
        name: getattr(getattr(found, heading), name)
        for heading in headings
        for name in (field.name for field in dataclasses.fields(kinds[heading]))
    }
    rest = {heading: type(other)(**dataclasses.asdict(getattr(found, heading))) for heading, other in others.items()}
    return type(default)(**values), rest


def _flags(heading: str, default: Any, names: Sequence[str]) -> type[Any]:
    """Return a dataclass with some of the fields of another, documented for tyro."""
    kind: Any = type(default)
    hints, documents = get_type_hints(kind), _documents(kind)
    fields = {field.name: field for field in dataclasses.fields(default)}
    flags: list[tuple[str, Any, Any]] = []
    annotated: Any = Annotated
    for name in names:
        aliases = [alias] if (alias := fields[name].metadata.get("alias")) else None
        hint: Any = annotated[hints[name], tyro.conf.arg(help=documents[name], aliases=aliases)]
        flags.append((name, hint, dataclasses.field(default=getattr(default, name))))
    return _made(heading, flags)


def _made(name: str, fields: list[tuple[str, Any, Any]]) -> type[Any]:
    made = dataclasses.make_dataclass(name, fields)
    made.__doc__ = ""  # or tyro would show the signature
    made.__module__ = "builtins"  # or tyro would look for its source, which it has none of
    return made


@functools.cache
def _documents(kind: Any) -> dict[str, str]:
    """Return what stands below each field of a dataclass in its source, by name."""
    found: dict[str, str] = {}
    for part in reversed(kind.__mro__[:-1]):
        body = ast.parse(textwrap.dedent(inspect.getsource(part))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, below in zip(body.body, body.body[1:], strict=False):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
                found[field.target.id] = " ".join(ast.literal_eval(below.value).split())
    return found
