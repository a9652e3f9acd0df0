"""Who a person can play against, and what they say a square is worth."""

import json
from pathlib import Path

import numpy as np
import pytest

import selfplay
from selfplay.algorithms import SHIPPED_FOLDER
from selfplay.play.board import hint_board
from selfplay.play.opponent import built_in, trained
from selfplay.position import Position
from tests.runs import save
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.play.test_play_board import LARGE, position
from tictactoe import Rules, solve


def test_the_hints_of_optimal_are_the_exact_results_in_every_decision_state() -> None:
    rules = Rules(2, 3, 2)
    opponent, solution = built_in("optimal", rules, seed=0), solve(rules)
    assert opponent.hints is not None
    to_visit, visited = [Position(rules)], set()
    while to_visit:
        reached = to_visit.pop()
        visited.add(reached.marks)
        hints = opponent.hints(reached)
        value, best = solution.lookup(reached.mover, reached.opponent)
        assert max(hint.shade for hint in hints.values()) == value
        assert tuple(cell for cell, hint in hints.items() if hint.chosen) == best
        assert tuple(hints) == reached.empty
        for cell, hint in hints.items():
            after = reached.after(cell)
            worth = 1 if after.winner is not None else -solution.lookup(after.mover, after.opponent)[0]
            assert (hint.shade, hint.text) == (worth, {1: "win", 0: "draw", -1: "loss"}[worth])
            if not after.over:
                to_visit.append(after)
    assert len(visited) == len(solution.tree.decisions)


def test_a_win_a_draw_and_a_loss_are_told_apart() -> None:
    opponent = built_in("optimal", Rules(), seed=0)
    assert opponent.hints is not None
    # X 1 2, O 5 7: X wins on 3, which O needs as well.
    told = {cell: hint.text for cell, hint in opponent.hints(position(0, 4, 1, 6)).items()}
    assert told == {2: "win", 3: "loss", 5: "loss", 7: "loss", 8: "loss"}
    assert {hint.text for hint in opponent.hints(position(4)).values()} == {"draw", "loss"}


def test_the_hints_of_optimal_on_a_large_board_are_what_a_search_tells() -> None:
    rules = Rules(5, 5, 4)
    opponent = built_in("optimal", rules, seed=0)
    assert opponent.hints is not None
    told = opponent.hints(Position(rules).after(12))
    assert [cell for cell, hint in told.items() if hint.chosen] == [6, 8, 16, 18]
    for cell, hint in told.items():
        assert (hint.text, hint.shade) == (("draw", 0) if hint.chosen else ("loss", -1)), cell
    won = position(0, 12, 1, 13, 2, 24, rules=rules)
    assert {cell: hint.text for cell, hint in opponent.hints(won).items() if hint.chosen} == {3: "win"}
    assert opponent.move(Position(rules).after(12)) in (6, 8, 16, 18)


def test_what_a_search_does_not_tell_is_said_not_to_be_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.play.opponent.MOVE_POSITIONS", 2_000)
    opponent = built_in("optimal", Rules(7, 7, 5), seed=0)
    assert opponent.hints is not None
    told = opponent.hints(Position(opponent.rules))
    assert {(hint.text, hint.shade) for hint in told.values()} == {("?", 0)}
    assert [cell for cell, hint in told.items() if hint.chosen] == [24]
    assert "? is not known" in opponent.about_hints


def test_the_others_say_that_they_have_no_hints() -> None:
    for name in ("random", "heuristic", "rule"):
        opponent = built_in(name, Rules(), seed=0)
        assert opponent.hints is None
        assert opponent.about_hints == f"none, for {name} rates no squares."


def test_the_seed_decides_what_a_built_in_opponent_plays() -> None:
    def moves(seed: int) -> list[int]:
        opponent = built_in("random", LARGE, seed)
        return [opponent.move(Position(LARGE)) for _ in range(20)]

    assert moves(3) == moves(3)
    assert moves(3) != moves(4)
    assert len(set(moves(3))) > 5


def test_built_in_opponents_play_a_board_of_64_cells() -> None:
    rules = Rules(8, 8, 8)
    for name in ("random", "heuristic", "rule"):
        opponent, reached = built_in(name, rules, seed=0), Position(rules)
        while not reached.over:
            cell = opponent.move(reached)
            assert cell in reached.empty
            reached = reached.after(cell)


def test_a_trained_opponent_never_plays_a_taken_square_and_rates_what_is_free(tmp_path: Path) -> None:
    config = config_with(rows=8, cols=8, k=4)  # untrained, it would soon play a taken one
    save(tmp_path, config, make(config).player())
    opponent, reached = trained("it", selfplay.load(tmp_path)), Position(config.rules)
    assert opponent.hints is not None
    while not reached.over:
        cell = opponent.move(reached)
        hints = opponent.hints(reached)
        assert tuple(hints) == reached.empty
        assert [rated for rated, hint in hints.items() if hint.chosen] == [cell]
        assert max(hints.values(), key=lambda hint: hint.shade).chosen
        reached = reached.after(cell)


def test_hints_are_the_action_values_of_the_player_from_the_movers_view() -> None:
    opponent, player = trained("it", selfplay.load("shipped")), selfplay.load(SHIPPED_FOLDER)
    assert opponent.hints is not None
    planes = np.zeros((1, 3, 3, 3), np.int8)
    planes[..., 0] = 1
    planes[0, 1, 1] = 0, 0, 1
    values = player.q_values(planes)[0]
    hints = opponent.hints(position(4))
    assert {cell: hint.text for cell, hint in hints.items()} == {
        cell: f"{values[cell]:+.2f}" for cell in range(9) if cell != 4
    }
    ranked = sorted(hints, key=lambda cell: values[cell])
    shades = [hints[cell].shade for cell in ranked]
    assert (shades[0], shades[-1]) == (-1, 1)
    assert shades == sorted(shades)


@pytest.mark.parametrize("values", [[3e38, -3e38], [np.inf, -np.inf], [np.nan, np.inf], [np.nan, np.nan]])
def test_hints_of_values_beyond_all_measure_can_be_shown(values: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    player = selfplay.load(SHIPPED_FOLDER)
    shown = np.array([[*values, *[0.5] * 7]], np.float32)
    monkeypatch.setattr(type(player), "q_values", lambda *_: shown)
    opponent, reached = trained("it", player), Position(player.rules)
    assert opponent.hints is not None
    hints = opponent.hints(reached)
    assert all(-1 <= hint.shade <= 1 and len(hint.text) <= 6 for hint in hints.values())
    assert len(hint_board(reached, hints).plain.splitlines()) == 5


def test_the_shipped_player_is_proved_unbeatable_and_optimal() -> None:
    player = selfplay.load(SHIPPED_FOLDER)
    evaluation = selfplay.evaluate(player, player.rules)
    assert player.rules == Rules()
    assert evaluation.unbeatable
    assert evaluation.optimal
    recorded = json.loads((SHIPPED_FOLDER / "evaluation.json").read_text())
    for name, found in evaluation.as_dict().items():
        assert recorded[name] == (pytest.approx(found) if isinstance(found, dict) else found)


@pytest.mark.parametrize("person", [0, 1])
def test_no_line_of_moves_beats_the_shipped_opponent(person: int) -> None:
    opponent = trained("shipped", selfplay.load("shipped"))

    def games(reached: Position) -> int:
        if reached.over:
            assert reached.winner != person
            return 1
        cells = reached.empty if reached.seat == person else (opponent.move(reached),)
        return sum(games(reached.after(cell)) for cell in cells)

    assert games(Position(Rules())) > 50
