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
NEEDS = {("torch", "load"): ("weights_only", True), ("np", "load"): ("allow_pickle", False)}


IMPORTS_BY_NAME = {"selfplay/__init__.py", "selfplay/cli/main.py", "selfplay/players.py"}
"""Modules that import others by a name: their own, or one that a person has typed as `module:name`."""


def dangers(source: str) -> Iterator[str]:
    """Yield what could execute a file's content."""
    for node in ast.walk(ast.parse(source)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            loads = node.module in ("torch", "numpy")
            yield from (name for name in names[1:] if loads and name.endswith(".load"))
        yield from (name for name in names[:1] if name.split(".")[0] in MODULES and name not in HARMLESS)
        if isinstance(node, ast.Call):
            called = node.func
            if isinstance(called, ast.Name) and called.id in FUNCTIONS:
                yield called.id
            elif isinstance(called, ast.Attribute) and called.attr in FUNCTIONS - {"compile", "eval"}:
                yield called.attr
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                name, value = NEEDS.get((called.value.id.replace("numpy", "np"), called.attr), ("", None))
                given = {word.arg: ast.unparse(word.value) for word in node.keywords}
                if name and given.get(name) != str(value):
                    yield f"{called.value.id}.{called.attr} without {name}={value}"


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
def test_a_danger_is_found(source: str) -> None:
    assert list(dangers(source))


def test_what_is_harmless_is_no_danger() -> None:
    harmless = [
        "from importlib.metadata import version",
        "torch.load(path, weights_only=True)",
        "network.eval()",
        "re.compile(text)",
        "from selfplay.training.folder import load",
    ]
    assert not [danger for source in harmless for danger in dangers(source)]


def test_no_source_executes_what_it_reads() -> None:
    assert len(SOURCES) > 60
    found = {str(path.relative_to(ROOT)): list(dangers(path.read_text())) for path in SOURCES}
    by_name = {f"agents/{path}": ["importlib", "import_module"] for path in IMPORTS_BY_NAME}
    assert {path: dangers for path, dangers in found.items() if dangers} == by_name
