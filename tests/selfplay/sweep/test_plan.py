"""Plans of sweeps: combinations, names, search spaces, and mistakes."""

from pathlib import Path
from typing import Any

import pytest

from selfplay.cli.sweep import SweepConfig
from selfplay.errors import UserError
from selfplay.sweep import plan as plans
from selfplay.sweep.plan import Plan, Range, all_runs, parse_seeds, search_space
from tictactoe import Rewards


def names(**flags: Any) -> list[str]:
    return [run.name for run in all_runs(Plan(**flags))]


def test_every_combination_has_a_run_named_by_what_differs() -> None:
    assert names(seeds="3..4", set=("total_steps=20000",), vary=("mask=true,false", "learning-rate=0.006,0.012")) == [
        f"mask={mask},learning_rate={rate},seed={seed}"
        for seed in (3, 4)
        for mask in ("true", "false")
        for rate in ("0.006", "0.012")
    ]


def test_each_is_tried_by_itself_and_equal_settings_are_trained_once() -> None:
    runs = all_runs(Plan(seeds="0", each=("double=true", "hidden=256,64x32", "symmetry=none")))
    assert [run.setting for run in runs] == ["default", "double=true", "hidden=64x32", "symmetry=none"]
    assert runs[2].config.hidden == (64, 32)  # type: ignore[union-attr]
    assert names(seeds="0", each=("mask=true",), vary=("counterexamples=0.5,0",)) == [
        "counterexamples=0.5,seed=0",
        "counterexamples=0.0,seed=0",
        "counterexamples=0.5,mask=true,seed=0",
        "counterexamples=0.0,mask=true,seed=0",
    ]


def test_rewards_and_the_board_are_varied_like_other_settings() -> None:
    runs = all_runs(Plan(seeds="0", vary=("rewards=sparse,illegal=-5,draw=0.5:loss=-1",)))
    assert [run.config.rewards for run in runs] == ["sparse", Rewards(illegal=-5), Rewards(draw=0.5, loss=-1)]  # type: ignore[union-attr]
    assert len({run.name for run in runs}) == 3
    boards = all_runs(Plan(seeds="0", set=("cols=3",), vary=("rows=3,4",)))
    assert [(run.name, run.config.preset) for run in boards] == [  # type: ignore[union-attr]
        ("rows=3,seed=0", "default"),
        ("rows=4,seed=0", "large"),
    ]


def test_every_run_has_the_settings_of_all() -> None:
    configs = [run.config for run in all_runs(Plan("minimax-q", seeds="7", set=("games=500",), vary=("gamma=0.8,1",)))]
    assert [(config.seed, config.games, config.gamma) for config in configs] == [(7, 500, 0.8), (7, 500, 1)]  # type: ignore[union-attr]


def test_the_name_of_a_run_is_one_folder_that_no_other_run_has() -> None:
    long = names(seeds="0", vary=(f"hidden={'64x' * 60}64,{'64x' * 60}32",))
    outside = names(algorithm="minimax-q", seeds="0", vary=("from_table=../../a,../../b",))
    for pair in (long, outside):
        assert len(set(pair)) == 2
        assert all(len(name) < 200 and Path(name).name == name for name in pair)


@pytest.mark.parametrize(("words", "seeds"), [("0..2", [0, 1, 2]), ("1, 5,7..8", [1, 5, 7, 8]), ("4", [4])])
def test_seeds_are_read(words: str, seeds: list[int]) -> None:
    assert parse_seeds(words) == seeds


@pytest.mark.parametrize("words", ["", "3..1", "a", "0..3,2", "-1", "1.5", "0..99999999999", "9" * 5_000])
def test_other_seeds_are_refused(words: str) -> None:
    with pytest.raises(UserError, match="seeds"):
        parse_seeds(words)


@pytest.mark.parametrize(
    ("flags", "name"),
    [
        ({"algorithm": "go"}, "go"),
        ({"vary": ("sed=1,2",)}, "sed"),
        ({"vary": ("seed=1,2",)}, "seed"),
        ({"set": ("run-dir=x",)}, "run_dir"),
        ({"vary": ("mask",)}, "vary"),
        ({"set": ("mask=true",), "each": ("mask=false",)}, "mask"),
        ({"vary": ("mask=yes,no",)}, "mask=yes"),
        ({"vary": ("batch_size=32,-1",)}, "batch_size=-1"),
        ({"vary": ("learning_rate=0.1..1",)}, "learning_rate"),
        ({"set": ("rewards=sprase",)}, "sparse"),
        ({"set": ("rewards=allow=0,loss=-1",)}, "rewards"),
        ({"search": 2, "vary": ("rewards=illegal=-9..-1",)}, "rewards"),
        ({"search": 2, "vary": ("learning_rate=1..0.1",)}, "learning_rate"),
        ({"vary": ("learning_rate=0.1..0.2",)}, "--search"),
        ({"search": 2, "vary": ("learning_rate=0.1..1e999",)}, "learning_rate"),
        ({"search": 2, "vary": ("batch_size=1.5..3",)}, "batch_size"),
        ({"search": 2, "vary": ("mask=true,maybe",)}, "mask=maybe"),
        ({"search": 2, "vary": ("hidden=16..32",)}, "hidden"),
        ({"search": 2, "vary": ("mask=false..true",)}, "mask"),
        ({"search": 2}, "vary"),
        ({"search": 2, "vary": ("gamma=0.1..0.9",), "each": ("mask=true",)}, "each"),
        ({"objective": "speed"}, "objective"),
    ],
)
def test_a_mistake_is_named(flags: dict[str, Any], name: str) -> None:
    with pytest.raises(UserError, match=name):
        (search_space if "search" in flags else all_runs)(Plan(**flags))


def test_a_search_samples_from_ranges_and_values() -> None:
    space = search_space(Plan(search=5, vary=("gamma=0..1", "batch_size=64..1e3", "hidden=16,32x16")))
    assert space == {"gamma": Range(0, 1), "batch_size": Range(64, 1_000), "hidden": ["16", "32x16"]}
    ends = [*space["gamma"], *space["batch_size"]]
    assert [type(end) for end in ends] == [float, float, int, int]  # so that fractions are sampled, or integers


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = Plan("minimax-q", "5..7", ("games=500",), ("gamma=0.8,1",), ("alpha=0.2",), 0, "updates")
    plans.write(plan, tmp_path)
    assert plans.read(tmp_path) == plan


@pytest.mark.parametrize(
    "content",
    [
        None,
        "{",
        '{"seeds": "3..1"}',
        '{"sets": []}',
        '{"set": ["gamma=2"]}',
        '{"vary": ["sed=1"]}',
        '{"search": 2, "vary": ["k=3..1"]}',
    ],
)
def test_a_plan_that_cannot_be_carried_out_is_refused_with_its_file(content: str | None, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "sweep.json").write_text(content)
    with pytest.raises(UserError, match=str(tmp_path / "sweep.json")):
        plans.read(tmp_path)


def test_what_resumes_a_sweep_names_nothing_else() -> None:
    with pytest.raises(UserError, match="resume"):
        SweepConfig(resume=Path("it"), seeds="1")
