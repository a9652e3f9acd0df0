"""Who a person can play against, and what they say a square is worth."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.play.board import board_table
from selfplay.play.command import PlayConfig, about_hints, choose_move, choose_opponent, hints_of
from selfplay.players import resolve
from selfplay.position import Position
from tests.runs import refused, save
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.play.test_play_board import LARGE, position
from tictactoe import Rules, solve


@pytest.mark.parametrize(
    ("flags", "gist"),
    [
        ({"opponent": "optmal"}, "optmal: is neither a run folder, nor one of shipped, random, heuristic, rule, opt"),
        ({"opponent": "optimal", "rows": 9, "cols": 8}, "a 9x8 board has 72 cells; at most 64 are shown"),
        ({"opponent": "random", "k": 4}, "got k=4 on a 3x3 board"),
        ({"rows": 4}, "--rows must be that of shipped, 3,3,3, got 4"),
    ],
)
def test_an_opponent_that_cannot_play_is_refused(flags: dict[str, Any], gist: str) -> None:
    assert gist in refused(lambda: choose_opponent(PlayConfig(**flags)))


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_hints_of_optimal_are_the_exact_results_in_every_decision_state() -> None:
    rules = Rules(2, 3, 2)
    opponent, solution = resolve("optimal", rules=rules), solve(rules)
    to_visit, visited = [Position(rules)], set()
    while to_visit:
        reached = to_visit.pop()
        visited.add(reached.marks)
        hints = hints_of(opponent, reached)
        value, best = solution.lookup(reached.mover, reached.opponent)
        assert max(hint.shade for hint in hints.values()) == value
        assert tuple(cell for cell, hint in hints.items() if hint.chosen) == best
        assert tuple(hints) == reached.empty
        assert choose_move(opponent, reached, generator()) in best
        for cell, hint in hints.items():
            after = reached.after(cell)
            worth = 1 if after.winner is not None else -solution.lookup(after.mover, after.opponent)[0]
            assert (hint.shade, hint.text) == (worth, {1: "win", 0: "draw", -1: "loss"}[worth])
            if not after.over:
                to_visit.append(after)
    assert len(visited) == len(solution.tree.decisions)


def test_the_hints_of_optimal_on_a_large_board_are_what_a_search_tells() -> None:
    rules = Rules(5, 5, 4)
    opponent = resolve("optimal", rules=rules)
    hints = hints_of(opponent, position(12, rules=rules))
    assert [cell for cell, hint in hints.items() if hint.chosen] == [6, 8, 16, 18]
    for cell, hint in hints.items():
        assert (hint.text, hint.shade) == (("draw", 0) if hint.chosen else ("loss", -1)), cell


def test_what_a_search_does_not_tell_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.play.command.MOVE_POSITIONS", 2_000)
    opponent = resolve("optimal", rules=Rules(7, 7, 5))
    hints = hints_of(opponent, Position(opponent.rules))
    assert {(hint.text, hint.shade) for hint in hints.values()} == {("?", 0)}
    assert [cell for cell, hint in hints.items() if hint.chosen] == [24]
    assert "? is not known" in str(about_hints(opponent))


def test_the_seed_decides_what_a_built_in_opponent_plays() -> None:
    def moves(seed: int) -> list[int]:
        drawn = generator(seed)
        return [choose_move(resolve("random", rules=LARGE), Position(LARGE), drawn) for _ in range(20)]

    assert moves(3) == moves(3) != moves(4)
    assert len(set(moves(3))) > 5


@pytest.mark.parametrize("name", ["random", "heuristic", "rule"])
def test_built_in_opponents_play_a_board_of_64_cells_and_have_no_hints(name: str) -> None:
    rules = Rules(8, 8, 8)
    opponent, reached = resolve(name, rules=rules), Position(rules)
    assert about_hints(opponent) is None
    while not reached.over:
        cell = choose_move(opponent, reached, generator())
        assert cell in reached.empty
        reached = reached.after(cell)


def test_a_trained_opponent_never_plays_a_taken_square_and_rates_what_is_free(tmp_path: Path) -> None:
    config = config_with(rows=8, cols=8, k=4)  # untrained, it would soon play a taken one
    save(tmp_path / "run", config, make(config).player())
    opponent, reached = resolve(str(tmp_path / "run")), Position(config.rules)
    while not reached.over:
        cell = choose_move(opponent, reached, generator())
        hints = hints_of(opponent, reached)
        assert tuple(hints) == reached.empty
        assert [rated for rated, hint in hints.items() if hint.chosen] == [cell]
        assert max(hints.values(), key=lambda hint: hint.shade).chosen
        reached = reached.after(cell)


def test_hints_are_the_action_values_of_the_player_from_the_movers_view() -> None:
    planes = np.zeros((1, 3, 3, 3), np.int8)
    planes[..., 0] = 1
    planes[0, 1, 1] = 0, 0, 1
    values = selfplay.load("shipped").q_values(planes)[0]
    hints = hints_of(resolve("shipped"), position(4))
    assert {cell: hint.text for cell, hint in hints.items()} == {
        cell: f"{values[cell]:+.2f}" for cell in range(9) if cell != 4
    }
    shades = [hints[cell].shade for cell in sorted(hints, key=lambda cell: values[cell])]
    assert (shades[0], shades[-1]) == (-1, 1)
    assert shades == sorted(shades)


@pytest.mark.parametrize("values", [[3e38, -3e38], [np.inf, -np.inf], [np.nan, np.nan]])
def test_hints_of_values_beyond_all_measure_can_be_shown(values: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    opponent = resolve("shipped")
    monkeypatch.setattr(type(opponent.player), "q_values", lambda *_: np.array([[*values, *[0.5] * 7]], np.float32))
    hints = hints_of(opponent, Position(opponent.rules))
    assert all(-1 <= hint.shade <= 1 and len(hint.text) <= 6 for hint in hints.values())
    assert board_table(Position(opponent.rules), hints).row_count == 3
