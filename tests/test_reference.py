"""The pages under `docs/api` name every public class and function; Ruff sees to it that each has a docstring."""

import inspect
import pkgutil
import re
from pathlib import Path
from typing import Any

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


def test_the_reference_lists_every_public_name_once() -> None:
    offered = {f"{package.__name__}.{name}" for package in (tictactoe, selfplay) for name in package.__all__}
    names = [name for name, _ in listed()]
    assert sorted((offered | public(batch).keys()) - {*names}) == []
    assert len(names) == len({*names})
