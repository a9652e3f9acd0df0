"""A kept solution is the solved one; what is no whole solution of the board is solved again, and nothing ever fails."""

import logging
import os
import pwd
import resource
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from tests.malicious_files import MALICIOUS_FILES, MARKER
from tictactoe import Rules, solution_file, solve, solver
from tictactoe.solution_file import file_of, kept_or_solved, read
from tictactoe.tree import GameTree, IntArray, game_tree

TINY, SMALL = Rules(2, 2, 2), Rules(2, 3, 2)
LARGE = Rules(3, 5, 3)
"""The smallest board whose solution `solve` keeps."""
MIB = 1 << 20


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "caches" / "tictactoe"
    monkeypatch.setenv("TICTACTOE_CACHE", str(place))
    return place


def unsolvable(tree: GameTree) -> NoReturn:
    raise AssertionError(f"{tree.rules} is kept and need not be solved")


def assert_solved(rules: Rules, found: tuple[GameTree, IntArray, IntArray]) -> None:
    """Compare with what `solve` has found without a file."""
    tree, value, optimal_moves = found
    expected = solve(rules)
    assert np.array_equal(tree.mover, expected.tree.mover)
    for ours, theirs in ((value, expected.value), (optimal_moves, expected.optimal_moves)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def kept_file(rules: Rules = SMALL) -> Path:
    """Keep the solution of a board and return its file."""
    kept_or_solved(rules, solver.values_and_moves)
    path = file_of(rules)
    assert path is not None
    return path


@pytest.mark.parametrize("size", [(1, 1, 1), (2, 3, 2), (3, 3, 3), (2, 5, 3), (3, 4, 3)], ids=str)
def test_a_kept_solution_is_the_solved_one(size: tuple[int, int, int], folder: Path) -> None:
    rules = Rules(*size)
    assert_solved(rules, kept_or_solved(rules, solver.values_and_moves))
    assert [path.name for path in folder.iterdir()] == ["{}-{}-{}.solution".format(*size)]
    assert_solved(rules, kept_or_solved(rules, unsolvable))


def test_every_changed_bit_and_every_other_length_is_noticed() -> None:
    path, states = kept_file(TINY), len(game_tree(TINY))
    whole = path.read_bytes()
    for place in range(len(whole)):
        for bit in range(8):
            damaged = bytearray(whole)
            damaged[place] ^= 1 << bit
            path.write_bytes(damaged)
            assert read(path, TINY, states) is None, (place, bit)
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        assert read(path, TINY, states) is None, length
    for longer in (whole + b"\0", whole + whole):
        path.write_bytes(longer)
        assert read(path, TINY, states) is None
    path.write_bytes(whole)
    assert read(path, TINY, states) is not None


def test_a_damaged_solution_is_solved_again_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    path = kept_file()
    whole = path.read_bytes()
    caplog.clear()
    path.write_bytes(whole[:-1])
    assert_solved(SMALL, kept_or_solved(SMALL, solver.values_and_moves))
    assert path.read_bytes() == whole
    assert caplog.messages == [f"tictactoe: solving the board 2,3,2 again, which may take seconds; {path} is damaged"]


@pytest.mark.parametrize("other", [(3, 2, 2), (2, 3, 3)], ids=str)
def test_the_solution_of_another_board_is_refused(other: tuple[int, int, int]) -> None:
    rules, path = Rules(*other), kept_file()
    assert read(kept_file(rules), SMALL, len(game_tree(SMALL))) is None
    assert read(path, SMALL, len(game_tree(SMALL))) is not None


def test_the_solution_of_another_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    path = kept_file()
    monkeypatch.setattr(solution_file, "FORMAT", solution_file.FORMAT + 1)
    assert read(path, SMALL, len(game_tree(SMALL))) is None


@pytest.mark.parametrize("plant", MALICIOUS_FILES.values(), ids=MALICIOUS_FILES)
def test_what_somebody_has_planted_does_nothing_and_takes_no_memory(
    plant: Callable[[Path], object], folder: Path
) -> None:
    path = file_of(SMALL)
    assert path is not None
    folder.mkdir(parents=True)
    plant(path)
    states = len(game_tree(SMALL))
    tracemalloc.start()
    try:
        assert read(path, SMALL, states) is None
        assert_solved(SMALL, kept_or_solved(SMALL, solver.values_and_moves))
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()
    assert not (folder.parent / MARKER).exists()


def test_a_file_of_the_right_beginning_and_ten_gibibytes_is_not_read() -> None:
    path = kept_file()
    with path.open("r+b") as file:
        file.truncate(10 << 30)
    tracemalloc.start()
    try:
        assert read(path, SMALL, len(game_tree(SMALL))) is None
        assert tracemalloc.get_traced_memory()[1] < MIB
    finally:
        tracemalloc.stop()


WRITER = """
import sys
from pathlib import Path
from tictactoe import Rules, solve
from tictactoe.solution_file import write
solution = solve(Rules())
print("ready", flush=True)
for _ in range(200):
    write(Path(sys.argv[1]), Rules(), solution.value, solution.optimal_moves)
"""


def test_two_processes_that_write_at_once_show_no_half_of_a_file(folder: Path) -> None:
    path, states = kept_file(Rules()), len(game_tree(Rules()))
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE) for _ in range(2)]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    reads = 0
    while any(writer.poll() is None for writer in writers):
        assert read(path, Rules(), states) is not None
        reads += 1
    for writer in writers:
        writer.communicate()
        assert writer.returncode == 0
    assert reads > 0
    assert_solved(Rules(), kept_or_solved(Rules(), unsolvable))
    assert list(folder.iterdir()) == [path]


def test_a_disk_without_room_leaves_nothing_behind(folder: Path) -> None:
    script = f"""
import resource
from tictactoe import Rules, solver
from tictactoe.solution_file import kept_or_solved
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, {resource.RLIM_INFINITY}))
print(kept_or_solved(Rules(), solver.values_and_moves)[1].sum())
"""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert int(finished.stdout) == solve(Rules()).value.sum()
    assert finished.stderr.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_where_there_is_no_folder_the_board_is_solved_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    for place in (os.devnull, tmp_path / "file", tmp_path / "file" / "below", tmp_path / "loop", "/proc/none"):
        monkeypatch.setenv("TICTACTOE_CACHE", str(place))
        caplog.clear()
        assert_solved(SMALL, kept_or_solved(SMALL, solver.values_and_moves))
        assert caplog.messages == [
            f"tictactoe: solving the board 2,3,2, which may take seconds; the solution is kept in {place}"
        ]


def test_a_user_without_a_home_has_no_folder(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def nobody(number: int) -> NoReturn:
        raise KeyError(number)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    for name in ("TICTACTOE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert file_of(SMALL) is None
    assert_solved(SMALL, kept_or_solved(SMALL, solver.values_and_moves))
    assert caplog.messages == ["tictactoe: solving the board 2,3,2, which may take seconds"]


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, "/home/somebody/.cache/tictactoe"),
        ("linux", {"XDG_CACHE_HOME": "/caches"}, "/caches/tictactoe"),
        ("linux", {"XDG_CACHE_HOME": "not/absolute"}, "/home/somebody/.cache/tictactoe"),
        ("linux", {"XDG_CACHE_HOME": "/caches", "TICTACTOE_CACHE": "/chosen"}, "/chosen"),
        ("linux", {"TICTACTOE_CACHE": ""}, "/home/somebody/.cache/tictactoe"),
        ("darwin", {"XDG_CACHE_HOME": "/caches"}, "/home/somebody/Library/Caches/tictactoe"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/tictactoe"),
        ("win32", {}, "/home/somebody/AppData/Local/tictactoe"),
    ],
)
def test_each_system_has_its_folder(
    platform: str, variables: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/somebody")
    for name in ("TICTACTOE_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert file_of(Rules(4, 4, 3)) == Path(expected) / "4-4-3.solution"


PLAYER = f"""
import gymnasium
for _ in range(2):
    env = gymnasium.make(
        "tictactoe:TicTacToeVersus-v0", opponent="optimal", seat=1, rows={LARGE.rows}, cols={LARGE.cols}, k={LARGE.k}
    )
    env.reset(seed=0)
    print(env.step(14)[0].tolist())
"""


def test_a_player_is_told_once_and_not_at_all_when_the_solution_is_kept(folder: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", PLAYER]
    first, second = (subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stderr == (
        f"tictactoe: solving the board {LARGE}, which may take seconds; the solution is kept in {folder}\n"
    )
    assert second.stderr == ""
    assert first.stdout == second.stdout
    assert [path.name for path in folder.iterdir()] == ["3-5-3.solution"]


@pytest.mark.parametrize("size", [(3, 3, 3), (2, 7, 3), (3, 6, 3)], ids=str)
def test_smaller_and_larger_boards_are_neither_announced_nor_kept(
    size: tuple[int, int, int], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    solve.cache_clear()
    if size == (3, 6, 3):
        with pytest.raises(ValueError, match="up to 16 cells"):
            solve(Rules(*size))
    else:
        solve(Rules(*size))
    assert not folder.exists()
    assert caplog.messages == []
