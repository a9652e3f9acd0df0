"""A run's plots show the numbers of the run, and are made of any numbers that a run may have."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from selfplay.dqn.config import DQNConfig
from selfplay.plot_style import PROVED
from selfplay.runs.metrics import evaluation_metrics
from selfplay.runs.result import Run, earlier_records
from selfplay.tabular.config import MinimaxQConfig
from selfplay.verdicts import evaluate

BEATEN, PROOF = (evaluation_metrics(evaluate(name)) for name in ("random", "optimal"))


def figure_of(lines: list[dict[str, Any]], config: Any = None) -> Figure:
    config = config or DQNConfig(seed=7, mask=True, gamma=0.9)
    return Run(config, Path("runs") / "it", earlier_records(lines, config)).plot()


def curves(axes: Axes) -> dict[str, list[list[float]]]:
    """Return the steps and the numbers of each curve of a panel, by its label."""
    return {
        str(line.get_label()): [np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()]
        for line in axes.get_lines()
        if line.get_color() != PROVED
    }


def lines_of(
    *evaluations: Mapping[str, float], unit: str = "plies", more: Mapping[str, float] = MappingProxyType({})
) -> list[dict[str, Any]]:
    return [{unit: 100 * number, **each, **more} for number, each in enumerate(evaluations, start=1)]


def test_the_curves_are_the_numbers_of_the_run_and_the_proof_begins_with_the_final_streak() -> None:
    lines = lines_of(PROOF, BEATEN, PROOF, PROOF, more={"loss/td": 0.25})
    figure = figure_of(lines)
    ways, optimal, against_random, learning = figure.axes
    steps = [100, 200, 300, 400]
    for axes, label, tag in (
        (ways, "all", "eval/ways_to_beat"),
        (ways, "by a line, first seat", "exact/first/losses"),
        (ways, "by a line, second seat", "exact/second/losses"),
        (ways, "illegal move, second seat", "exact/second/illegal"),
        (optimal, "optimal", "eval/optimal_fraction"),
        (against_random, "first seat", "exact/first/win_vs_random"),
        (against_random, "second seat", "exact/second/win_vs_random"),
        (learning, "TD loss", "loss/td"),
    ):
        assert curves(axes)[label] == [steps, [line[tag] for line in lines]]
    for axes in figure.axes:
        marks = [line.get_xdata() for line in axes.get_lines() if line.get_color() == PROVED]
        assert np.array(marks).tolist() == [[300, 300]]
    assert all(each[0] < 0 for each in (ways.get_ylim(), optimal.get_ylim(), against_random.get_ylim()))  # whole dots
    heading = figure.get_suptitle()
    assert all(name in heading for name in ("it", "mask", "gamma"))
    unproved = figure_of(lines_of(PROOF, BEATEN))
    assert not [line for axes in unproved.axes for line in axes.get_lines() if line.get_color() == PROVED]


def test_the_games_of_a_tabular_run_are_shown_by_how_they_end() -> None:
    ends = {"games/first_wins": 0.5, "games/second_wins": 0.3, "games/draws": 0.2}
    panel = figure_of(lines_of(BEATEN, BEATEN, unit="games", more=ends), MinimaxQConfig()).axes[3]
    assert {label.split()[0]: curve for label, curve in curves(panel).items()} == {
        "first": [[100, 200], [0.5, 0.5]],
        "second": [[100, 200], [0.3, 0.3]],
        "draw": [[100, 200], [0.2, 0.2]],
    }
