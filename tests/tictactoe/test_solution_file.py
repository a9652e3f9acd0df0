"""A saved solution is the solved one; where no whole one is saved, the board is solved again, and nothing fails."""

import os
import pwd
import resource
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest

from tests.malicious_files import MALICIOUS_FILES, MARKER
from tictactoe import Rules, solution_file, solve, solver
from tictactoe.solution_file import file_of, load_or_solve, read
from tictactoe.tree import GameTree, game_tree

TINY, SMALL = Rules(2, 2, 2), Rules(2, 3, 2)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "caches" / "tictactoe"
    monkeypatch.setenv("TICTACTOE_CACHE", str(place))
    return place


def unsolvable(tree: GameTree) -> NoReturn:
    raise AssertionError(f"{tree.rules} is saved and need not be solved")


def assert_solved(rules: Rules, solve_board: solution_file.Solve = solver.values_and_moves) -> None:
    """Compare with what `solve` finds without a file."""
    tree, value, optimal_moves = load_or_solve(rules, solve_board)
    expected = solve(rules)
    assert np.array_equal(tree.mover, expected.tree.mover)
    for ours, theirs in ((value, expected.value), (optimal_moves, expected.optimal_moves)):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def saved(rules: Rules = SMALL) -> Path:
    """Save the solution of a board and return its file."""
    assert_solved(rules)
    path = file_of(rules)
    assert path is not None
    return path


@pytest.mark.parametrize("size", [(1, 1, 1), (3, 3, 3), (3, 4, 3)], ids=str)
def test_a_saved_solution_is_the_solved_one(size: tuple[int, int, int], folder: Path) -> None:
    assert saved(Rules(*size)) == folder / "{}-{}-{}.solution".format(*size)
    assert_solved(Rules(*size), unsolvable)


def test_a_changed_bit_in_every_byte_and_every_other_length_is_noticed() -> None:
    path, states = saved(TINY), len(game_tree(TINY))
    whole = path.read_bytes()
    damaged = [whole[:length] for length in range(len(whole))] + [whole + b"\0", whole + whole]
    for place in range(len(whole)):
        changed = bytearray(whole)
        changed[place] ^= 1 << place % 8
        damaged.append(bytes(changed))
    for content in damaged:
        path.write_bytes(content)
        assert read(path, TINY, states) is None, content


def test_the_solution_of_another_board_or_format_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    states = len(game_tree(SMALL))
    for other in (Rules(3, 2, 2), Rules(2, 3, 3)):
        assert read(saved(other), SMALL, states) is None
    monkeypatch.setattr(solution_file, "FORMAT", solution_file.FORMAT + 1)
    path = saved()
    monkeypatch.undo()
    assert read(path, SMALL, states) is None


@pytest.mark.parametrize("make", MALICIOUS_FILES.values(), ids=MALICIOUS_FILES)
def test_a_malicious_file_does_nothing_and_takes_no_memory(make: Callable[[Path], object], folder: Path) -> None:
    path = saved()
    path.unlink()
    make(path)
    tracemalloc.start()
    try:
        assert_solved(SMALL)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
    assert not (folder.parent / MARKER).exists()


def test_a_file_is_whole_before_it_has_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", lambda aside, _: aside.rename(aside.with_suffix(".whole")))
        path = saved()
    [whole] = folder.iterdir()
    assert whole.suffix == ".whole"
    assert read(whole, SMALL, len(game_tree(SMALL))) is not None
    assert not path.exists()


def test_a_disk_without_room_leaves_nothing_behind(folder: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        assert_solved(Rules())
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(folder.iterdir()) == []


def test_where_there_is_no_folder_the_board_is_solved_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    message = "tictactoe: solving the board 2,3,2, which may take seconds"
    places = [os.devnull, str(tmp_path / "loop"), "/proc/none"]
    for place in places:
        monkeypatch.setenv("TICTACTOE_CACHE", place)
        assert_solved(SMALL)
    assert caplog.messages == [f"{message}; the solution is saved in {place}" for place in places]

    caplog.clear()
    monkeypatch.setattr(pwd, "getpwuid", {}.__getitem__)  # a user whom the system does not know
    for name in ("TICTACTOE_CACHE", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    assert file_of(SMALL) is None
    assert_solved(SMALL)
    assert caplog.messages == [message]


@pytest.mark.parametrize(
    ("chosen", "caches", "expected"),
    [
        ("", "", "/home/somebody/.cache/tictactoe"),
        ("", "/caches", "/caches/tictactoe"),
        ("", "not/absolute", "/home/somebody/.cache/tictactoe"),
        ("/chosen", "/caches", "/chosen"),
    ],
)
def test_the_users_caches_hold_the_file(
    chosen: str, caches: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("HOME", "/home/somebody"), ("TICTACTOE_CACHE", chosen), ("XDG_CACHE_HOME", caches)):
        monkeypatch.setenv(name, value)
    assert file_of(Rules(4, 4, 3)) == Path(expected) / "4-4-3.solution"


@pytest.mark.parametrize("size", [(3, 5, 3), (2, 7, 3)], ids=str)
def test_solving_is_announced_once_and_only_where_it_takes_long(
    size: tuple[int, int, int], folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        solve.cache_clear()
        solve(Rules(*size))
    message = f"tictactoe: solving the board 3,5,3, which may take seconds; the solution is saved in {folder}"
    assert caplog.messages == [message] * (size == (3, 5, 3))
    assert folder.exists() == (size == (3, 5, 3))
