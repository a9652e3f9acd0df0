"""A run's plots say what they show, and are made of any numbers that a run may have."""

import io

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.image import imread
from matplotlib.text import Text
from matplotlib.typing import ColorType

from selfplay.learning.metrics import LARGEST_NUMBER
from selfplay.learning.plots import CURVES, PROVED, VALUES, png, progress_figure, value_figure

EXACT = {"eval/first/win_vs_random": 0.9, "eval/optimal_fraction": 0.5, "loss/td": 1.0}
LINES = [{"plies": 100 * number, "eval/first/losses": 4 - number, **EXACT} for number in range(1, 5)]


def test_progress_is_named_and_says_where_the_proof_begins_beside_no_curve() -> None:
    figure = progress_figure(LINES, "plies", "dqn-3x3x3-7", {"mask": "True", "gamma": 0.9}, 2)
    figure.draw_without_rendering()
    assert figure.get_suptitle() == "dqn-3x3x3-7\nmask = True, gamma = 0.9"
    for axes in figure.axes:
        marks = [line.get_xdata() for line in axes.get_lines() if line.get_color() == PROVED]
        assert np.array(marks).tolist() == [[300, 300]]
        legend = axes.get_legend()
        assert legend is not None
        assert not any(legend.get_window_extent().overlaps(each.get_window_extent()) for each in figure.axes)
    _, optimal, against_random, _ = figure.axes
    for axes in (optimal, against_random):  # on one scale in all plots, however little a curve changes
        assert axes.get_ylim() == (-0.03, 1.03)
    unproved = progress_figure(LINES, "plies", "dqn-3x3x3-7", {}, None)
    assert unproved.get_suptitle().endswith("\nall settings at their defaults")
    assert not [line for axes in unproved.axes for line in axes.get_lines() if line.get_color() == PROVED]


def test_progress_is_plotted_of_the_largest_numbers_that_metrics_may_hold() -> None:
    large = {tag: int(LARGEST_NUMBER) for tag in LINES[0] if tag != "plies"}
    assert png(progress_figure([LINES[0], {"plies": 500, **large}], "plies", "it", {}, None)).startswith(b"\x89PNG")


def test_the_opening_frames_the_best_moves_on_the_scale_of_a_loss_and_a_win() -> None:
    values = np.full((3, 3), 1e-124)
    values[1, 1] = values[0, 2] = 2e-124
    axes = value_figure(values, "", "dqn").axes[0]
    assert axes.collections[0].get_clim() == (-1, 1)
    centres = {tuple(map(int, patch.get_center())) for patch in axes.patches}  # type: ignore[attr-defined]
    assert centres == {(1, 1), (2, 0)}
    assert value_figure(values, "", "td-value").axes[0].collections[0].get_clim() == (0, 1)


def luminance(colour: ColorType) -> float:
    """Return the relative luminance of a colour that has no dark parts, as the WCAG define it."""
    return float(((np.array(to_rgb(colour)) + 0.055) / 1.055) ** 2.4 @ (0.2126, 0.7152, 0.0722))


def test_pictures_are_transparent_and_readable_on_white_and_on_black() -> None:
    figure = progress_figure(LINES, "plies", "it", {}, 2)
    pixels = imread(io.BytesIO(png(figure)))
    assert (pixels[..., 3] == 0).mean() > 0.8
    texts = {text.get_color() for text in figure.findobj(Text) if text.get_text()}
    for colour in (*texts, *CURVES.by_key()["color"]):  # a contrast of 3 to white and to #131416
        assert 0.124 < luminance(colour) < 0.3
    assert min(luminance(VALUES(value)) for value in (0.0, 0.5, 1.0)) > 0.175  # one of 4.5 to black


@pytest.mark.parametrize("size", [(2, 2), (3, 3), (6, 5)])
def test_the_heading_of_the_opening_is_whole(size: tuple[int, int]) -> None:
    figure = value_figure(np.zeros(size), "Values of the opening, 10,000,000 plies", "dqn")
    figure.draw_without_rendering()
    heading, whole = figure.axes[0].title.get_window_extent(), figure.get_window_extent()
    assert whole.x0 <= heading.x0
    assert heading.y1 <= whole.y1


@pytest.mark.parametrize("values", [[1e308, -1e308], [np.inf, -np.inf], [np.nan, 1.0], [np.nan, np.nan]])
def test_the_opening_is_plotted_of_values_that_are_huge_or_no_numbers(values: list[float]) -> None:
    figure = value_figure(np.array([values]), "", "dqn")
    assert png(figure).startswith(b"\x89PNG")
    assert {len(text.get_text()) for text in figure.axes[0].texts} <= {4, 5, 6, 7}


def test_the_progress_of_games_shows_how_they_end_and_that_of_plies_the_loss() -> None:
    ends = {"games/first_wins": 0.5, "games/second_wins": 0.3, "games/draws": 0.2}
    games = progress_figure([{"games": 10, **ends}, {"games": 20, **ends}], "games", "a run", {}, None).axes[3]
    assert (games.get_title(), games.get_xlabel()) == ("Training games", "games")
    drawn = {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in games.get_lines()}
    assert drawn == {"first seat wins": [0.5, 0.5], "second seat wins": [0.3, 0.3], "draw": [0.2, 0.2]}
    plies = progress_figure([{"plies": 10, "loss/td": 0.1}], "plies", "a run", {}, None).axes[3]
    assert (plies.get_title(), plies.get_xlabel()) == ("TD loss in the last update", "plies")
    assert [plies.yaxis.get_major_formatter()(loss) for loss in (0.2, 5)] == ["0.2", "5"]


def test_what_is_not_known_of_a_player_is_said_instead_of_drawn() -> None:
    line = {"plies": 1_000, "loss/td": 0.1}
    known = line | {"eval/exploitability": 1.0, "eval/first/win_vs_random": 0.5}
    for metrics, notes in ((line, 1), (known, 0)):
        _, states, against_random, _ = progress_figure([metrics], "plies", "a run", {"mask": True}, None).axes
        assert len(states.texts) == len(against_random.texts) == notes


def test_a_single_evaluation_is_a_dot_of_every_curve() -> None:
    metrics = {"plies": 10, **EXACT, "eval/first/losses": 3, "eval/first/illegal": 2}
    figure = progress_figure([metrics], "plies", "a run", {}, None)
    assert {line.get_marker() for axes in figure.axes for line in axes.get_lines()} == {"."}
