"""What only POSIX has is met with another way; mypy finds the rest, told that the platform is Windows."""

import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from selfplay.files import write_whole
from selfplay.program import command, shell_line
from tests.runs import DQN, ROOT, TABULAR, python

COMMANDS = [
    f"train {' '.join(DQN)} --run-dir dqn",
    "train --resume dqn --total-steps 3200",
    f"train minimax-q {' '.join(TABULAR)}",
    "prove dqn",
    "prove shipped",
    "certify shipped",
    "web dqn --export page.html",
    "arena dqn rule",
    "course",
]


def test_commands_run_without_what_windows_has_not(tmp_path: Path) -> None:
    ended = python("-X", "warn_default_encoding", ROOT / "tests" / "without_posix.py", *COMMANDS, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout[-2000:] + ended.stderr


def test_commands_are_quoted_for_the_shells_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    assert shell_line(r"C:\My Runs\python.exe", "train.py") == r'"C:\My Runs\python.exe" train.py'


def test_the_python_that_a_shell_finds_is_offered_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train.py"])
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    assert command("train", "--help") == "python train.py --help"
    monkeypatch.setenv("PATH", "")
    assert command("train", "--help") == f"{sys.executable} train.py --help"


def test_a_file_is_replaced_once_nobody_reads_it_any_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = Mock(side_effect=[PermissionError, PermissionError, None])
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(Path, "replace", replace)
    write_whole(tmp_path / "latest.json", b"{}")
    assert replace.call_count == 3
