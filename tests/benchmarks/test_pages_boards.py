"""The figures of larger boards are those of small data files whose answers are known."""

from pathlib import Path

from benchmarks import data, harness
from benchmarks.data import Result, Seats
from benchmarks.environment import rule, search
from benchmarks.learning import bigger_boards, repaired
from benchmarks.pages import boards


def test_the_tables_show_what_the_data_files_hold(tmp_path: Path) -> None:
    timed: Result = {"proved": True, "seconds": 2.0, "all seconds": 3.0, "plies": 9}
    timed["win/draw/loss % against heuristic"] = Seats((0.5, 0.5, 0.0), (0.25, 0.75, 0.0))
    data.save(tmp_path, bigger_boards.TITLE, {row: [timed, timed | {"seconds": 4.0}] for row in bigger_boards.ROWS}, {})
    data.save(
        tmp_path, rule.TITLE, {"3x3x3": [{"can it lose?": Seats("never", "yes"), "positions": Seats(25, 70)}]}, {}
    )
    data.save(tmp_path, search.TITLE, {"5x5x5": [{"with best play": "draw", "positions": 2}]}, {})
    repair: Result = {"corrected": 46, "end": repaired.PROVED, "beaten from": 333, "of its positions": 590_446}
    left = repair | {"corrected": 99, "end": "out of time", "beaten from": 545}
    data.save(tmp_path, repaired.TITLE, {0: [repair], 1: [left]}, {})

    found = boards.figures(tmp_path)

    lines = {name.split(".")[1]: text.splitlines() for name, text in found.items() if name.endswith(".table")}
    assert lines["search"][2:] == ["| 5,5,5 | draw | 2 |"]
    assert lines["rule"][2:] == ["| 3,3,3, X | never | 25 |", "| 3,3,3, O | yes | 70 |"]
    assert lines["timed"][3] == "| `--preset large` | 2 of 2 | 3 (2 to 4) | 3 | 50/50/0; 25/75/0 |"
    assert lines["repaired"][2:] == ["| 0 | 46 | proved | 333 | 590,446 |", "| 1 | 99 | out of time | 545 | 590,446 |"]
    assert {name.split(".")[2]: text for name, text in found.items() if not name.endswith(".table")} == {
        "seeds": "2",
        "proved": "1",
        "corrected": "46",
        "beaten": "333 to 545",
        "positions": "590,446",
    }


def test_the_page_says_how_the_repaired_players_were_trained() -> None:
    page = (harness.ROOT / "docs" / "bigger-boards.md").read_text()
    assert f"\npython train.py {repaired.FLAGS} --run-dir " in page
