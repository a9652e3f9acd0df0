"""A game from a set position goes on as the game does that was played there: in every face, both perspectives."""

from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest

from tests.tictactoe.rule_book import EMPTY, Board, RuleBook, empty_cells, seat_to_move, with_mark
from tests.tictactoe.shared import assert_same, sized
from tictactoe import TicTacToeEnv, TicTacToeVersusEnv, tictactoe_v0

PERSPECTIVES = ("absolute", "mover")
Games = Iterator[tuple[tuple[int, ...], Board, list[int]]]


def games(size: tuple[int, int, int]) -> Games:
    """Yield moves, the board that they lead to, and cells to play on with, in which a taken one is likely.

    Of 3,3,3 every decision state comes, of other boards those of some random games.
    """
    book, rng = RuleBook(*size), np.random.default_rng(11)
    if size == (3, 3, 3):
        for board, history in book.histories().items():
            if not book.finished(board):
                yield history, board, rng.permutation(9).tolist()
        return
    for _ in range(15):
        board = book.empty_board
        played: list[int] = []
        while not book.finished(board):
            yield tuple(played), board, rng.permutation(book.cells).tolist()
            played.append(int(rng.choice(empty_cells(board))))
            board = with_mark(board, played[-1], "XO"[seat_to_move(board)])


@pytest.mark.parametrize("perspective", PERSPECTIVES)
@pytest.mark.parametrize("size", [(3, 3, 3), (4, 4, 4), (6, 7, 4)], ids=str)
def test_both_seats_go_on_as_in_the_game_played_there(size: tuple[int, int, int], perspective: str) -> None:
    book = RuleBook(*size)
    settings: dict[str, Any] = {**sized(size), "perspective": perspective, "dict_observation": True}
    there, here = TicTacToeEnv(**settings), TicTacToeEnv(**settings)
    pair = [tictactoe_v0.env(**settings) for _ in range(2)]
    endings: set[tuple[int, bool]] = set()
    states = 0
    for history, board, cells in games(size):
        states += 1
        observation, info = there.reset()
        pair[0].reset()
        for cell in history:
            observation, _, _, _, info = there.step(cell)
            pair[0].step(cell)
        options = {"position": book.one_hot(board, perspective), "seat": seat_to_move(board)}
        assert_same(here.reset(options=options)[0], observation)
        assert_same(here.info(), info)
        pair[1].reset(options=options)
        # What the moves to the position were worth is no part of the game that begins there.
        pair[0]._cumulative_rewards = dict.fromkeys(tictactoe_v0.AGENTS, 0.0)
        pair[0].rewards = dict.fromkeys(tictactoe_v0.AGENTS, 0.0)
        assert_same_agents(*pair)
        for cell in cells:
            ours, theirs = here.step(cell), there.step(cell)
            assert_same(ours[0], theirs[0])
            assert ours[1:4] == theirs[1:4]
            assert_same(ours[4], theirs[4])
            for game in pair:
                game.step(cell)
            assert_same_agents(*pair)
            if theirs[2]:
                endings.add((there.winner, there.illegal))
                break
        else:
            pytest.fail("the game did not end")
    assert states == 4520 or size != (3, 3, 3)
    assert endings >= {(0, True), (1, True), (0, False), (1, False)} or size == (6, 7, 4)


def assert_same_agents(ours: Any, theirs: Any) -> None:
    """Compare all that PettingZoo's face shows of two games."""
    assert ours.agent_selection == theirs.agent_selection
    assert ours.agents == theirs.agents
    for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
        assert getattr(ours, name) == getattr(theirs, name)
    for agent in tictactoe_v0.AGENTS:
        assert_same(ours.observe(agent), theirs.observe(agent))
        for key, value in theirs.infos[agent].items():
            assert np.array_equal(ours.infos[agent][key], value)
        assert ours.infos[agent].keys() == theirs.infos[agent].keys()


@pytest.mark.parametrize("perspective", PERSPECTIVES)
@pytest.mark.parametrize("size", [(3, 3, 3), (4, 4, 4), (6, 7, 4)], ids=str)
def test_one_seat_goes_on_as_in_the_game_played_there(size: tuple[int, int, int], perspective: str) -> None:
    book = RuleBook(*size)
    settings: dict[str, Any] = {**sized(size), "perspective": perspective, "rewards": "sparse"}
    there, here = (TicTacToeVersusEnv(**settings) for _ in range(2))
    refused, began = 0, 0
    for history, board, cells in games(size):
        for seat in (0, 1):
            to_play = seat_to_move(board)
            options = {"position": book.one_hot(board, perspective), "seat": seat}
            answers = answered(book, board, cells)
            wins = book.winning_cells(board, "XO"[to_play]) & set(empty_cells(board))
            if seat != to_play and (wins or board.count(EMPTY) == 1):
                with pytest.raises(ValueError, match="reset cannot return a finished game"):
                    here.reset(options=options)
                refused += 1
                continue
            began += seat != to_play
            here.set_opponent(answers)
            there.set_opponent(scripted(history[1 - seat :: 2], answers))
            observation, info = there.reset(options={"seat": seat})
            for cell in history[seat::2]:
                observation, _, terminated, _, info = there.step(cell)
                assert not terminated
            ours = here.reset(options=options)
            assert here.seat == seat
            assert_same(ours[0], observation)
            assert_same(ours[1], info)
            for cell in cells:
                result, expected = here.step(cell), there.step(cell)
                assert_same(result[0], expected[0])
                assert result[1:4] == expected[1:4]
                assert_same(result[4], expected[4])
                if expected[2]:
                    break
            else:
                pytest.fail("the game did not end")
    assert refused > 20
    assert began > 20


def answered(book: RuleBook, board: Board, cells: list[int]) -> Any:
    """Return an opponent that plays the first of the cells that is empty."""
    assert len(cells) == book.cells == len(board)
    return lambda _, mask: next(cell for cell in reversed(cells) if mask[cell])


def scripted(first: tuple[int, ...], then: Any) -> Any:
    """Return an opponent that plays these cells and goes on as another."""
    moves = iter(first)

    def opponent(observation: Any, mask: Any) -> int:
        cell = next(moves, None)
        chosen: int = then(observation, mask) if cell is None else cell
        return chosen

    return opponent


def test_a_set_position_is_drawn_without_a_last_move() -> None:
    env = gymnasium.make("tictactoe:TicTacToe-v0", render_mode="ansi")
    env.reset(options={"position": RuleBook(3, 3, 3).one_hot(tuple("XO......."), "absolute")})
    assert env.render() == " X  O  .\n .  .  .\n .  .  .\n"
    env.step(8)
    assert env.render() == " X  O  .\n .  .  .\n .  . (X)\n"
