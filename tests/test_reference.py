"""Every public name says what it is and what it raises; the pages under `docs/api` name which those are."""

import ast
import importlib
import inspect
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
Documented = ast.ClassDef | ast.FunctionDef


def listed() -> list[str]:
    """Return the names that the pages of the reference list, those of whole modules one by one."""
    text = "\n".join(page.read_text() for page in sorted(PAGES.glob("*.md")))
    names = re.findall(r"^\.\. auto(?:class|function|data|exception):: (\S+)$", text, re.MULTILINE)
    for module in re.findall(r"^\.\. automodule:: (\S+)$", text, re.MULTILINE):
        names += [f"{module}.{name}" for name in public(importlib.import_module(module))]
    return names


def public(module: Any) -> list[str]:
    """Return the classes and functions that a module itself makes, by name."""
    own = [name for name, one in vars(module).items() if getattr(one, "__module__", None) == module.__name__]
    return [name for name in own if not name.startswith("_")]


def found(name: str) -> Any:
    """Return what has this name."""
    module, _, own = name.rpartition(".")
    return getattr(importlib.import_module(module), own)


def sources(documented: Any) -> list[Documented]:
    """Return what was written of a function, or of a class and those of ours that it inherits from."""
    made = inspect.getmro(documented) if inspect.isclass(documented) else [inspect.unwrap(documented)]
    return [parsed(inspect.getsource(one)) for one in made if one.__module__.startswith(("selfplay", "tictactoe"))]


def parsed(text: str) -> Documented:
    tree = ast.parse(textwrap.dedent(text)).body[0]
    assert isinstance(tree, ast.ClassDef | ast.FunctionDef)
    return tree


def silent(tree: Documented, name: str) -> Iterator[str]:
    """Yield what has no docstring: the class or function itself, its public methods and its fields."""
    if ast.get_docstring(tree) is None:
        yield name
    if isinstance(tree, ast.ClassDef):
        for node, after in zip(tree.body, [*tree.body[1:], None], strict=True):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield from silent(node, f"{name}.{node.name}")
            elif isinstance(node, ast.AnnAssign) and not isinstance(after, ast.Expr):  # a string behind it
                field = ast.unparse(node.target)
                if not field.startswith("_") and "ClassVar" not in ast.unparse(node.annotation):
                    yield f"{name}.{field}"


def raised(tree: Documented) -> str:
    """Return what a docstring says under `Raises`, with which it ends."""
    return (ast.get_docstring(tree) or "").partition("Raises:\n")[2] + "\n"


def unnamed_errors(tree: Documented, name: str, known: str = "") -> Iterator[str]:
    """Yield what is raised in the body of a class's methods or of a function, and stands in no `Raises` around it."""
    told = known + raised(tree)
    for node in ast.walk(tree) if isinstance(tree, ast.FunctionDef) else ():
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
            error = ast.unparse(node.exc.func)
            if not re.search(rf"^\s*{re.escape(error)}:", told, re.MULTILINE):
                yield f"{name} raises {error}"
    for node in tree.body if isinstance(tree, ast.ClassDef) else ():
        if isinstance(node, ast.FunctionDef) and not re.match("_[^_]|__getattr__", node.name):
            yield from unnamed_errors(node, f"{name}.{node.name}", told)


def test_the_reference_lists_all_that_the_packages_offer() -> None:
    offered = {f"{package.__name__}.{name}" for package in (tictactoe, selfplay) for name in package.__all__}
    offered |= {f"tictactoe.batch.{name}" for name in public(batch)}
    assert len(offered) > 45
    assert sorted(offered - {*listed()}) == []
    assert len(listed()) == len({*listed()})


@pytest.mark.parametrize("name", [name for name in listed() if callable(found(name))])
def test_each_name_says_what_it_is_and_what_it_raises(name: str) -> None:
    trees = sources(found(name))
    assert trees
    told = "".join(raised(tree) for tree in trees)
    assert [missing for tree in trees for missing in silent(tree, tree.name)] == []
    assert [missing for tree in trees for missing in unnamed_errors(tree, tree.name, told)] == []


def test_what_says_nothing_is_found() -> None:
    tree = parsed('''
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
    assert [*silent(tree, "P")] == ["P.name", "P.act"]
    assert [*unnamed_errors(tree, "P")] == ["P.stop raises TypeError"]
