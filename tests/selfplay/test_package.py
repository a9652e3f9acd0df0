"""The package starts lightly, offers what it says, and names what is missing."""

import ast
import subprocess
from pathlib import Path
from typing import Any

import pytest

import selfplay
import tictactoe
from selfplay.cli.main import COMMANDS
from tests.runs import python

HEAVY = ("torch", "numba", "matplotlib", "pygame", "tensorboard", "scipy")


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with folders in front of all others that modules are looked for in."""
    return python("-c", f"import sys; sys.path[:0] = {[str(place) for place in path]}\n{code}", cwd=Path())


def absent(tmp_path: Path, *modules: str) -> Path:
    """Return a folder with modules that replace those that are not installed."""
    for module in modules:
        (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError('no {module}', name={module!r})")
    return tmp_path


def test_settings_and_every_help_import_nothing_that_takes_seconds() -> None:
    code = f"""\
import contextlib, selfplay
selfplay.DQNConfig, selfplay.PRESETS, selfplay.TDBackupConfig, selfplay.UserError
from selfplay.cli.main import main
for args in [[], *([name] for name in {[*COMMANDS]}), ["train", "td-value"]]:
    with contextlib.suppress(SystemExit):
        main([*args, "--help"])
    print("HEAVY", args, [name for name in {HEAVY} if name in sys.modules])"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("HEAVY")]
    assert len(lines) == len(COMMANDS) + 2
    assert all(line.endswith(" []") for line in lines), lines


def test_the_names_of_the_package_are_those_that_type_checkers_see() -> None:
    seen = {
        (node.module, alias.name)
        for node in ast.walk(ast.parse(Path(selfplay.__file__).read_text()))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("selfplay.")
        for alias in node.names
    }
    assert seen >= {(f"selfplay.{module}", name) for module, names in selfplay._PLACES.items() for name in names}
    assert dir(selfplay) == sorted([*selfplay.__all__, "__version__"])
    assert selfplay.__version__ == tictactoe.__version__
    assert all(getattr(selfplay, name) for name in (*selfplay.__all__, *(name for _, name in seen)))
    with pytest.raises(AttributeError, match="trian"):
        _ = selfplay.trian


def test_a_missing_extra_is_named_in_python(tmp_path: Path) -> None:
    code = """\
import selfplay
for call in ("DQNAgent", "train()", "load('shipped')", "training(seed=1).__next__()"):
    try:
        eval(f"selfplay.{call}")
    except ImportError as error:
        print(error)"""
    messages = run(code, absent(tmp_path, "torch")).stdout.splitlines()
    assert len(messages) == 4
    assert all("torch" in message and "[train]" in message for message in messages)


def test_a_missing_module_of_ones_own_has_nothing_to_do_with_the_extra() -> None:
    def network(_: tictactoe.Rules) -> Any:
        raise ModuleNotFoundError("No module named 'mine'", name="mine")

    with pytest.raises(ModuleNotFoundError, match="mine"):
        next(selfplay.training(network=network))
