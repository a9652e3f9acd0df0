"""A search without Ray: which settings continue, and how an interrupted one does."""

from pathlib import Path

import pytest

pytest.importorskip("optuna", reason="the extra `sweep` is not installed")
from selfplay.errors import UserError
from selfplay.sweep.plan import Plan, PlannedRun, Range, search_space
from selfplay.sweep.sampled_search import LOG, SampledSearch, sampled_value
from selfplay.sweep.sweep_results import PROVED, UNPROVED, SweepResult

PLAN = Plan(seeds="0..3", search=12, vary=("learning_rate=0.001..0.1", "hidden=64x32,16"))


def search_in(folder: Path, plan: Plan = PLAN) -> SampledSearch:
    return SampledSearch(plan, search_space(plan), folder)


def result_of(run: PlannedRun) -> SweepResult:
    """Return a result that is the better, the nearer the learning rate is to 0.01; some runs are not proved."""
    distance = abs(run.config.learning_rate - 0.01)  # type: ignore[union-attr]
    end = PROVED if distance < 0.05 else UNPROVED
    return SweepResult(run.name, run.setting, run.config.seed, end, steps=int(1e6 * distance))


def train(search: SampledSearch, most: int = 1_000) -> list[PlannedRun]:
    """Have at most so many runs of a search end, two at work at a time, and return them."""
    ended: list[PlannedRun] = []
    at_work: list[PlannedRun] = []
    while len(ended) < most:
        while len(at_work) < 2 and (run := search.next_run()):
            at_work.append(run)
        if not at_work:
            break
        run = at_work.pop(0)
        search.ended(run, result_of(run))
        ended.append(run)
    return ended


@pytest.mark.parametrize(("steps", "continues"), [(20, True), (35, False)])
def test_the_best_third_of_six_settings_continues(steps: int, continues: bool, tmp_path: Path) -> None:
    search = search_in(tmp_path)
    *others, last = [run for run in (search.next_run() for _ in range(6)) if run]
    for run, steps_of_other in zip(others, (10, 30, 40, 50, 60), strict=True):
        search.ended(run, result_of(run)._replace(end=PROVED, steps=steps_of_other))
    search.ended(last, result_of(last)._replace(end=PROVED, steps=steps))
    assert (last.setting in search.trials) == continues


def test_an_interrupted_search_continues_with_what_it_was_training(tmp_path: Path) -> None:
    first = search_in(tmp_path)
    begun = train(first, most=7)
    unfinished = set(first.trials)
    assert unfinished
    second = train(search_in(tmp_path))
    assert unfinished <= {run.setting for run in second}
    assert len({run.setting for run in begun + second}) == 12
    assert train(search_in(tmp_path)) == []


def test_a_search_space_that_is_exhausted_ends_a_search(tmp_path: Path) -> None:
    plan = Plan(seeds="0", search=9, vary=("learning_rate=0.01,0.02",))
    assert {run.setting for run in train(search_in(tmp_path, plan))} == {"learning_rate=0.01", "learning_rate=0.02"}


def test_a_sampled_value_is_short_and_within_its_range() -> None:
    assert sampled_value(0.0123456, Range(0.001, 0.1)) == 0.0123
    assert sampled_value(0.123412, Range(0.12341, 0.12344)) == 0.12341
    assert sampled_value(0.123638, Range(0.12361, 0.12364)) == 0.12364
    assert sampled_value(12_345, Range(1, 100_000)) == 12_345
    assert sampled_value("true", ["true", "false"]) is True


def test_nothing_is_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / LOG).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match=LOG):
        search_in(tmp_path)
    assert not (tmp_path / "elsewhere").exists()
