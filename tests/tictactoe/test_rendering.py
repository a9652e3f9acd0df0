"""What a person sees of a position: text, SVG, pixels, and a window on SDL's dummy screen."""

import copy
import pickle
import sys
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from tests.tictactoe.driver import TURN, VERSUS
from tests.tictactoe.rule_book import MARKS, RuleBook, marks_of
from tictactoe import Rules, TicTacToeEnv, TicTacToeVersusEnv, board_svg, game_svg, tictactoe_v0
from tictactoe.rendering import RENDER_MODES
from tictactoe.rendering.pixels import LINE_TINT, MARGIN, MARK_COLOURS, TINT, board_image, cell_pixels
from tictactoe.rendering.window import Window

X_WINS = [0, 3, 1, 4, 2]
IMAGE = board_image(Rules(), 0b000000111, 0b000011000, 2)
TEXT = "[X][X][X]\n O  O  .\n .  .  .\n"


@pytest.fixture(autouse=True)
def quick_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(TicTacToeEnv.metadata, "render_fps", 500)
    yield
    pygame.quit()


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((0, 4, 1, 8), " X  X  .\n .  O  .\n .  . (O)\n"),
        ((0, 1, 2, 3, 4, 6, 5, 7, 8), "[X] O [X]\n O [X][X]\n O  O [X]\n"),
        ((0, 4, 4), " X  .  .\n . (O) .\n .  .  .\n"),
    ],
    ids=["last move", "two lines", "illegal"],
)
def test_text_marks_the_last_move_and_lines(cells: tuple[int, ...], text: str) -> None:
    env = gymnasium.make(TURN, render_mode="ansi")
    env.reset()
    for cell in cells:
        env.step(cell)
    assert env.render() == text


def test_svg_has_the_marks_in_their_squares() -> None:
    svg = ElementTree.fromstring(board_svg(Rules(2, 3, 2), 0b1001, 0b10, 1))
    squares = [[part.tag[28:] for part in group][1:] for group in svg]
    assert squares == [["path"], ["circle"], [], ["path"], [], []]
    numbered = board_svg(Rules(3, 4, 3), 0b1001, 0b10, 1, numbers=True)
    assert repr(numbered) == " X (O) 2  X\n 4  5  6  7\n 8  9 10 11"
    texts = [group.findtext("{*}text") for group in ElementTree.fromstring(numbered)]
    assert texts == [None, None, "2", None, *map(str, range(4, 12))]
    assert repr(game_svg(Rules(1, 2, 2), (1, 0, 0))) == " . (X)\n\n(O) X\n\n(O) X"  # a taken cell keeps its mark


@pytest.mark.parametrize(
    ("size", "text", "last_cell"),
    [
        ((3, 3, 3), "XXX XOO XOO", 0),
        ((2, 2, 1), "X. ..", 0),
        ((6, 4, 4), "X.O. OX.. .OX. XXOX X..O O..X", 3),
        ((3, 4, 3), "XO.. .... ....", 1),
        ((2, 80, 3), "." * 159 + "X", 159),
    ],
    ids=str,
)
def test_an_image_shows_every_mark_the_last_move_and_lines(
    size: tuple[int, int, int], text: str, last_cell: int
) -> None:
    rules, book, board = Rules(*size), RuleBook(*size), tuple(text.replace(" ", ""))
    on_lines = {cell for mark in MARKS for line in book.complete_lines(board, mark) for cell in line}
    image = board_image(rules, marks_of(board, "X"), marks_of(board, "O"), last_cell)
    side = cell_pixels(rules)
    assert [length % 2 for length in image.shape[:2]] == [0, 0]
    for cell, mark in enumerate(board):
        top, left = (MARGIN + place * side for place in divmod(cell, rules.cols))
        seen = image[top : top + side, left : left + side].reshape(-1, 3).tolist()
        on_line, last = cell in on_lines, cell == last_cell and cell not in on_lines
        colours = [list(colour) in seen for colour in (LINE_TINT, TINT, *MARK_COLOURS)]
        assert colours == [on_line, last, mark == "X", mark == "O"]


def shown() -> np.ndarray:
    """Return the pixels of the window on the screen, [height, width, 3]."""
    surface = pygame.display.get_surface()
    assert surface is not None
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


def three_or_four(_: Any, action_mask: Any) -> int:
    return 3 if action_mask[3] else 4


@pytest.mark.parametrize("mode", RENDER_MODES)
@pytest.mark.parametrize("make", [TicTacToeEnv, TicTacToeVersusEnv, tictactoe_v0.env])
def test_every_environment_of_one_board_renders_alike(make: Any, mode: str) -> None:
    env = make(render_mode=mode)
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.render()
    if make is TicTacToeVersusEnv:
        env.set_opponent(three_or_four)
    env.reset(seed=0)
    for cell in X_WINS[:: 2 if make is TicTacToeVersusEnv else 1]:
        env.step(cell)
    drawing = shown() if mode == "human" else env.render()  # a window needs no call of render()
    np.testing.assert_array_equal(drawing, TEXT if mode == "ansi" else IMAGE)
    copied = pickle.loads(pickle.dumps(copy.deepcopy(env)))
    copied.reset(seed=0)
    assert mode != "human" or (shown() != IMAGE).any()  # a copy draws as well
    env.close()
    assert not pygame.display.get_init()


@pytest.mark.parametrize(
    ("env_id", "settings"),
    [
        (TURN, {"perspective": "mover"}),
        (TURN, {"rows": 4, "cols": 6, "k": 4, "dict_observation": True}),
        (VERSUS, {}),
        (VERSUS, {"opponent": "optimal", "seat": "random"}),
    ],
    ids=str,
)
def test_gymnasiums_checker_passes(env_id: str, settings: dict[str, Any]) -> None:
    check_env(gymnasium.make(env_id, **settings).unwrapped)  # a warning would be an error here


def test_pettingzoos_test_of_rendering_passes() -> None:
    render_test(tictactoe_v0.env)


def test_without_pygame_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match="pygame"):
        Window()
