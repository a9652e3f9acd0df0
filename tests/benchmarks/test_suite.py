"""The overview measures every group beside its peers, and keeps every value."""

import math
from pathlib import Path
from typing import get_args

import pytest

from benchmarks import __main__ as command
from benchmarks.environment import face_rows, faces
from benchmarks.measuring import fresh, machine
from benchmarks.overview import results, rounds, suite
from benchmarks.overview.results import Report
from benchmarks.overview.rounds import Row
from benchmarks.overview.suite import GroupName, Sizes
from tests.benchmarks.reports import RATES, report, row

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
    found = measured(groups, tmp_path / "overview.json", monkeypatch, num_rounds=2)
    assert list(dict.fromkeys(of.group for of in found.rows)) == groups
    assert found.seeds == [1000, 1001]
    assert found.machine["Python"].startswith("3.")
    printed = capsys.readouterr().out
    values = {(of.group, of.name): of.values for of in found.rows}
    for of in found.rows:
        assert of.name in printed
        assert len(of.values) == 2
        assert all(value > 0 for value in of.values)
        assert not of.peers or of.ours
        assert {(of.group, peer) for peer in of.peers} <= set(values)
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
    peers = {of.name: of.peers for of in found.rows}
    assert (peers["selfplay"], peers["dqn --preset article"]) == (("torch",), ())
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
        return Row(name, "s", lambda: turn, peers, name == "ours", "no_such_module" if name == "missing" else None)

    groups = {"proof": [makes("ours", 6.0), makes("peer", 2.0), makes("missing", 1.0)]}
    ours, peer = rounds.measure(groups, [1, 3], machine.make_console())
    assert order == [("ours", 1), ("peer", 1), ("ours", 3), ("peer", 3)]
    assert ours == row([12.0, 24.0], "ours", group="proof", unit="s", peers=("peer",))
    assert peer.values == [4.0, 8.0]
    assert [list(column.cells)[-1] for column in command.table([ours, peer]).columns][-1] == "3.00"
    assert rounds.skipped(groups) == {"no_such_module": ["missing"]}
    assert "round 2 of 2" in capsys.readouterr().out


def test_a_report_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    never = row([math.inf, 2.5], "proof", unit="s", peers=("peer",))
    written = report(row(RATES), never, row([1.0], "peer", ours=False))
    results.write(path, written)
    assert results.read(path) == written
    assert "Infinity" not in path.read_text()
    assert [of.name for of in tmp_path.iterdir()] == ["report.json"]


def test_the_default_file_is_named_after_the_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "commit", lambda: "abc1234, with uncommitted changes")
    assert str(command.default_path()).startswith("runs/benchmarks/abc1234-changed-")
