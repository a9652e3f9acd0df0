"""No figure of a page is typed: each comes from a data file, and a page that is out of date is named."""

import csv
import math
import re
import shutil
from pathlib import Path

import pytest

from benchmarks import data
from benchmarks.pages import __main__ as pages, measured, speed
from selfplay.errors import UserError

ROOT = Path(__file__).parents[2]
DATA = ("*.csv", "*.json")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a folder with the pages and their data files."""
    for pattern in ("README.md", *(f"docs/**/{name}" for name in ("*.md", "unit_*.py", *DATA))):
        for path in ROOT.glob(pattern):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def test_every_page_has_the_figures_of_the_data_files() -> None:
    pages.main(["--check"])


def test_a_changed_number_in_a_data_file_names_the_pages_that_are_out_of_date(copy: Path) -> None:
    data = copy / "docs" / "targets.csv"
    data.write_text(data.read_text().replace("article,0,", "article,9,", 1))
    (copy / "README.md").write_text("<!-- targets.seeds -->5<!-- end -->")
    with pytest.raises(UserError, match=r"README\.md.*: out of date; run python -m benchmarks\.pages"):
        pages.main(["--check", "--root", str(copy)])
    pages.main(["--root", str(copy)])
    assert (copy / "README.md").read_text() == "<!-- targets.seeds -->6<!-- end -->"
    pages.main(["--check", "--root", str(copy)])


def test_a_figure_that_there_is_not_is_named(copy: Path) -> None:
    (copy / "README.md").write_text("<!-- targets.nothing -->5<!-- end -->")
    with pytest.raises(UserError, match=r"^README\.md: there is no figure 'targets\.nothing'; --list shows all$"):
        pages.main(["--root", str(copy)])


NO_PROSE = re.compile(
    r"^```.*?^```$|^---\n.*?^---$|`[^`\n]+`|\]\([^)]*\)|<[^>]+>|^\[[^]]+\]:.*?$|https?://\S+", re.DOTALL | re.MULTILINE
)
"""Code, the targets of links, and addresses."""
NO_MEASUREMENT = re.compile(
    r"\b\d{1,2},\d{1,2},\d{1,2}\b|\b\d+\.\d+\.\d+\b|\b(?:Python|torch|Gymnasium|PettingZoo) \d+\.\d+"
    r"|\bseeds?(?:\s+from)? \d+(?: (?:to|and) \d+)?|\b(?:19|20)\d\d\b(?:-\d\d-\d\d)?"
    r"|\b(?:arXiv|doi):\S+|\bpages\s+\d+\s+to\s+\d+|\bexercise \d\.\d|\b\d+-bit\b|\b\d+\s+cells\b"
)
"""Boards and their cells, versions, seeds, years and dates, what is cited, and the size of numbers."""
MEASUREMENT = re.compile(r"\b\d[\d,.]*\d\b|\b\d(?= ?(?:%|ms|µs|ns|s|minutes?|hours?|times|kB|MB|GB|M)\b)|\b\d(?= ?%)")
"""Numbers of two digits or more, and any with a unit."""


def typed_numbers(text: str) -> list[str]:
    """Return the measured numbers in a page's prose that are between no markers."""
    for pattern in (pages.MARKED, NO_PROSE, NO_MEASUREMENT):
        text = pattern.sub(" ", text)
    return MEASUREMENT.findall(text)


def test_numbers_that_are_typed_are_found() -> None:
    text = """---
title: 77
---
On 3,3,3 with seeds 0 to 19 it takes 0.53 s, 7 % or <!-- a.b -->500<!-- end --> of [100](#all-200-runs) plies, `300`.

```python
x = 900
```

| torch 2.13.0, 2026-11-23 | 4 games | 76,544 |
"""
    assert typed_numbers(text) == ["0.53", "7", "100", "76,544"]


TYPED = {
    "95": "% of an interval",
    "10": "the reward of an illegal move",
    "64": "MB of snapshots, at most",
    "100": "seeds, in a heading",
    **dict.fromkeys(("1,000", "6,000", "200,000"), "quoted from people, in headings"),
    "3.10": "the oldest Python",
    "400": "points of Elo's scale",
    "300": "kB of snapshots on an exported page, at most",
}
"""Numbers that no measurement made, and what they are."""


def test_no_measured_number_is_typed() -> None:
    for page in pages.pages(ROOT):
        if page.parent.name != "course":  # where they are minutes of a lesson
            assert {*typed_numbers(page.read_text())} <= TYPED.keys(), page


def test_a_table_is_on_lines_of_its_own() -> None:
    text = "Before.\n<!-- a.table -->\n| old |\n<!-- end -->\nIt holds <!-- a.number -->1<!-- end -->."
    figures = {"a.table": "| new |\n| --- |\n", "a.number": "2"}
    filled = pages.filled(text, figures)
    assert (
        filled == "Before.\n<!-- a.table -->\n| new |\n| --- |\n<!-- end -->\nIt holds <!-- a.number -->2<!-- end -->."
    )
    assert pages.filled(filled, figures) == filled
    assert pages.filled("A b\n<!-- a.number -->1<!-- end --> c", figures) == "A\nb <!-- a.number -->2<!-- end --> c"


def test_a_data_file_has_its_machine_its_table_and_its_cells(tmp_path: Path) -> None:
    machine = {"CPU": "EPYC, 2 cores", "load": "0.50 over", "OS": "Linux-6.1-x86", "jax": "not installed", "torch": "2"}
    rows = {"train.py": [{"all seconds": 1.0, "proved": True}, {"all seconds": math.inf, "proved": False}]}
    data.save(tmp_path, "Time to unbeatable", rows, {**machine, "commit": "abc"})
    data.save(tmp_path, "Time to unbeatable", {"unit": [{"ms": 2.5}]}, {**machine, "load": "1.50 over"})
    assert measured.figures(tmp_path) == {
        "time-to-unbeatable.measured-on": "EPYC, 2 cores, load 1.00 (0.50 to 1.50), Linux, torch 2",
        "time-to-unbeatable.runs": "1.5 (1 to 2)",
        "time-to-unbeatable.table": "| what | all seconds | proved | ms |\n| --- | --- | --- | --- |\n"
        "| train.py | never (least 1) | 1 of 2 | - |\n| unit | - | - | 2.50 |\n",
        "time-to-unbeatable.train-py.all-seconds": "never (least 1)",
        "time-to-unbeatable.train-py.proved": "1 of 2",
        "time-to-unbeatable.unit.ms": "2.50",
    }


def test_each_data_file_without_a_commit_is_named() -> None:
    page = Path("docs/results.md").read_text()
    assert all('"commit"' in path.read_text() or path.name in page for path in Path("docs/data").glob("*.json"))


def test_speeds_are_shown_beside_their_peers_and_by_board() -> None:
    rows = {
        "vector, 3,3,3": [{"plies/s": 307_499.0}, {"plies/s": 23_812_345.0}],
        "peer, 3,3,3": [{"plies/s": 100.4}],
        "vector, 3,3,3 / peer, 3,3,3": [{"ratio": 2.0}],
        "vector, 4,4,4": [{"plies/s": 12.0}],
        "vector, 4,4,4 / vector, 3,3,3": [{"ratio": 0.51239}],
    }
    assert [*speed.ratios(rows)] == [
        ["vector, 3,3,3", "12.1 M (307,000 to 23.8 M)", "peer, 3,3,3", "100", "2.00"],
        ["vector, 4,4,4", "12.0", "vector, 3,3,3", "12.1 M (307,000 to 23.8 M)", "0.512"],
    ]
    assert speed.side_by_side(speed.by_rules(rows), "board").splitlines()[2:] == [
        "| vector | 12.1 M (307,000 to 23.8 M) | 12.0 |",
        "| peer | 100 | - |",
        "| vector / peer | 2.00 | - |",
        "| vector / vector, 3,3,3 | - | 0.512 |",
    ]


@pytest.mark.parametrize(("sweep", "row"), [("large", "4x4x4"), ("unmasked", "4x4x4-unmasked")])
def test_the_timed_runs_of_larger_boards_are_among_those_of_the_sweeps(sweep: str, row: str) -> None:
    timed = data.saved_results(ROOT / "docs", "Bigger boards")[row]
    with (ROOT / "docs" / "evidence" / f"{sweep}.csv").open(newline="") as file:
        runs = [run for run in csv.DictReader(file) if run["setting"] == "default"]
    assert [result["plies"] for result in timed] == [int(run["steps"]) for run in runs[: len(timed)]]
