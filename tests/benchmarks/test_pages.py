"""No figure of a page is typed: each comes from a data file, and a page that is out of date is named."""

import math
from pathlib import Path

import numpy as np
import pytest

from benchmarks import data, harness, pages
from benchmarks.learning import published


@pytest.mark.skipif(len(harness.history()) < 100, reason="pages name commits of the whole history")
def test_every_page_has_the_figures_of_the_data_files() -> None:
    pages.main(check=True)


def test_a_page_that_is_out_of_date_is_named_and_filled_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "all_figures", lambda _: {"targets.seeds": "6"})
    page = tmp_path / "README.md"
    page.write_text("<!-- targets.seeds -->5<!-- end -->")
    with pytest.raises(SystemExit, match=r"README\.md"):
        pages.main(check=True, root=tmp_path)
    pages.main(root=tmp_path)
    assert page.read_text() == "<!-- targets.seeds -->6<!-- end -->"
    page.write_text("<!-- targets.nothing -->5<!-- end -->")
    with pytest.raises(SystemExit, match=r"targets\.nothing"):
        pages.main(root=tmp_path)


def test_a_table_is_on_lines_of_its_own() -> None:
    text = "Before.\n<!-- a.table -->\n| old |\n<!-- end -->\nIt holds <!-- a.number -->1<!-- end -->."
    figures = {"a.table": "| new |\n| --- |\n", "a.number": "2"}
    filled = pages.filled(text, figures)
    assert (
        filled == "Before.\n<!-- a.table -->\n| new |\n| --- |\n<!-- end -->\nIt holds <!-- a.number -->2<!-- end -->."
    )
    assert pages.filled("A b\n<!-- a.number -->1<!-- end --> c", figures) == "A\nb <!-- a.number -->2<!-- end --> c"


def test_a_data_file_has_its_machine_its_table_and_its_cells(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "history", lambda: ("abcdef",))
    machine = {"CPU": "EPYC, 2 cores", "load": "0.50 over", "OS": "Linux-6.1-x86", "jax": "not installed", "torch": "2"}
    rows = {"train.py": [{"all seconds": 1.0, "proved": True}, {"all seconds": math.inf, "proved": False}]}
    data.save(tmp_path, "Time to unbeatable", rows, {**machine, "commit": "abc"})
    data.save(
        tmp_path, "Time to unbeatable", {"unit": [{"ms": data.Seats(2.5, 3.5)}]}, {**machine, "load": "1.50 over"}
    )  # without a commit
    assert pages.of_data_files(tmp_path) == {
        "time-to-unbeatable.measured-on": "EPYC, 2 cores, load 1.00 (0.50 to 1.50), Linux, torch 2, "
        "commit abc, partly before this history",
        "time-to-unbeatable.runs": "1.5 (1 to 2)",
        "time-to-unbeatable.table": "| what | all seconds | proved | ms |\n| --- | --- | --- | --- |\n"
        "| train.py | never (least 1) | 1 of 2 | - |\n| unit | - | - | 2.50; 3.50 |\n",
        "time-to-unbeatable.train-py.all-seconds": "never (least 1)",
        "time-to-unbeatable.train-py.proved": "1 of 2",
        "time-to-unbeatable.unit.ms": "2.50; 3.50",
        "data.files": "| data file | rows | before this history | measured | load |\n| --- | --- | --- | --- | --- |\n"
        "| time-to-unbeatable | 2 | 1 | commit abc, partly before this history | 1.00 (0.50 to 1.50) |\n",
    }


@pytest.mark.parametrize(
    ("commits", "shown"),
    [
        (["abc"], "commit abc"),
        (["abc, with uncommitted changes", "abc"], "commit abc with uncommitted changes, abc"),
        (["unknown", "def", ""], "before this history"),
        (["def", "abc"], "commit abc, partly before this history"),
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


def sweep(lines: str) -> list[dict[str, str]]:
    """Return the runs of a small sweep, a line each."""
    header, *rows = (line.split(" ") for line in lines.splitlines())
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_settings_are_compared_on_equal_seeds() -> None:
    found = pages.of_sweep(
        "proof",
        sweep("""setting seed end steps updates seconds
counterexamples=0.5 0 proved 1000 10 1.25
counterexamples=0.5 1 proved 1000 10 1.75
counterexamples=0.0,mask=true 0 proved 900 9 1.25
counterexamples=0.0,mask=true 1 proved 900 9 1.75
batch_size=1000 0 proved 800 8 1.25
batch_size=1000 1 proved 1200 12 1.75
target=article 0 no-proof 2000 20 1.25
target=article 1 no-proof 2000 20 1.75"""),
        {"counterexamples": "0.5", "batch_size": "100"},
    )
    expected = {
        "proof.counterexamples-0-mask.flags": "`--counterexamples 0 --mask`",
        "proof.counterexamples-0-mask.plies.apart": "-100",
        "proof.counterexamples-0-mask.plies.fewer": "2",
        "proof.target-article.proved": "0 of 2",
        "proof.target-article.plies.more": "2",
        "proof.plies.fewer": "none",  # two seeds are too few to say
        "proof.plies.more": "none",
        "proof.plies.small": "`--counterexamples 0 --mask`, `--batch-size 1000`",
        "proof.plies.open": "`--target article`",
        "proof.counterexamples-0-mask.seconds.ratio": "1.00",
        "proof.nothing.samples.mean": "1.0",  # thousands, of 10 updates with the batch of the control
        "proof.batch-size-1000.samples.most": "12.0",
        "proof.nothing.seconds.mean": "1.50 [1.25, 1.75]",
        "proof.proved": "6 of 8",
        "proof.comparisons": "3",
    }
    assert {name: found[name] for name in expected} == expected


def test_a_difference_is_clear_small_or_open() -> None:
    seeds = range(20)
    settings = {"default": 1000, "warmup=1": 1500, "warmup=2": 400, "warmup=3": math.inf, "warmup=4": 1010}
    lines = [
        f"{setting} {seed} {'proved' if math.isfinite(steps) else 'no-proof'} {np.nan_to_num(steps + seed):.0f} 10"
        for setting, steps in settings.items()
        for seed in seeds
    ]
    lines += [f"warmup=5 {seed} proved {1000 + (-1) ** seed * (seed + 300)} 10" for seed in seeds]
    lines += [f"warmup=6 {seed} proved {1000 + seed + (-1) ** seed} 10" for seed in seeds]
    found = pages.of_sweep("large", sweep("\n".join(["setting seed end steps updates", *lines])), {"batch_size": "8"})
    assert found["large.plies.fewer"] == "`--warmup 2`"
    assert found["large.plies.more"] == "`--warmup 1`, `--warmup 3`, `--warmup 4`"  # also a run without a proof
    assert found["large.plies.small"] == "`--warmup 6`"
    assert found["large.plies.open"] == "`--warmup 5`"
    assert found["large.warmup-2.plies.p"] == "< 0.001"


@pytest.mark.parametrize(
    ("p_values", "corrected"),
    [
        ([0.01, 0.04, 0.03, 0.005], [0.03, 0.06, 0.06, 0.02]),  # Holm's: 4 * 0.005, 3 * 0.01, 2 * 0.03, and no less
        ([0.9, 0.6], [1.0, 1.0]),
        ([0.02], [0.02]),
        ([], []),
    ],
)
def test_p_values_are_corrected_for_their_number(p_values: list[float], corrected: list[float]) -> None:
    assert pages.holm(p_values) == pytest.approx(corrected)


def test_a_setting_that_changed_since_a_sweep_is_named() -> None:
    then = {"batch_size": "384", "gone": "1", "gamma": "0.99"}
    assert pages.changes(then, then) == "none"
    changes = pages.changes(then, {"batch_size": "512", "gamma": "0.99", "new": "2"})
    assert changes == "`batch_size` was 384, is 512; `gone` was 1, is no setting; `new` was no setting, is 2"


def test_what_happens_past_the_proof_is_compared_in_percent() -> None:
    found = pages.of_sweep(
        "past",
        sweep("""setting seed end since_proof not_proved all_optimal
default 0 proved 4 1 2
epsilon_end=0.1 0 no-proof 8 0 8"""),
        {"epsilon_end": "0.9"},
    )
    assert found["past.table"].splitlines()[2:] == [
        "| nothing | 1 of 1 | 25.00 | +0.00 | - | 50.00 | +0.00 | - |",
        "| `--epsilon-end 0.1` | 0 of 1 | 0.00 | -25.00 | 1 | 100.00 | +50.00 | 1 |",
    ]


def test_the_speeds_of_rows_and_their_ratios_are_shown_by_board(tmp_path: Path) -> None:
    rows = {
        "one board: ours": [{"plies/s": 307_499.0}, {"plies/s": 23_812_345.0}],
        "one board: peer": [{"plies/s": 100.4}],
        "one board: ours / peer": [{"ratio": 2.0}],
        "two agents, AEC: ours": [{"plies/s": 1.0}],
        "an opponent inside: ours": [{"plies/s": 1.0}],
        "larger boards: vector, 3,3,3": [{"plies/s": 10.0}],
        "larger boards: vector, 4,4,4": [{"plies/s": 12.0}],
        "larger boards: vector, 4,4,4 / vector, 3,3,3": [{"ratio": 0.51239}],
    }
    data.save(tmp_path, "Speed of the environments", rows, {})
    found = pages.of_speed(tmp_path)
    assert found["speed.one-board"].splitlines()[2:] == ["| ours | 12.1 M (307,000 to 23.8 M) | peer | 100 | 2.00 |"]
    assert found["speed.larger-boards"].splitlines()[2:] == [
        "| vector | 10.0 | 12.0 |",
        "| vector / vector, 3,3,3 | - | 0.512 |",
    ]
