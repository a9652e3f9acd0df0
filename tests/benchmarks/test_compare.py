"""Two reports are compared so that slower code is told from a noisy machine."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks.overview import results
from benchmarks.overview.compare import Pair
from benchmarks.overview.results import Report
from selfplay.command_line import run_command
from tests.benchmarks.reports import RATES, printed_rows, report, row


def scaled(values: list[float], factor: float) -> list[float]:
    return [factor * value for value in values]


def compared(capsys: pytest.CaptureFixture[str], folder: Path, before: Report, after: Report) -> tuple[int, str]:
    """Return the exit status of comparing two reports through their files, and what was printed."""
    for name, of_file in (("A.json", before), ("B.json", after)):
        results.write(folder / name, of_file)
    args = ["--compare", str(folder / "A.json"), str(folder / "B.json")]
    with pytest.raises(SystemExit) as stop:
        run_command(lambda _: command.main(args), command.PROG)
    assert isinstance(stop.value.code, int)
    return stop.value.code, capsys.readouterr().out


MEGABYTES = [416.0, 413.0, 421.0, 416.5, 415.0]
NEVER = [math.inf] * 5
QUIET = [100.0, 99.0, 98.0, 97.0, 96.0, 95.0, 94.0]


@pytest.mark.parametrize(
    ("unit", "before", "after", "expected"),
    [
        pytest.param("plies/s", RATES, scaled(RATES, 0.8), "worse", id="a fifth slower"),
        pytest.param("plies/s", RATES, scaled(RATES, 0.93), "within noise", id="less than a tenth slower"),
        pytest.param("s", RATES, scaled(RATES, 1.2), "worse", id="a fifth longer"),
        pytest.param("MB", MEGABYTES, scaled(MEGABYTES, 1.04), "worse", id="four hundredths larger"),
        pytest.param("MB", MEGABYTES, scaled(MEGABYTES, 1.02), "within noise", id="two hundredths larger"),
        pytest.param("plies/s", QUIET, [98.5, 97, 79, 78, 77, 76, 75], "within noise", id="all disturbed but two"),
        pytest.param("plies/s", QUIET, [98.5, 85, 79, 78, 77, 76, 75], "within noise", id="all disturbed but one"),
        pytest.param("plies/s", [150, *QUIET[1:]], scaled(QUIET, 0.98), "within noise", id="one lucky round"),
        pytest.param("plies/s", [80.0, 100.0, 99.0], [85.0, 60.0, 88.0], "worse", id="rounds in any order"),
        pytest.param("plies/s", [100.0], [95.0], "within noise", id="one round, little change"),
        pytest.param("plies/s", [100.0, 99.0], [80.0], "worse", id="one round"),
        pytest.param("s", [3.0, 4.0, 3.5, 4.1, 3.8], NEVER, "worse", id="a proof that is no longer found"),
        pytest.param("s", NEVER, NEVER, "within noise", id="a proof that was never found"),
    ],
)
def test_a_change_counts_beyond_the_noise_and_back_again(
    unit: str, before: list[float], after: list[float], expected: str
) -> None:
    opposite = {"worse": "better"}.get(expected, expected)
    assert Pair(row(before, unit=unit), row(after, unit=unit)).verdict == expected
    assert Pair(row(after, unit=unit), row(before, unit=unit)).verdict == opposite


def test_two_runs_alike_exit_with_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, printed = compared(capsys, tmp_path, report(row(RATES)), report(row(RATES[::-1]), commit="def", load="3"))
    assert status == 0
    assert "nothing of ours got slower" in printed
    assert "warning" not in printed
    assert "commit def" in printed


def test_what_got_slower_is_named_and_exits_with_1(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    same = row(RATES, "steady")
    after = report(row(scaled(RATES, 0.8), "turn view"), same)
    status, printed = compared(capsys, tmp_path, report(row(RATES, "turn view"), same), after)
    assert status == 1
    assert "slower or larger beyond the noise: faces: turn view" in printed
    cells = printed_rows(printed)
    assert cells[0][1:9] == ["turn view", "97.0", "77.6", "plies/s", "-20.0%", "-20.0%", "-20.0%", "SLOWER"]
    assert cells[1][1:9] == ["steady", "97.0", "97.0", "plies/s", "+0.0%", "+0.0%", "+0.0%", "within noise"]


def beside_peers(ours: float, peers: Sequence[float], group: str = "faces") -> Report:
    """Return a report of a row of ours, its rates multiplied by a factor, and of peers, each by its own."""
    of_peers = [
        row(scaled(RATES, factor), f"peer {number}", group=group, ours=False) for number, factor in enumerate(peers)
    ]
    return report(row(scaled(RATES, ours), "ours"), *of_peers)


@pytest.mark.parametrize(
    ("ours", "peers", "status"),
    [
        pytest.param(0.8, [0.8], 0, id="the machine"),
        pytest.param(0.8, [0.7, 0.8, 1.0], 0, id="the machine, as most peers say"),
        pytest.param(0.8, [1.0, 1.0, 0.8], 1, id="ours, as most peers say"),
        pytest.param(0.6, [0.8], 1, id="both"),
        pytest.param(1.0, [1.25], 0, id="a faster machine alone"),
    ],
)
def test_what_the_peers_share_is_the_machine(
    ours: float, peers: list[float], status: int, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before, after = beside_peers(1.0, [1.0] * len(peers)), beside_peers(ours, peers)
    found, printed = compared(capsys, tmp_path, before, after)
    assert found == status
    slower = "; ".join(f"faces: peer {number}" for number, factor in enumerate(peers) if factor < 0.9)
    warning = f"warning: peers got slower or larger too, so the machine may have: {slower}"
    assert (warning in printed) == bool(slower)


def test_peers_say_nothing_of_another_group_or_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    elsewhere = [beside_peers(factor, [factor], group="updates") for factor in (1.0, 0.8)]
    assert compared(capsys, tmp_path, *elsewhere)[0] == 1
    before, after = (beside_peers(factor, [factor]) for factor in (1.0, 0.8))
    newer = replace(after, machine=after.machine | {"torch": "2.14.0"})
    assert compared(capsys, tmp_path, before, newer)[0] == 1
    never = row([math.inf] * len(RATES), "peer 0", ours=False)
    assert compared(capsys, tmp_path, report(before.rows[0], never), after)[0] == 1


def test_rows_of_one_run_alone_are_listed(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = {name: row(RATES, name) for name in ("kept", "gone", "new")}
    before, after = report(rows["kept"], rows["gone"]), report(rows["kept"], rows["new"])
    status, printed = compared(capsys, tmp_path, before, after)
    assert status == 0
    assert "only before: faces: gone\n" in printed
    assert "only after: faces: new\n" in printed


def test_another_machine_is_a_warning(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    before, after = report(row(RATES)), replace(report(row(RATES), CPU="two", jax="0.10.2"), seeds=[5])
    _, printed = compared(capsys, tmp_path, before, after)
    lines = printed.splitlines()
    assert lines[:3] == [
        "warning: CPU: one before, two after",
        "warning: seeds: 0, 1, 2 before, 5 after",
        "warning: jax: unknown before, 0.10.2 after",
    ]


def broken(**changes: Any) -> str:
    good = {"group": "a", "name": "b", "unit": "s", "ours": True, "values": [1], "peers": []}
    return json.dumps({"format": 2, "machine": {}, "seeds": [0], "rows": [good | changes]})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is no measurement"),
        (b"\xff\xfe\x00", "is no measurement"),
        ("[1]", "is no measurement"),
        ('{"format": 1, "rows": []}', "it is not of format 2"),
        ('{"format": 2, "machine": [], "seeds": []}', "is no measurement"),
        (broken(values=[1, 0]), "a row has the values [1.0, 0.0]"),
        (broken(), "the two files have no row in common"),
        (broken(values=["fast"]), "is no measurement"),
        (broken(peers=3), "is no measurement"),
        (None, "cannot be read"),
    ],
)
def test_a_file_of_another_kind_is_a_mistake_in_one_line(
    content: str | bytes | None,
    complaint: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other, good = tmp_path / "other.json", tmp_path / "good.json"
    results.write(good, report(row(RATES)))
    if content is not None:
        other.write_bytes(content if isinstance(content, bytes) else content.encode())
    monkeypatch.setattr(sys, "argv", ["benchmarks", "--compare", str(good), str(other)])
    with pytest.raises(SystemExit) as stop:
        run_command(command.main, command.PROG)
    said = capsys.readouterr()
    assert stop.value.code == 2
    assert said.err.count("\n") == 1
    assert complaint in said.err
    assert f"{other}: " in said.err or "two files" in said.err
    assert said.out == ""
