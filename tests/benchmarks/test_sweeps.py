"""The sweeps behind our figures, and the picture of the targets."""

from typing import Any

import numpy as np
import pytest

from benchmarks.sweeps import evidence, targets
from benchmarks.sweeps.__main__ import SWEEPS
from selfplay.cli.flags import parse
from selfplay.cli.sweep import SweepConfig
from selfplay.sweep.plan import all_runs


@pytest.mark.parametrize(("name", "runs"), [("defaults", 15 * 28), ("proof", 100 * 3)])
def test_the_sweeps_of_our_figures_are_understood(name: Any, runs: int) -> None:
    assert len(all_runs(parse(SweepConfig, SWEEPS[name].split(), "selfplay sweep"))) == runs


def test_the_settings_of_a_control_are_saved_as_flags_have_them() -> None:
    plan = parse(SweepConfig, ["--set", "hidden=64x32", "--each", "mask=true", "--seeds", "7"], "selfplay sweep")
    settings = evidence.control(plan)
    assert (settings["hidden"], settings["mask"], settings["rows"], settings["seed"]) == ("64x32", "false", "3", "7")


def test_the_picture_of_the_targets_shows_every_run_and_the_median() -> None:
    of_article = [[(10, games), (20, games)] for games in (300, 200, 700)]
    [axes] = targets.plot({"default": [[(10, 5), (20, 0)], [(10, 1)]], "target=article": of_article}).axes
    thick = [line.get_xydata() for line in axes.get_lines() if line.get_linewidth() > 1]
    assert len(axes.get_lines()) == 7
    assert np.array(thick).tolist() == [[[10, 3], [20, 0]], [[10, 300], [20, 300]]]
