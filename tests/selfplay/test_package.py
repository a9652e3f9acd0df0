"""The package starts lightly, names what is missing, and offers what it says."""

import ast
import subprocess
from pathlib import Path

import pytest

import selfplay
import tictactoe
from selfplay.cli.main import COMMANDS, main
from tests.runs import python

HEAVY = ("torch", "numba", "matplotlib", "pygame", "tensorboard", "scipy", "choix")


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code with folders in front of all others that modules are looked for in."""
    return python("-c", f"import sys; sys.path[:0] = {[str(place) for place in path]}\n{code}", cwd=Path())


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
    nodes = ast.walk(ast.parse(Path(selfplay.__file__).read_text()))
    seen = {
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("selfplay.")
        for alias in node.names
    }
    seen |= {("selfplay.seeds", name) for module, name in seen if module == "selfplay.typed"}  # a stub of it
    assert seen >= {(f"selfplay.{module}", name) for module, names in selfplay._PLACES.items() for name in names}
    assert dir(selfplay) == sorted([*selfplay.__all__, "__version__"])
    assert selfplay.__version__ == tictactoe.__version__
    assert all(getattr(selfplay, name) for name in (*selfplay.__all__, *(name for _, name in seen)))
    with pytest.raises(AttributeError, match="has no attribute 'trian'"):
        _ = selfplay.trian


def absent(tmp_path: Path, module: str) -> Path:
    """Return a folder with a module that replaces one that is not installed."""
    (tmp_path / f"{module}.py").write_text(f"raise ModuleNotFoundError(name={module!r})")
    return tmp_path


HINT = "is not installed, which learning and judging need: pip install 'tictactoe-selfplay[train]'"


def test_a_missing_extra_is_named_in_one_line(tmp_path: Path) -> None:
    done = run("from selfplay.cli.main import main; main(['train'])", absent(tmp_path, "safetensors"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "Training dqn on 3,3,3: seed 0\n", 1)
    assert done.stderr.endswith(f": safetensors {HINT}\n")


def test_a_missing_extra_is_named_in_python_too(tmp_path: Path) -> None:
    calls = ["DQNAgent", "train()", "load('shipped')", "training(selfplay.DQNConfig()).__next__()"]
    each = [f"try:\n    selfplay.{call}\nexcept ImportError as error:\n    print(error)" for call in calls]
    code = "\n".join(["import selfplay", *each])
    assert run(code, absent(tmp_path, "torch")).stdout == f"torch {HINT}\n" * len(calls)


def test_a_missing_module_of_the_user_has_nothing_to_do_with_the_extra(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import nothing_of_that_name")
    code = "import selfplay\nselfplay.train(network=lambda rules: __import__('mine'), total_steps=2000)"
    assert run(code, tmp_path).stderr.endswith("ModuleNotFoundError: No module named 'nothing_of_that_name'\n")


@pytest.mark.parametrize("args", [[], ["--help"]])
def test_the_program_lists_its_commands(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(args)
    output = capsys.readouterr().out
    assert all(f"selfplay {name}" in output for name in COMMANDS)
    assert max(map(len, output.splitlines())) <= 80


def test_the_program_says_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["--version"])
    assert capsys.readouterr().out == f"selfplay {selfplay.__version__}\n"


def test_an_unknown_command_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["trian"])
    known = "choose one of train, prove, repair, certify, play, arena, web, sweep, report, course; did you mean train?"
    assert capsys.readouterr().err == f"selfplay: there is no command 'trian'; {known}\n"
