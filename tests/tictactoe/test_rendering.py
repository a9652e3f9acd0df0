"""Every face draws the same board: as text, as pixels, and in a window on SDL's dummy screen."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pygame
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from tests.tictactoe.shared import TURN, VERSUS, shown, sized
from tictactoe import Rules, TicTacToeEnv, tictactoe_v0
from tictactoe.envs.turn import Planes
from tictactoe.rendering.pixels import board_image
from tictactoe.rendering.text import board_text

X_WINS = [0, 3, 1, 4, 2]
X_MARKS, O_MARKS = 0b000000111, 0b000011000
TEXT = board_text(Rules(), X_MARKS, O_MARKS, last_cell=2) + "\n"
IDS = [TURN, VERSUS]


@pytest.fixture(autouse=True)
def quick_dummy_screen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(TicTacToeEnv.metadata, "render_fps", 500)
    yield
    pygame.display.quit()


def replies(observation: Planes, action_mask: Planes) -> Any:
    """Answer the first moves of `X_WINS` on one board or on many."""
    return np.where(action_mask[..., 3] == 1, 3, 4) + 0 * observation[..., 0, 0, 0]


def one_board(face: str, render_mode: str | None) -> Any:
    """Return a face of one board on which X has won."""
    if face == "aec":
        env: Any = tictactoe_v0.env(render_mode=render_mode)
        cells = X_WINS
    else:
        env = gymnasium.make(face, render_mode=render_mode)
        cells = X_WINS if face == TURN else X_WINS[::2]
        if face == VERSUS:
            env.unwrapped.set_opponent(lambda *seen: int(replies(*seen)))
    env.reset(seed=0)
    for cell in cells:
        env.step(cell)
    return env


@pytest.mark.parametrize("face", [*IDS, "aec"])
def test_one_board_is_drawn_alike_by_every_face(face: str) -> None:
    picture = board_image(Rules(), X_MARKS, O_MARKS, last_cell=2)
    assert one_board(face, "ansi").render() == TEXT
    np.testing.assert_array_equal(one_board(face, "rgb_array").render(), picture)
    env = one_board(face, "human")
    np.testing.assert_array_equal(shown(), picture)  # without a call of render()
    assert env.render() is None
    env.close()
    assert not pygame.display.get_init()


@pytest.mark.parametrize("size", [(3, 3, 3), (3, 4, 3)], ids=str)
@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("env_id", IDS)
def test_a_vector_draws_each_of_its_boards(env_id: str, perspective: str, size: tuple[int, int, int]) -> None:
    settings = {**sized(size), "perspective": perspective, "autoreset_mode": "Disabled"}
    for mode, draw in (("ansi", lambda *position: board_text(*position) + "\n"), ("rgb_array", board_image)):
        env: Any = gymnasium.make_vec(env_id, num_envs=2, render_mode=mode, **settings)
        assert env.render_mode == mode
        if env_id == VERSUS:
            env.unwrapped.set_opponent(replies)
        env.reset(seed=0)
        for cells in ([0, 1], [3, 3])[: 1 if env_id == VERSUS else 2]:
            env.step(cells)
        for drawing, x_marks in zip(env.render(), (0b1, 0b10), strict=True):
            np.testing.assert_array_equal(drawing, draw(Rules(*size), x_marks, 0b1000))


@pytest.mark.parametrize("env_id", IDS)
def test_a_vector_has_no_window(env_id: str) -> None:
    with pytest.raises(ValueError, match="unknown render_mode 'human': choose from ansi, rgb_array"):
        gymnasium.make_vec(env_id, num_envs=2, render_mode="human")


@pytest.mark.parametrize("face", [*IDS, "aec", "vector"])
def test_drawing_without_a_mode_warns_and_draws_nothing(face: str) -> None:
    if face == "vector":
        env: Any = gymnasium.make_vec(TURN, num_envs=2)
        env.reset()
    else:
        env = one_board(face, None)
    with pytest.warns(UserWarning, match=r"render\(\) draws nothing without a mode"):
        assert env.render() is None


@pytest.mark.parametrize("env_id", IDS)
def test_gymnasiums_checker_passes_with_every_render_mode(env_id: str) -> None:
    env = gymnasium.make(env_id)
    check_env(env.unwrapped)
    env.close()


def test_pettingzoos_render_test_passes() -> None:
    render_test(tictactoe_v0.env)


def test_there_is_nothing_to_draw_before_the_first_game() -> None:
    faces: list[Any] = [gymnasium.make(env_id, render_mode="ansi") for env_id in IDS]
    faces += [gymnasium.make_vec(env_id, num_envs=2, render_mode="ansi") for env_id in IDS]
    faces.append(tictactoe_v0.env(render_mode="ansi"))
    for face in faces:
        with pytest.raises(gymnasium.error.ResetNeeded, match=r"call reset\(\) before render\(\)"):
            face.render()
