"""Ctrl-C while a command is still importing ends it without a word, and leaves other programs as they are."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.runs import ROOT

PRESSED = """\
import os, signal
os.kill(os.getpid(), signal.SIGINT)
raise SystemExit(7)
"""
"""Stands in for PyTorch: whoever imports it gets Ctrl-C, and goes no further where that is ignored."""


OURS = [[str(ROOT / "train.py")], ["-m", "selfplay", "prove", "shipped"]]


def commands() -> list[list[str]]:
    """Return how each program of the benchmarks is started; it imports all it needs before it does anything."""
    found = []
    place = ROOT / "benchmarks"
    for path in sorted(place.rglob("*.py")):
        if re.search(r"^    run_command\(", path.read_text(), re.MULTILINE):
            name = ".".join(("benchmarks", *path.relative_to(place).with_suffix("").parts))
            found.append(["-m", name.removesuffix(".__main__")])
    return found


def start(
    arguments: Sequence[str], tmp_path: Path, handler: signal.Handlers = signal.SIG_DFL
) -> subprocess.CompletedProcess[str]:
    """Run Python with these arguments and Ctrl-C at the import of PyTorch, ignored or not as `handler` says."""
    (tmp_path / "torch.py").write_text(PRESSED)
    path = os.pathsep.join(map(str, (tmp_path, ROOT / "envs", ROOT / "agents", ROOT)))
    before = signal.signal(signal.SIGINT, handler)  # which the child inherits
    try:
        return subprocess.run(
            [sys.executable, *arguments],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    finally:
        signal.signal(signal.SIGINT, before)


def test_the_commands_are_found() -> None:
    assert {command[-1] for command in commands()} >= {"benchmarks.environment.speed", "benchmarks.peers"}
    assert len(commands()) > 10


@pytest.mark.parametrize("command", commands(), ids=lambda command: command[-1])
def test_ctrl_c_during_the_imports_of_a_benchmark_is_silent(command: Sequence[str], tmp_path: Path) -> None:
    ended = start(command, tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGINT, "", "")


@pytest.mark.parametrize("command", OURS, ids=lambda command: command[-1])
def test_ctrl_c_while_a_command_imports_what_it_works_with_interrupts_it(
    command: Sequence[str], tmp_path: Path
) -> None:
    ended = start(command, tmp_path)
    assert (ended.returncode, ended.stdout) == (130, "")
    prog = "python train.py" if len(command) == 1 else f"selfplay {command[2]}"
    assert ended.stderr == f"{prog}: interrupted\n"


@pytest.mark.parametrize("command", [["-m", "selfplay", "play"], ["-m", "benchmarks.peers"]])
def test_where_ctrl_c_is_ignored_it_stays_ignored(command: Sequence[str], tmp_path: Path) -> None:
    assert start(command, tmp_path, signal.SIG_IGN).returncode == 7


@pytest.mark.parametrize("before", ["", "import benchmarks; "])
def test_in_other_programs_ctrl_c_is_theirs(before: str, tmp_path: Path) -> None:
    catching = f"try:\n    {before}import selfplay, torch\nexcept KeyboardInterrupt:\n    print('mine')"
    ended = start(["-c", catching], tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "mine\n", "")


def test_a_package_that_imports_ours_keeps_ctrl_c(tmp_path: Path) -> None:
    package = tmp_path / "lab"
    package.mkdir()
    (package / "__init__.py").write_text(
        "try:\n    import selfplay, torch\nexcept KeyboardInterrupt:\n    print('mine')"
    )
    (package / "learn.py").write_text("")
    ended = start(["-m", "lab.learn"], tmp_path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "mine\n", "")
