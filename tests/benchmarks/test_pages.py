"""No figure of a page is typed: each comes from a data file, and a page that is out of date is named."""

import math
from pathlib import Path

import pytest

from benchmarks import data, harness, pages
from benchmarks.learning import published
from benchmarks.peers import report


@pytest.mark.skipif(len(harness.history()) < 100, reason="pages name commits of the whole history")
def test_every_page_has_the_figures_of_the_data_files() -> None:
    pages.main(check=True)


def test_a_page_that_is_out_of_date_is_named_and_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "all_tables", lambda _: {"lapses.table": "| new |\n| --- |\n"})
    page = tmp_path / "README.md"
    page.write_text("Before.\n\n<!-- lapses.table -->\n| old |\n<!-- end -->\n\nAfter.\n")
    with pytest.raises(SystemExit, match=r"README\.md"):
        pages.main(check=True, root=tmp_path)
    pages.main(root=tmp_path)
    assert page.read_text() == "Before.\n\n<!-- lapses.table -->\n| new |\n| --- |\n<!-- end -->\n\nAfter.\n"
    pages.main(check=True, root=tmp_path)
    page.write_text("<!-- nothing.table -->\n<!-- end -->\n")
    with pytest.raises(SystemExit, match=r"nothing\.table"):
        pages.main(root=tmp_path)


def test_every_data_file_is_a_figure() -> None:
    docs = harness.ROOT / "docs"
    listed = {figure.file for figure in pages.FIGURES}
    # Of these the CSV files are listed, or those of the sweeps.
    machines_only = {f"data/{name}.json" for name in ("evidence", "peers", "symptoms", "unit_2", "unit_4")}
    found = {str(path.relative_to(docs)) for path in [*docs.glob("data/*.json"), *docs.glob("evidence/*.csv")]}
    assert found - machines_only <= listed


def test_a_table_without_data_says_so(tmp_path: Path) -> None:
    found = pages.of_data_files(tmp_path)
    assert set(found.values()) == {report.NONE}
    assert pages.of_speed(tmp_path)["speed.vectors"] == report.NONE
    assert pages.of_bigger_boards(tmp_path)["alphazero-larger.table"] == report.NONE


def test_commits_are_those_of_the_rows_and_of_the_lines_behind_them(tmp_path: Path) -> None:
    data.save(tmp_path, "Peers", {"ours": [{"proved": True}]}, {"commit": "abc"})
    (tmp_path / "peers.csv").write_text("player,commit\nours,abc\nours,def\n")
    assert {machine["commit"] for machine in pages.machines_of(tmp_path, "peers")} == {"abc", "def"}


def test_a_seat_is_proved_if_all_was_followed_and_nothing_beats_it(tmp_path: Path) -> None:
    seats = {"ways to beat it": data.Seats(0, 0), "all followed": data.Seats(True, False)}
    beaten = {"ways to beat it": data.Seats(7, 0), "all followed": data.Seats(True, True)}
    data.save(tmp_path, "AlphaZero on 5x5x4", {"an hour": [seats, beaten]}, {})
    assert pages.of_bigger_boards(tmp_path)["alphazero-larger.table"].endswith("| 1 of 2; 1 of 2 |\n")


def test_a_data_file_has_its_table_its_commit_and_its_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "history", lambda: ("abcdef",))
    rows = {"mask": [{"seconds": 1.0, "updates": 3, "proved": True}, {"seconds": math.inf, "proved": False}]}
    data.save(tmp_path, "Time to unbeatable", rows, {"load": "0.50 over", "commit": "abc"})
    data.save(tmp_path, "Time to unbeatable", {"evaluation": [{"ms": data.Seats(2.5, 3.5)}]}, {"load": "1.50 over"})
    assert (
        pages.of_data_files(tmp_path)["time-to-unbeatable.table"]
        == "| what | proved | seconds | ms |\n| --- | --- | --- | --- |\n"
        "| mask | 1 of 2 | never (least 1) | - |\n| evaluation | - | - | 2.50; 3.50 |\n"
    )
    machines = pages.machines_of(tmp_path, "time-to-unbeatable")
    assert pages.commits(machines) == "abc, partly before this history"
    assert pages.load(machines) == "1.5"


@pytest.mark.parametrize(
    ("commits", "shown"),
    [
        ([], "not yet"),
        (["abc"], "abc"),
        (["abc, with uncommitted changes", "abc"], "abc with uncommitted changes, abc"),
        (["unknown", "def", ""], "before this history"),
        (["def", "abc"], "abc, partly before this history"),
    ],
)
def test_rows_are_before_this_history_if_it_does_not_contain_their_commit(
    commits: list[str], shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(harness, "history", lambda: ("abcdef", "123456"))
    assert pages.commits([{"commit": commit} if commit else {} for commit in commits]) == shown


def test_the_shares_of_a_match_up_are_means_and_standard_deviations_of_the_seeds() -> None:
    row = "learner against random, draw reward 0.2"
    of_seeds = [published.shares(*ends) for ends in ((0.90, 0.06, 0.04), (0.92, 0.04, 0.04), (0.94, 0.02, 0.04))]
    assert pages.match_ups({row: of_seeds})[1:] == [[row, "91 / 3 / 5", "92.0 ± 2.0 / 4.0 ± 2.0 / 4.0 ± 0.0"]]


def test_the_speeds_of_rows_and_their_ratios_are_shown_by_board(tmp_path: Path) -> None:
    rows = {
        "one board: ours": [{"plies/s": 307_499.0}, {"plies/s": 23_812_345.0}],
        "one board: peer": [{"plies/s": 100.4}],
        "one board: ours / peer": [{"ratio": 2.0}],
        "boards: 1: make_vec": [{"plies/s": 10.0}],
        "boards: 1: make_vec, dicts": [{"plies/s": 9.0}],
        "boards: 1: make_vec, dicts / make_vec": [{"ratio": 0.9}],
        "boards: 64: make_vec": [{"plies/s": 12.0}],
        "boards: 64: peer": [{"plies/s": 24.0}],
        "boards: 64: make_vec / peer": [{"ratio": 0.51239}],
    }
    data.save(tmp_path, "Speed of the environments", rows, {})
    found = pages.of_speed(tmp_path)
    assert found["speed.one-board"].splitlines()[2:] == ["| ours | 12.1 M (307,000 to 23.8 M) | peer | 100 | 2.00 |"]
    assert found["speed.vectors"].splitlines() == [
        "| boards at once | 1 | 64 |",
        "| --- | --- | --- |",
        "| make_vec | 10.0 | 12.0 |",
        "| make_vec / peer | - | 0.512 |",
    ]


def test_only_sweeps_in_which_a_kill_interrupted_a_run_are_shown() -> None:
    results = {"a worker": [{"runs resumed": 2}], "raylet": [{"runs resumed": 0}]}
    assert pages.of_killed_sweeps(results).splitlines()[2:] == ["| a worker | 2 |"]
