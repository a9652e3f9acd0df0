"""What a person sees of a position: text, pixels, a window on SDL's dummy screen, and the keys for the cells."""

import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import gymnasium
import matplotlib as mpl
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from numpy.typing import NDArray
from pettingzoo.test import render_test

from tests.tictactoe.driver import TURN, VERSUS, Size
from tests.tictactoe.rule_book import EMPTY, MARKS, RuleBook, marks_of
from tictactoe import Rules, TicTacToeEnv, board_svg, game_svg, tictactoe_v0
from tictactoe.rendering.pixels import BAND, MARGIN, MARK_COLOURS, board_image, cell_pixels
from tictactoe.rendering.window import Window, release_keys

Image = NDArray[np.uint8]

WON = {
    "two lines": ((3, 3, 3), "XXX XOO XOO"),
    "one mark": ((2, 2, 1), "X. .."),
    "two runs in one row": ((1, 7, 3), "XXXOXXX"),
    "tall": ((6, 4, 4), "X.O. OX.. .OX. XXOX X..O O..X"),
    "large": ((9, 9, 5), "X.......O .X.....O. ..X...O.. ...X.O... ....X.... ......... X........ XX....... XXX......"),
}
X_WINS = [0, 3, 1, 4, 2]
X_MARKS, O_MARKS = 0b000000111, 0b000011000
IMAGE, WIDE_IMAGE = board_image(Rules(), X_MARKS, O_MARKS, 2), board_image(Rules(2, 5, 3), 0b1, 0b10)
TEXT = "[X][X][X]\n O  O  .\n .  .  .\n"


@pytest.fixture(autouse=True)
def quick_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(TicTacToeEnv.metadata, "render_fps", 500)
    yield
    pygame.quit()


def render(size: Size, text: str, last_cell: int | None = None) -> Image:
    board = tuple(text.replace(" ", ""))
    return board_image(Rules(*size), marks_of(board, "X"), marks_of(board, "O"), last_cell)


def cell_of(image: Image, rules: Rules, cell: int) -> Image:
    side = cell_pixels(rules)
    top, left = (MARGIN + place * side for place in divmod(cell, rules.cols))
    return image[top : top + side, left : left + side]


def share(image: Image, colour: tuple[int, int, int]) -> float:
    return float((image == colour).all(axis=-1).mean())


@pytest.mark.parametrize(
    ("cells", "text"),
    [
        ((0, 4, 1, 8), " X  X  .\n .  O  .\n .  . (O)\n"),
        ((0, 1, 2, 3, 4, 6, 5, 7, 8), "[X] O [X]\n O [X][X]\n O  O [X]\n"),
        ((0, 4, 4), " X  .  .\n . (O) .\n .  .  .\n"),
    ],
    ids=["last move", "two lines", "illegal"],
)
def test_text_marks_the_last_move_and_winning_lines(cells: tuple[int, ...], text: str) -> None:
    env = gymnasium.make(TURN, render_mode="ansi")
    env.reset()
    for cell in cells:
        env.step(cell)
    assert env.render() == text


def test_svg_has_the_marks_in_their_squares_and_no_ground() -> None:
    svg = ElementTree.fromstring(board_svg(Rules(2, 3, 2), 0b1001, 0b10, 1))
    parts = [f"{part.tag[28:]} {part.get('transform') or part.get('fill')}" for part in svg.iter()]
    assert "; ".join(parts) == (
        "svg none; "
        "g translate(0 0); rect #2e8b57; path None; g translate(1 0); rect #7b7b7b; circle None; "
        "g translate(2 0); rect none; g translate(0 1); rect #2e8b57; path None; "
        "g translate(1 1); rect none; g translate(2 1); rect none"
    )
    assert svg.get("fill-opacity") == ".25"
    assert repr(game_svg(Rules(1, 2, 2), (1, 0, 0))) == " . (X)\n\n(O) X\n\n(O) X"  # a taken cell keeps its mark


@pytest.mark.parametrize("size", [(1, 1, 1), (3, 4, 3), (15, 15, 5), (2, 80, 3)], ids=str)
def test_the_last_move_alone_is_tinted_and_images_have_even_sides(size: Size) -> None:
    rules = Rules(*size)
    last = rules.cells // 2
    plain, tinted = (board_image(rules, 1 << last, 0, cell) for cell in (None, last))
    changed = (plain != tinted).any(axis=-1, keepdims=True)
    assert cell_of(changed, rules, last).sum() == changed.sum()
    assert cell_of(changed, rules, last).mean() > 0.1
    assert [side % 2 for side in plain.shape[:2]] == [0, 0]


def test_cells_shrink_so_that_large_boards_fit_the_screen() -> None:
    sides = [board_image(Rules(side, 3, 3), 0, 0).shape[0] for side in (3, 5, 7, 15, 40)]
    assert sides == [320, 512, 662, 662, 672]


@pytest.mark.parametrize("name", WON)
def test_bands_lie_behind_the_marks_of_winning_lines(name: str) -> None:
    size, text = WON[name]
    rules, board = Rules(*size), tuple(text.replace(" ", ""))
    won = {cell for mark in MARKS for line in RuleBook(*size).complete_lines(board, mark) for cell in line}
    image = render(size, text)
    quarter = cell_pixels(rules) // 4  # a band on a diagonal crosses corners of other cells, not their middles
    for cell, mark in enumerate(board):
        seen = cell_of(image, rules, cell)
        band = share(seen[quarter:-quarter, quarter:-quarter], BAND)
        assert band > 0.2 if cell in won else band == 0, cell
        if mark != EMPTY:
            alone = cell_of(render(size, mark + EMPTY * (rules.cells - 1)), rules, 0)
            inked = (alone == MARK_COLOURS[MARKS.index(mark)]).all(axis=-1)
            assert inked.mean() > 0.05
            np.testing.assert_array_equal(seen[inked], alone[inked])


def shown() -> np.ndarray:
    """Return the pixels of the window on the screen, [height, width, 3]."""
    surface = pygame.display.get_surface()
    assert surface is not None
    return pygame.surfarray.array3d(surface).swapaxes(0, 1)


def single(api: str, render_mode: str | None) -> Any:
    """Return an environment of one board, before its first game."""
    if api == "PettingZoo":
        return tictactoe_v0.env(render_mode=render_mode)
    env: Any = gymnasium.make(api, render_mode=render_mode)
    if api == VERSUS:
        env.unwrapped.set_opponent(lambda _, action_mask: 3 if action_mask[3] else 4)
    return env


@pytest.mark.parametrize("api", [TURN, VERSUS, "PettingZoo"])
def test_every_environment_of_one_board_renders_alike(api: str) -> None:
    for mode, expected in (("ansi", TEXT), ("rgb_array", IMAGE), ("human", IMAGE)):
        env = single(api, mode)
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before render\(\)"):
            env.render()
        env.reset(seed=0)
        for cell in X_WINS[:: 2 if api == VERSUS else 1]:
            env.step(cell)
        drawing = shown() if mode == "human" else env.render()  # a window needs no call of render()
        np.testing.assert_array_equal(drawing, expected)
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()


@pytest.mark.parametrize("api", [TURN, "PettingZoo", "vector"])
def test_rendering_without_a_mode_warns_and_returns_nothing(api: str) -> None:
    env: Any = gymnasium.make_vec(TURN, num_envs=2) if api == "vector" else single(api, None)
    env.reset()
    with pytest.warns(UserWarning, match=r"render\(\) shows nothing without a mode"):
        assert env.render() is None


def test_the_libraries_own_tests_of_rendering_pass() -> None:
    for env_id in (TURN, VERSUS):
        check_env(gymnasium.make(env_id).unwrapped)
    render_test(tictactoe_v0.env)


def test_an_image_stays_for_its_frame_and_no_event_cuts_it_short(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.0, 10.1, 10.3, 10.6])
    # Not of the module itself, whose clock other threads of the tests read too.
    monkeypatch.setattr("tictactoe.rendering.window.time", SimpleNamespace(monotonic=lambda: next(clock)))
    waits = []

    def wait(milliseconds: int) -> pygame.event.Event:
        waits.append(milliseconds)
        return pygame.event.Event(pygame.MOUSEMOTION)

    monkeypatch.setattr(pygame.event, "wait", wait)
    Window().show(IMAGE, fps=2)
    assert waits == pytest.approx([500, 400, 200], abs=1)


def test_windows_share_the_screen_and_the_user_can_close_it() -> None:
    first, second, silent = Window(), Window(), Window()
    first.show(IMAGE, fps=1000)
    silent.close()
    np.testing.assert_array_equal(shown(), IMAGE)
    second.show(WIDE_IMAGE, fps=1000)
    np.testing.assert_array_equal(shown(), WIDE_IMAGE)
    second.close()
    first.show(IMAGE[::-1], fps=1000)
    np.testing.assert_array_equal(shown(), IMAGE[::-1])
    assert pygame.display.get_caption()[0] == "Tic-tac-toe"
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    for _ in range(2):
        first.show(IMAGE, fps=1000)
        assert not pygame.display.get_init()
    first.close()


def test_without_pygame_or_a_screen_the_message_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    with pytest.raises(RuntimeError, match=r"no_such_driver.*'rgb_array' or 'ansi'"):
        Window().show(IMAGE, fps=1000)
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=r"^.*pip install 'pygame-ce>=2\.5'.*$"):
        Window()


class Person:
    """Hold each key down for some frames, and close the window at the end, in place of the clock of the frames."""

    def __init__(self, keys: list[str], frames: int) -> None:
        self.script: list[list[tuple[int, str]]] = []
        for pressed in keys:
            of_kind = ([(kind, key) for key in pressed] for kind in (pygame.KEYDOWN, pygame.KEYUP))
            self.script += [next(of_kind), *[[]] * (frames - 1), next(of_kind)]

    def tick(self, fps: int) -> None:
        del fps
        for kind, key in self.script.pop(0) if self.script else [(pygame.QUIT, "q")]:
            pygame.event.post(pygame.event.Event(kind, key=ord(key)))


@pytest.mark.parametrize("frames", [1, 5])
@pytest.mark.parametrize(
    ("env_id", "settings", "keys", "actions"),
    [
        (TURN, {}, ["1", "5", "2", "9", "3"], [0, 4, 1, 8, 2]),
        (TURN, {}, ["5", "67"], [4, 0]),  # of two keys at once Gymnasium knows nothing
        (VERSUS, {"opponent": "heuristic"}, ["5"], [4]),
        (TURN, {"rows": 5, "cols": 5, "k": 4}, ["9", "0", "a", "o", "p"], [8, 9, 10, 24]),  # there is no 26th cell
    ],
)
def test_a_key_marks_its_cell_once_however_long_it_is_held(
    env_id: str,
    settings: dict[str, Any],
    keys: list[str],
    actions: list[int],
    frames: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(mpl, "use", lambda _: None)  # `play` asks for Tk, which no machine without a screen has
    from gymnasium.utils.play import play  # noqa: PLC0415 (only with the line above)

    monkeypatch.setattr(pygame.time, "Clock", lambda: Person(keys, frames))
    played = []

    def callback(*step: Any) -> None:
        played.append(step[2])
        release_keys(*step)

    play(gymnasium.make(env_id, render_mode="rgb_array", **settings), callback=callback, wait_on_player=True)
    assert played == actions


def test_a_board_of_more_cells_than_keys_says_what_to_do() -> None:
    keys = TicTacToeEnv(6, 6, 4).get_keys_to_action()
    assert len(keys) == 36
    assert keys[ord("z"),] == 35
    with pytest.raises(ValueError, match=r"^.* up to 36 cells and this one has 42: .* keys_to_action=$"):
        TicTacToeEnv(6, 7, 4).get_keys_to_action()
