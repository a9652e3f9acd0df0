"""Plans of sweeps: files and flags, combinations, names, and mistakes."""

import re
from pathlib import Path
from typing import Any

import pytest

from selfplay.cli.flags import parse
from selfplay.cli.sweep import SweepConfig
from selfplay.sweep.plan import all_runs, make, parse_seeds, read_file
from tests.runs import ROOT, refused


def names(**flags: Any) -> list[str]:
    return [run.name for run in all_runs(make({}, flags))]


def test_every_combination_has_a_run_named_by_what_differs() -> None:
    assert names(seeds="3..4", set=["total_steps=20000"], vary=["mask=true,false", "learning-rate=0.006,0.012"]) == [
        f"mask={mask},learning_rate={rate},seed={seed}"
        for seed in (3, 4)
        for mask in ("true", "false")
        for rate in ("0.006", "0.012")
    ]


def test_each_is_tried_by_itself_and_equal_settings_are_trained_once() -> None:
    runs = all_runs(make({}, {"seeds": "0", "each": ["double=true", "hidden=256,64x32", "symmetry=none"]}))
    assert [run.setting for run in runs] == ["default", "double=true", "hidden=64x32", "symmetry=none"]
    assert runs[2].values == {"hidden": (64, 32)}
    assert names(seeds="0", each=["mask=true"], vary=["counterexamples=0.5,0"]) == [
        "counterexamples=0.5,seed=0",
        "counterexamples=0.0,seed=0",
        "counterexamples=0.5,mask=true,seed=0",
        "counterexamples=0.0,mask=true,seed=0",
    ]


def test_flags_replace_what_a_file_says(tmp_path: Path) -> None:
    path = tmp_path / "it.toml"
    path.write_text(
        'seeds = "0..2"\n[set]\ntotal_steps = 20_000\n[vary]\nmask = [true, false]\n[each]\nhidden = [[64, 32], 16]\n'
    )
    flags = {"seeds": "0..2", "set": ["total_steps=20000"], "vary": ["mask=true,false"], "each": ["hidden=64x32,16"]}
    assert make(read_file(path), {}) == make({}, flags)
    changed = make(read_file(path), {"seeds": "7", "vary": ["mask=true"]})
    assert (changed.seeds, changed.vary, changed.set) == ((7,), {"mask": [True]}, {"total_steps": 20_000})


def test_names_that_no_folder_can_have_are_replaced_by_different_ones() -> None:
    found = names(seeds="0", vary=[f"hidden={'64x' * 60}64,{'64x' * 60}32"])
    assert len(set(found)) == 2
    assert all(re.fullmatch(r"hidden=[64x]{143}-[0-9a-f]{8},seed=0", name) for name in found)


def test_seeds_are_read() -> None:
    assert list(map(parse_seeds, ["0..2", "1,5,7..8", 4, [2, 1]])) == [(0, 1, 2), (1, 5, 7, 8), (4,), (2, 1)]


@pytest.mark.parametrize("given", ["", "3..1", "a", "0..3,2", [], [True], [-1], 1.5, "0..99999999999"])
def test_other_seeds_are_refused(given: object) -> None:
    assert refused(parse_seeds, given).startswith("--seeds must be like 0..99 or 1,2,5")


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ({"algorithm": "go"}, "there is no algorithm 'go'"),
        ({"vary": ["sed=1,2"]}, "dqn has no setting 'sed' for a sweep; it has batch_size"),
        ({"vary": ["hiden=8,9"]}, "dqn has no setting 'hiden' for a sweep; did you mean hidden?"),
        ({"vary": ["seed=1,2"]}, "dqn has no setting 'seed'"),
        ({"algorithm": "minimax-q", "vary": ["from_table=a,b"]}, "minimax-q has no setting 'from_table'"),
        ({"vary": ["mask"]}, "--vary must be NAME=VALUE,VALUE,..., got 'mask'"),
        ({"set": ["mask=true"], "each": ["mask=false"]}, "mask is given twice"),
        ({"vary": ["mask=yes,no"]}, "mask=yes: mask= must be of type bool, got 'yes'"),
        ({"vary": ["batch_size=32,-1"]}, "batch_size=-1: batch_size= must be between 1 and 1,000,000,000,000, got -1"),
        ({"vary": ["learning_rate=0.1..1"]}, "learning_rate cannot be a range without --search"),
        ({"search": 2, "vary": ["learning_rate=1..0.1"]}, "1..0.1: the end of a range must be above"),
        ({"search": 2, "vary": ["learning_rate=0.1..1e999"]}, "learning_rate=1e999: learning_rate= must be "),
        ({"search": 2, "vary": ["batch_size=1.5..3"]}, "batch_size=1.5: batch_size= must be of type int"),
        ({"search": 2}, "a search needs something to choose from"),
        ({"search": 2, "each": ["mask=true"]}, "a search has no each"),
        (
            {"seeds": "0..99999", "each": ["mask=true"]},
            "a sweep has at most 100,000 runs, and this one would have 200,000",
        ),
    ],
)
def test_a_mistake_is_one_line_that_names_it(flags: dict[str, Any], line: str) -> None:
    assert refused(lambda: all_runs(make({}, flags))).startswith(line)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("[vary", "is not TOML"),
        (
            "sets = 1",
            "there is no 'sets' in a sweep; it has algorithm, seeds",
        ),
        ("set = 1", "set must be a table of settings, got 1"),
        ("vary.mask = []", "mask has no values"),
    ],
)
def test_a_file_that_is_none_is_refused(content: str, line: str, tmp_path: Path) -> None:
    (tmp_path / "it.toml").write_text(content)
    assert line in refused(lambda: make(read_file(tmp_path / "it.toml"), {}))


def test_the_sweeps_of_our_figures_are_understood() -> None:
    plans_of_figures = (ROOT / "benchmarks" / "sweeps").glob("*.toml")
    numbers = {path.stem: len(all_runs(make(read_file(path), {}))) for path in plans_of_figures}
    assert numbers == {"defaults": 480, "large": 60, "past": 100, "proof": 600, "sensitivity": 600, "unmasked": 40}


def test_what_resumes_a_sweep_names_nothing_else() -> None:
    assert refused(SweepConfig, resume=Path("it"), seeds="1").startswith("--resume takes the settings")
    assert refused(parse, SweepConfig, ["--cpus", "0"], "sweep").startswith("--cpus must be between 1 and ")
