"""Nothing that is loaded can run code: no source of ours calls what could let it."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [ROOT / "train.py", *(ROOT / "envs").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]
MODULES = {"cloudpickle", "dill", "importlib", "joblib", "marshal", "pickle", "runpy", "shelve", "yaml"}
HARMLESS = {"importlib.metadata", "importlib.util"}
"""The version of a package, and whether it is installed."""
FUNCTIONS = {"eval", "exec", "compile", "__import__", "import_module", "exec_module", "read_pickle", "run_path"}
SAFE_LOADS = {("torch", "load"): "weights_only=True", ("np", "load"): "allow_pickle=False"}
IMPORTS_BY_NAME = {"selfplay/__init__.py", "selfplay/cli/main.py", "selfplay/players.py"}
"""Modules that import others by a name: their own, or one that a person has typed as `module:name`."""


def unsafe(source: str) -> Iterator[str]:
    """Yield the names of what could execute a file's content."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (name for name in modules if name.split(".")[0] in MODULES and name not in HARMLESS)
            if modules[0] in ("torch", "numpy") and isinstance(node, ast.ImportFrom):
                yield from (alias.name for alias in node.names if alias.name == "load")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            yield node.func.id
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            name, owner = node.func.attr, ast.unparse(node.func.value).replace("numpy", "np")
            if name in FUNCTIONS - {"compile", "eval"}:  # of regular expressions and of networks
                yield name
            needed = SAFE_LOADS.get((owner, name))
            if needed and needed not in [ast.unparse(word) for word in node.keywords]:
                yield f"{owner}.{name} without {needed}"


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import dump",
        "import importlib",
        "from importlib import import_module",
        "eval(text)",
        "builtins.exec(text)",
        "torch.load(path)",
        "torch.load(path, weights_only=False)",
        "np.load(path)",
        "numpy.load(path, allow_pickle=True)",
        "from torch import load",
    ],
)
def test_an_unsafe_call_is_noticed(source: str) -> None:
    assert list(unsafe(source))


@pytest.mark.parametrize(
    "source",
    [
        "from importlib.metadata import version",
        "torch.load(path, weights_only=True)",
        "network.eval()",
        "re.compile(text)",
        "from selfplay.training.folder import load",
    ],
)
def test_a_safe_call_is_not(source: str) -> None:
    assert not list(unsafe(source))


def test_no_source_executes_what_it_reads() -> None:
    assert len(SOURCES) > 60
    names = {str(path.relative_to(ROOT)): list(unsafe(path.read_text())) for path in SOURCES}
    by_name = {f"agents/{path}": ["importlib", "import_module"] for path in IMPORTS_BY_NAME}
    assert {path: calls for path, calls in names.items() if calls} == by_name
