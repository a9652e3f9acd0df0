"""Whatever a file is, the certificate's checker says in one line; it is short, and needs Python alone."""

import ast
import gzip
import json
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import pytest

from selfplay.evaluation import check_certificate
from tests.malicious_files import MALICIOUS_FILES
from tests.selfplay.evaluation.certificates import (
    DAMAGED,
    TINY,
    UNBEATABLE,
    FirstChoice,
    content_of,
    written,
)
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

CHECKER = Path(check_certificate.__file__)


def one_line_of_complaint(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert check_certificate.main(str(path)) == DAMAGED
    shown = capsys.readouterr()
    assert not shown.out
    assert len(shown.err.splitlines()) == 1
    return shown.err


def test_a_damaged_file_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = content_of(FirstChoice(OPPONENTS["optimal"], Rules(2, 3, 3)))
    path = tmp_path / "certificate.txt.gz"
    for length in range(len(content)):
        path.write_bytes(content[:length])
        one_line_of_complaint(path, capsys)
    for bit in range(8 * len(content)):
        place = bit // 8
        flipped = content[:place] + bytes([content[place] ^ 1 << bit % 8]) + content[place + 1 :]
        path.write_bytes(flipped)
        if what_is_in(flipped) != gzip.decompress(content):  # not every bit of gzip's own means something
            one_line_of_complaint(path, capsys)


def what_is_in(content: bytes) -> bytes | None:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error):
        return None


@pytest.mark.parametrize("plant", [name for name in MALICIOUS_FILES if name != "a pipe"])
def test_a_foreign_file_is_one_line(plant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "folder" / "certificate.txt.gz"
    path.parent.mkdir()
    MALICIOUS_FILES[plant](path)
    assert "no certificate in" in one_line_of_complaint(path, capsys)
    if path.is_file() and path.stat().st_size < 10**8:
        path.write_bytes(gzip.compress(path.read_bytes(), 1))
        one_line_of_complaint(path, capsys)


@pytest.mark.parametrize(
    "changes",
    [
        {"version": 2},
        {"rows": 0},
        {"rows": -3, "cols": -3},
        {"rows": 9, "cols": 9},
        {"rows": 10**9},
        {"k": 4},
        {"k": 0},
        {"k": 10**300},
        {"rows": 3.0},
        {"k": 3.0},
        {"k": None},
        {"cols": "3"},
        {"cols": [3]},
    ],
    ids=str,
)
def test_a_board_that_there_is_not_is_one_line(
    changes: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one_line_of_complaint(written(tmp_path / "certificate.txt.gz", TINY | changes, []), capsys)


@pytest.mark.parametrize(
    "line", ["*", "*.........", "........", ".........", "....#...*", "\u001b[2J*....", "*" * 10**6, ""]
)
def test_a_line_that_is_no_position_is_one_line(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "certificate.txt.gz", TINY, ["*........", line])
    assert "line 3 is no position" in one_line_of_complaint(path, capsys)


def test_a_last_line_without_its_end_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "certificate.txt.gz"
    for line in ("*........", ".........*"):
        path.write_bytes(gzip.compress(f"{json.dumps(TINY)}\n{line}".encode()))
        assert "line 2 is no position" in one_line_of_complaint(path, capsys)


def test_the_checker_is_short_and_needs_nothing_but_python(tmp_path: Path) -> None:
    source = CHECKER.read_text()
    assert len(source.splitlines()) <= 100
    imports = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name for node in imports for name in imported(node)}
    assert names <= sys.stdlib_module_names
    copy = tmp_path / "copied.py"
    copy.write_text(source)
    (tmp_path / "certificate.txt.gz").write_bytes(
        content_of(FirstChoice(OPPONENTS["optimal"], Rules(), symmetric=True))
    )
    command = [sys.executable, "-I", "-S", str(copy), "certificate.txt.gz"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (UNBEATABLE, "")
    assert "UNBEATABLE as X and as O" in ended.stdout
    for arguments in ([], ["one", "two"]):
        ended = subprocess.run([*command[:-1], *arguments], capture_output=True, text=True, check=False)
        assert ended.returncode == DAMAGED
        assert "(python check_certificate.py FILE)" in ended.stderr
        assert len(ended.stderr.splitlines()) == 1


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [str(node.module)]
