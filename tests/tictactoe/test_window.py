"""Open windows with SDL's dummy driver, which draws but shows nothing."""

import sys
from collections.abc import Iterator

import gymnasium
import numpy as np
import pygame
import pytest

from tests.tictactoe.shared import shown
from tictactoe import Rules
from tictactoe.rendering.pixels import board_image
from tictactoe.rendering.window import Window

FPS = 1000
IMAGE = board_image(Rules(), 0b111, 0b11000, 2)
WIDE_IMAGE = board_image(Rules(2, 5, 3), 0b1, 0b10)


@pytest.fixture(autouse=True)
def closed_at_the_end() -> Iterator[None]:
    yield
    pygame.display.quit()


def test_the_window_shows_the_picture_under_its_title() -> None:
    Window("Tic-tac-toe").show(IMAGE, FPS)
    np.testing.assert_array_equal(shown(), IMAGE)
    assert pygame.display.get_caption()[0] == "Tic-tac-toe"


def test_the_window_follows_new_pictures_and_their_sizes() -> None:
    window = Window("Tic-tac-toe")
    for image in (IMAGE, IMAGE[::-1], WIDE_IMAGE):
        window.show(image, FPS)
        np.testing.assert_array_equal(shown(), image)


def test_a_picture_stays_for_its_frame_and_no_event_cuts_it_short(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([10.0, 10.0, 10.1, 10.3, 10.6])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    waits = []

    def wait(milliseconds: int) -> pygame.event.Event:
        waits.append(milliseconds)
        return pygame.event.Event(pygame.MOUSEMOTION)

    monkeypatch.setattr(pygame.event, "wait", wait)
    Window("Tic-tac-toe").show(IMAGE, fps=2)
    assert waits == pytest.approx([500, 400, 200], abs=1)


def test_once_the_user_closes_the_window_nothing_is_drawn() -> None:
    window = Window("Tic-tac-toe")
    window.show(IMAGE, FPS)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(IMAGE, FPS)
    assert not pygame.display.get_init()
    window.show(IMAGE, FPS)
    assert not pygame.display.get_init()
    window.close()


@pytest.mark.parametrize("pictures", [0, 1])
def test_close_closes_and_may_be_called_again(pictures: int) -> None:
    window = Window("Tic-tac-toe")
    for _ in range(pictures):
        window.show(IMAGE, FPS)
    assert pygame.display.get_init() == bool(pictures)
    for _ in range(2):
        window.close()
        assert not pygame.display.get_init()


def test_a_window_outlives_the_closing_of_another() -> None:
    first, second = Window("first"), Window("second")
    first.show(IMAGE, FPS)
    second.show(WIDE_IMAGE, FPS)
    second.close()
    first.show(IMAGE, FPS)
    np.testing.assert_array_equal(shown(), IMAGE)


def test_closing_a_window_that_never_opened_leaves_the_others_alone() -> None:
    shown_one, silent = Window("shown"), Window("silent")
    shown_one.show(IMAGE, FPS)
    silent.close()
    np.testing.assert_array_equal(shown(), IMAGE)


def test_without_pygame_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(gymnasium.error.DependencyNotInstalled, match=r"^.*pip install 'pygame-ce>=2\.5'.*$"):
        Window("Tic-tac-toe")


def test_without_a_screen_the_message_names_the_other_modes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SDL_VIDEODRIVER", "no_such_driver")
    with pytest.raises(RuntimeError, match=r"no_such_driver.*'rgb_array' or 'ansi'"):
        Window("Tic-tac-toe").show(IMAGE, FPS)
