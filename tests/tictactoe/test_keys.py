"""Play by keys in Gymnasium's own window, which SDL's dummy driver draws but does not show."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import matplotlib as mpl
import pygame
import pytest

from tests.tictactoe.shared import TURN, VERSUS
from tictactoe import TicTacToeEnv


def down(key: str) -> list[pygame.event.Event]:
    return [pygame.event.Event(pygame.KEYDOWN, key=ord(key))]


def up(key: str) -> list[pygame.event.Event]:
    return [pygame.event.Event(pygame.KEYUP, key=ord(key))]


NOTHING: list[pygame.event.Event] = []
CLOSED = [pygame.event.Event(pygame.QUIT)]


class Seen:
    """Hold what `play` hands to its callback after every step."""

    def __init__(self) -> None:
        self.actions: list[int] = []
        self.infos: list[dict[str, Any]] = []

    def __call__(self, *step: Any) -> None:
        self.actions.append(step[2])
        self.infos.append(step[6])


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that plays frame after frame of events, and returns what each step did."""
    monkeypatch.setattr(mpl, "use", lambda _: None)  # the module asks for Tk, which no machine without a screen has
    from gymnasium.utils import play as module  # noqa: PLC0415 (only with the line above)

    def played(env: Any, frames: list[list[pygame.event.Event]]) -> Seen:
        events, seen = iter(frames), Seen()
        monkeypatch.setattr(pygame.event, "get", lambda: next(events))
        module.play(env, fps=1000, callback=seen, seed=0, wait_on_player=True)
        assert list(events) == []
        return seen

    yield played
    pygame.quit()


def test_keys_mark_cells_in_reading_order_and_no_key_marks_none(play: Any) -> None:
    frames = [NOTHING] * 5
    for key in "15293":  # X marks the top row
        frames += [down(key), up(key), NOTHING]
    seen = play(gymnasium.make(TURN, render_mode="rgb_array"), [*frames, CLOSED])
    assert seen.actions == [0, 4, 1, 8, 2]
    assert [int(info["winner"]) for info in seen.infos] == [-1, -1, -1, -1, 0]


def test_the_opponent_answers_each_key(play: Any) -> None:
    env = gymnasium.make(VERSUS, opponent="heuristic", render_mode="rgb_array")
    seen = play(env, [NOTHING, down("5"), up("5"), NOTHING, CLOSED])
    assert seen.actions == [4]
    assert seen.infos[0]["action_mask"].sum() == 7


def test_letters_follow_the_digits_on_larger_boards(play: Any) -> None:
    frames = [NOTHING]
    for key in "90aop":  # the last is no key of this board
        frames += [down(key), up(key)]
    seen = play(gymnasium.make(TURN, rows=5, cols=5, k=4, render_mode="rgb_array"), [*frames, CLOSED])
    assert seen.actions == [8, 9, 10, 24]


def test_a_board_of_more_cells_than_keys_says_what_to_do() -> None:
    keys = TicTacToeEnv(6, 6, 4).get_keys_to_action()
    assert len(keys) == 36
    assert keys[ord("z"),] == 35
    with pytest.raises(ValueError, match=r"^.* up to 36 cells and this one has 42: .* keys_to_action=$"):
        TicTacToeEnv(6, 7, 4).get_keys_to_action()
