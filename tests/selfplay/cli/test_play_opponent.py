"""Who a person can play against, and what they say a square is worth."""

from pathlib import Path

import numpy as np
import pytest

import selfplay
from selfplay.cli.play import choose_move, hints_of, learned_hints, true_hints
from selfplay.cli.play_board import Hint
from selfplay.named_players import resolve
from selfplay.position import Position
from tests.runs import save
from tests.selfplay.cli.test_play_board import LARGE, position
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

GENERATOR = np.random.default_rng(0)


def test_true_hints_are_the_exact_results() -> None:
    """Both seats have two in a row: the mover wins, draws by its block, or loses."""
    opponent, reached = resolve("optimal"), position(0, 3, 1, 4)
    hints = {2: Hint("win", 1, True), 5: Hint("draw", 0, False)}
    assert true_hints(reached) == hints | dict.fromkeys((6, 7, 8), Hint("loss", -1, False))
    assert choose_move(opponent, reached, GENERATOR) == 2


def test_true_hints_on_a_large_board_are_what_a_search_tells() -> None:
    rules = Rules(5, 5, 4)
    hints = true_hints(position(12, rules=rules))
    assert {cell for cell, hint in hints.items() if hint == Hint("draw", 0, True)} == {6, 8, 16, 18}
    assert [*hints.values()].count(Hint("loss", -1, False)) == 20


def test_what_a_search_does_not_tell_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.cli.play.MOVE_POSITIONS", 2_000)
    hints = true_hints(Position(Rules(7, 7, 5)))
    assert hints == {cell: Hint("?", 0, cell == 24) for cell in range(49)}


def test_the_seed_decides_what_a_built_in_opponent_plays() -> None:
    def moves(seed: int) -> list[int]:
        generator, random = np.random.default_rng(seed), resolve("random", rules=LARGE)
        return [choose_move(random, Position(LARGE), generator) for _ in range(20)]

    assert moves(3) == moves(3) != moves(4)
    assert len(set(moves(3))) > 5


def test_a_trained_opponent_plays_no_taken_square_and_rates_what_is_free(tmp_path: Path) -> None:
    config = config_with(rows=8, cols=8, k=8)  # untrained, it would soon play a taken one
    save(tmp_path / "run", config, make(config).player())
    opponent, reached = resolve(str(tmp_path / "run")), Position(config.rules)
    while not reached.over:
        cell = choose_move(opponent, reached, GENERATOR)
        assert opponent.player is not None
        hints = learned_hints(opponent.player, reached)
        assert tuple(hints) == reached.legal
        assert [rated for rated, hint in hints.items() if hint.chosen] == [cell]
        reached = reached.after(cell)


def test_each_kind_of_hints_is_what_it_says() -> None:
    opponent, reached = resolve("shipped"), position(4)
    assert hints_of(opponent, reached, "none") is None
    assert hints_of(opponent, reached, "true") == true_hints(reached)
    assert hints_of(opponent, reached, "learned") == learned_hints(selfplay.load("shipped"), reached)


def test_learned_hints_are_the_action_values_of_the_player_from_the_movers_view() -> None:
    planes = np.zeros((1, 3, 3, 3), np.int8)
    planes[..., 0] = 1
    planes[0, 1, 1] = 0, 0, 1
    values = selfplay.load("shipped").q_values(planes)[0]
    hints = learned_hints(selfplay.load("shipped"), position(4))
    assert [hint.text for hint in hints.values()] == [f"{value:+.2f}" for value in np.delete(values, 4)]
    shades = [hints[cell].shade for cell in sorted(hints, key=values.__getitem__)]
    assert (shades[0], shades[-1]) == (-1, 1)
    assert shades == sorted(shades)
