"""The curve behind the time bar is made of the evaluations that the run has written."""

import json
from itertools import pairwise
from pathlib import Path

import pytest

from selfplay.judge.verdict import SeatVerdict, Verdict
from selfplay.runs.folder import METRICS
from selfplay.runs.metrics import evaluation_metrics
from selfplay.web.history import MOST_POINTS, history
from tests.runs import saved

VERDICT = Verdict(
    SeatVerdict(losses=3, illegal=0, best_response=-1), SeatVerdict(losses=4, illegal=2, best_response=-1)
)
UNFINISHED = Verdict(VERDICT.first, SeatVerdict(losses=10, illegal=1, plies=5, positions=100))


def line(steps: int, verdict: Verdict = VERDICT) -> str:
    return json.dumps({"plies": steps, "time/training_s": 0.5, **evaluation_metrics(verdict)}) + "\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    saved(tmp_path / "run")
    return tmp_path / "run"


def test_a_point_has_the_ways_to_beat_in_both_seats_or_those_found_so_far(run: Path) -> None:
    assert history(run) == []
    (run / METRICS).write_text(line(70) + line(71, UNFINISHED))
    assert history(run) == [{"steps": 70, "ways": 9, "exact": True}, {"steps": 71, "ways": 14, "exact": False}]


@pytest.mark.parametrize("count", [1, MOST_POINTS, MOST_POINTS + 1, 2 * MOST_POINTS + 3])
def test_of_many_points_some_are_returned_evenly_with_the_last(count: int, run: Path) -> None:
    (run / METRICS).write_text("".join(line(steps) for steps in range(count)))
    steps = [point["steps"] for point in history(run)]
    assert min(count, MOST_POINTS // 2) <= len(steps) <= MOST_POINTS
    assert steps[-1] == count - 1
    assert len({after - before for before, after in pairwise(steps)}) <= 1
