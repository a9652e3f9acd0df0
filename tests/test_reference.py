"""Every public name says what it is and what it raises; the pages under `docs/api` name which those are.

Ruff sees to it that every class, method and function has a docstring.
"""

import ast
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import selfplay
import tictactoe
from tictactoe import batch

PAGES = Path(__file__).parent.parent / "docs" / "api"


def public(module: Any) -> dict[str, Any]:
    """Return the classes and functions that a module itself makes, by full name."""
    own = {name: one for name, one in vars(module).items() if getattr(one, "__module__", None) == module.__name__}
    return {f"{module.__name__}.{name}": one for name, one in own.items() if not name.startswith("_")}


def listed() -> list[tuple[str, Any]]:
    """Return the names that the pages of the reference list, those of whole modules one by one, with their objects."""
    names: list[tuple[str, Any]] = []
    for page in sorted(PAGES.glob("*.md")):
        for name in re.findall(r"^- `([\w.]+)`:", page.read_text(), re.MULTILINE):
            documented = pkgutil.resolve_name(name)
            if inspect.ismodule(documented):
                names += public(documented).items()
            else:
                names.append((name, documented))
    return names


def sources(documented: Any) -> list[ast.stmt]:
    """Return the source of a function, or of a class and those of ours that it inherits from."""
    made = inspect.getmro(documented) if inspect.isclass(documented) else [inspect.unwrap(documented)]
    ours = [one for one in made if one.__module__.startswith(("selfplay", "tictactoe"))]
    return [ast.parse(textwrap.dedent(inspect.getsource(one))).body[0] for one in ours]


def raised(node: Any) -> str:
    """Return the lines under `Raises`, with which a docstring ends."""
    return (ast.get_docstring(node) or "").partition("Raises:\n")[2] + "\n"


def gaps(node: Any, name: str, known: str = "") -> Iterator[str]:
    """Yield the fields of a class without a docstring, and the errors that no `Raises` around them names."""
    known += raised(node)
    if isinstance(node, ast.ClassDef):
        for part, after in zip(node.body, [*node.body[1:], None], strict=True):
            if isinstance(part, ast.FunctionDef) and not re.match("_[^_]|__getattr__", part.name):
                yield from gaps(part, f"{name}.{part.name}", known)
            elif isinstance(part, ast.AnnAssign) and not isinstance(after, ast.Expr):  # a string behind it
                field = ast.unparse(part.target)
                if not field.startswith("_") and "ClassVar" not in ast.unparse(part.annotation):
                    yield f"{name}.{field}"
    else:
        for step in ast.walk(node):
            if isinstance(step, ast.Raise) and isinstance(step.exc, ast.Call):
                error = ast.unparse(step.exc.func)
                if not re.search(rf"^\s*{re.escape(error)}:", known, re.MULTILINE):
                    yield f"{name} raises {error}"


def test_the_reference_lists_every_public_name_once() -> None:
    offered = {f"{package.__name__}.{name}" for package in (tictactoe, selfplay) for name in package.__all__}
    names = [name for name, _ in listed()]
    assert sorted((offered | public(batch).keys()) - {*names}) == []
    assert len(names) == len({*names})


@pytest.mark.parametrize(("name", "documented"), [pair for pair in listed() if callable(pair[1])])
def test_each_name_says_what_its_fields_are_and_what_it_raises(name: str, documented: Any) -> None:
    trees = sources(documented)
    assert trees
    known = "".join(raised(tree) for tree in trees)
    assert [missing for tree in trees for missing in gaps(tree, name, known)] == []


def test_what_a_docstring_leaves_out_is_noticed() -> None:
    (tree,) = ast.parse(
        textwrap.dedent('''
        class Player:
            """Play.

            Raises:
                ValueError: it does not.
            """
            name: str
            seat: int
            """The seat."""
            def act(self):
                raise ValueError(1)
            def stop(self):
                """Stop."""
                raise TypeError(1)
        ''')
    ).body
    assert [*gaps(tree, "P")] == ["P.name", "P.stop raises TypeError"]
