"""The overview measures every group, keeps every value, and tells slower code from a noisy machine."""

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from benchmarks import __main__ as command
from benchmarks import face_rows, faces, fresh, machine, results, rounds, suite
from benchmarks.compare import Pair
from benchmarks.results import Ratio, Report, Result
from benchmarks.rounds import Row
from benchmarks.suite import GroupName, Sizes
from selfplay.command_line import run_command
from selfplay.errors import UserError

TINY = Sizes(
    face_seconds=0.001,
    boards=(64, 128),
    steps=150,
    default_steps=1_280,
    total_steps=1_280,
    games=100,
    memory_steps=1_024,
    memory_peer_steps=10,
)
RATES = [100.0, 97.0, 99.0, 71.0, 98.0, 95.0, 82.0]
"""Of seven rounds, two of which something has disturbed."""


def row(values: list[float], name: str = "faces of ours", **fields: Any) -> Result:
    settings: dict[str, Any] = {"group": "faces", "unit": "plies/s", "better": "more", "ours": True, **fields}
    return Result(name=name, values=values, **settings)


def report(*rows: Result, **machine: str) -> Report:
    return Report({"CPU": "one", "torch": "2.13.0", "commit": "abc", **machine}, [0, 1, 2], list(rows))


def scaled(values: list[float], factor: float) -> list[float]:
    return [factor * value for value in values]


def verdict(before: list[float], after: list[float], **fields: Any) -> str:
    return Pair(row(before, **fields), row(after, **fields)).verdict


def compared(capsys: pytest.CaptureFixture[str], folder: Path, before: Report, after: Report) -> tuple[int, str]:
    """Return the exit status of comparing two reports through their files, and what was printed."""
    for name, of_file in (("A.json", before), ("B.json", after)):
        results.write(folder / name, of_file)
    args = ["--compare", str(folder / "A.json"), str(folder / "B.json")]
    with pytest.raises(SystemExit) as stop:
        run_command(lambda _: command.main(args), command.PROG)
    assert isinstance(stop.value.code, int)
    return stop.value.code, capsys.readouterr().out


def measured(groups: list[str], path: Path, monkeypatch: pytest.MonkeyPatch, num_rounds: int = 1) -> Report:
    monkeypatch.setattr(face_rows, "ONE_BOARD_PLIES", 450)
    monkeypatch.setattr(face_rows, "BOARD_STEPS", 64)
    monkeypatch.setattr(command, "SIZES", TINY)
    monkeypatch.setattr(faces, "pin", lambda _: None)  # would keep all later tests on one core
    command.main(["--only", *groups, "--rounds", str(num_rounds), "--seed", "1000", "--json", str(path)])
    return results.read(path)


def test_groups_in_this_process_are_measured_and_printed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = ["faces", "updates", "proof", "tabular"]
    found = measured(groups, tmp_path / "new" / "overview.json", monkeypatch, num_rounds=2)
    assert list(dict.fromkeys(of.group for of in found.rows)) == groups
    assert found.seeds == [1000, 1001]
    assert found.machine["Python"].startswith("3.")
    printed = capsys.readouterr().out
    values = {(of.group, of.name): of.values for of in found.rows}
    for of in found.rows:
        assert of.name in printed
        assert len(of.values) == 2
        assert all(value > 0 for value in of.values)
        for ratio in of.ratios:
            peer = values[of.group, ratio.peer]
            assert ratio.values == [mine / other for mine, other in zip(of.values, peer, strict=True)]
        assert not of.ratios or of.ours
    assert values["proof", "dqn until proved unbeatable"] == [math.inf, math.inf]


def test_memory_is_measured_in_fresh_interpreters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = measured(["memory"], tmp_path / "overview.json", monkeypatch)
    megabytes = {of.name: of.values[0] for of in found.rows}
    assert megabytes["import tictactoe"] < megabytes["import torch"] / 2
    assert megabytes["import torch"] < megabytes["python train.py, 1,024 plies"]


def test_without_peers_ours_are_measured_alone(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "installed", lambda module: module is None)
    found = measured(["faces", "updates", "imports"], tmp_path / "overview.json", monkeypatch)
    names = {of.name for of in found.rows}
    assert {"tictactoe_v0.env()", "dqn --preset article", "tictactoe", "selfplay", "torch"} <= names
    assert not any(part in name for name in names for part in ("pgx", "PettingZoo", "CleanRL", "Stable", "OpenSpiel"))
    ratios = {of.name: [ratio.peer for ratio in of.ratios] for of in found.rows if of.ratios}
    assert ratios["selfplay"] == ["torch"]
    assert "dqn --preset article" not in ratios
    printed = capsys.readouterr().out
    assert "open-spiel is not installed, so without OpenSpiel tic_tac_toe; OpenSpiel mnk, 15,15,5" in printed
    assert "stable-baselines3 is not installed, so without DQN in CleanRL's manner" in printed


def test_nothing_of_a_peer_is_needed_to_begin() -> None:
    absent = ("stable_baselines3", "jax", "pgx", "pyspiel", "pygame")
    statements = f"import sys\nsys.modules.update(dict.fromkeys({absent}))\nimport benchmarks.__main__\nprint(1)"
    assert fresh.run_fresh(statements) == 1


def test_every_peer_is_a_row_of_its_group_and_names_are_unique() -> None:
    groups = suite.all_groups(Sizes())
    assert tuple(groups) == get_args(GroupName)
    for rows in groups.values():
        names = [of.name for of in rows]
        assert len(set(names)) == len(names)
        for of in rows:
            assert set(of.peers) <= {peer.name for peer in rows if not peer.ours}
            assert bool(of.peers) <= of.ours


def test_peak_memory_is_that_of_the_child_alone() -> None:
    kept = bytearray(200 * 2**20)  # what `ru_maxrss` would count as the child's
    kept[:: 2**12] = b"1" * len(kept[:: 2**12])
    nothing, much = fresh.peak_megabytes("pass"), fresh.peak_megabytes(f"kept = bytes(b'1') * {100 * 2**20}")
    assert nothing < 50
    assert 95 < much - nothing < 120


def test_a_fresh_interpreter_that_fails_says_why() -> None:
    with pytest.raises(RuntimeError, match="no module of that kind"):
        fresh.run_fresh("import sys; sys.exit('no module of that kind')")


def test_rows_take_turns_and_ratios_are_of_the_same_round(capsys: pytest.CaptureFixture[str]) -> None:
    order: list[tuple[str, int]] = []

    def makes(name: str, factor: float) -> Row:
        def turn(seed: int) -> float:
            order.append((name, seed))
            return factor * (1 + seed)

        peers = ("peer", "missing") if name == "ours" else ()
        return Row(
            name, "s", "less", lambda: turn, peers, name == "ours", "no_such_module" if name == "missing" else None
        )

    groups = {"proof": [makes("ours", 6.0), makes("peer", 2.0), makes("missing", 1.0)]}
    ours, peer = rounds.measure(groups, [1, 3], machine.make_console())
    assert order == [("ours", 1), ("peer", 1), ("ours", 3), ("peer", 3)]
    assert ours == row(
        [12.0, 24.0], "ours", group="proof", unit="s", better="less", ratios=(Ratio("peer", [3.0, 3.0]),)
    )
    assert peer.values == [4.0, 8.0]
    assert rounds.skipped(groups) == {"no_such_module": ["missing"]}
    assert "round 2 of 2" in capsys.readouterr().out


def test_a_report_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    never = row([math.inf, 2.5], "proof", unit="s", better="less", ratios=(Ratio("peer", [math.inf, 0.1]),))
    written = report(row(RATES), never, row([1.0], "peer", ours=False))
    results.write(path, written)
    assert results.read(path) == written
    assert "Infinity" not in path.read_text()
    assert [of.name for of in tmp_path.iterdir()] == ["report.json"]


@pytest.mark.parametrize(
    ("factor", "expected"),
    [(0.8, "worse"), (0.93, "within noise"), (1.07, "within noise"), (1.2, "better")],
)
def test_a_rate_counts_when_it_changes_by_more_than_a_tenth(factor: float, expected: str) -> None:
    assert verdict(RATES, scaled(RATES, factor)) == expected
    opposite = {"worse": "better", "better": "worse"}.get(expected, expected)
    assert verdict(RATES, scaled(RATES, factor), unit="s", better="less") == opposite


def test_memory_counts_when_it_changes_by_three_hundredths() -> None:
    megabytes = [416.0, 413.0, 421.0, 416.5, 415.0]
    before, after = (row(values, unit="MB", better="less") for values in (megabytes, scaled(megabytes, 1.04)))
    larger = Pair(before, after)
    assert (larger.verdict, larger.word) == ("worse", "LARGER")
    assert verdict(megabytes, scaled(megabytes, 1.02), unit="MB", better="less") == "within noise"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param([100, 99, 98, 97, 96, 95, 94], [98.5, 97, 79, 78, 77, 76, 75], id="all rounds disturbed but two"),
        pytest.param([100, 99, 98, 97, 96, 95, 94], [98.5, 85, 79, 78, 77, 76, 75], id="all rounds disturbed but one"),
        pytest.param([150, 99, 98, 97, 96, 95, 94], [98, 99, 97, 96, 95, 94, 93], id="one lucky round"),
        pytest.param([100], [95], id="one round, little change"),
    ],
)
def test_noise_is_no_change(before: list[float], after: list[float]) -> None:
    assert verdict(before, after) == "within noise"
    assert verdict(after, before) == "within noise"


def test_the_order_of_rounds_says_nothing() -> None:
    assert verdict([80.0, 100.0, 99.0], [85.0, 60.0, 88.0]) == "worse"
    assert verdict([1.25, 1.0, 1.1], [1.3, 1.2, 1.5], unit="s", better="less") == "worse"


def test_one_round_counts() -> None:
    assert verdict([100.0], [80.0]) == "worse"
    assert verdict([100.0, 99.0], [120.0]) == "better"


def test_a_proof_that_is_no_longer_found_is_worse() -> None:
    proved, never = [3.0, 4.0, 3.5, 4.1, 3.8], [math.inf] * 5
    assert verdict(proved, never, unit="s", better="less") == "worse"
    assert verdict(never, proved, unit="s", better="less") == "better"
    assert verdict(never, never, unit="s", better="less") == "within noise"


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
    cells = [[cell.strip() for cell in line.split("│")] for line in printed.splitlines() if line.startswith("│")]
    assert cells[0][2:10] == ["turn view", "97.0", "77.6", "plies/s", "-20.0%", "-20.0%", "-20.0%", "SLOWER"]
    assert cells[1][2:10] == ["steady", "97.0", "97.0", "plies/s", "+0.0%", "+0.0%", "+0.0%", "within noise"]


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
    good = {"group": "a", "name": "b", "unit": "s", "better": "less", "ours": True, "values": [1], "ratios": []}
    return json.dumps({"format": 1, "machine": {}, "seeds": [0], "rows": [good | changes]})


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        ("[1]", "has format None, not 1"),
        ('{"format": 2}', "has format 2, not 1"),
        ('{"format": 1}', "is damaged"),
        ('{"format": 1, "machine": [], "seeds": [], "rows": []}', "is damaged"),
        (broken(better="most"), "better is 'most', neither more nor less"),
        (broken(values=[]), "a row has the values []"),
        (broken(values=[1, 0]), "a row has the values [1.0, 0.0]"),
        (broken(), "the two files have no row in common"),
        (broken(values=["fast"]), "is damaged"),
        (broken(values=3), "is damaged"),
        (broken(ratios=[{"peer": "x"}]), "is damaged"),
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


@pytest.mark.parametrize("args", [["--rounds", "0"], ["--seed", "-1"], ["--only"]])
def test_nothing_to_measure_is_a_mistake(args: list[str]) -> None:
    with pytest.raises(UserError, match="at least one --rounds"):
        command.main(args)


def test_a_place_that_cannot_be_written_is_a_mistake_before_anything_is_measured(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, complaint in ((tmp_path, "is a folder"), (tmp_path / "file" / "a.json", "cannot be made")):
        with pytest.raises(UserError, match=complaint):
            command.main(["--json", str(path)])


def test_the_default_file_is_named_after_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "commit", lambda: "abc1234, with uncommitted changes")
    assert str(command.default_path()).startswith("runs/benchmarks/abc1234-changed-")
