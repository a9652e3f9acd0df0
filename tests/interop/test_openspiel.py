"""OpenSpiel, where it is installed, as an independent judge of the rules, the solver and certificates.

OpenSpiel's `mnk` names its sizes from the columns on: m columns, n rows. Its planes are empty, O, X.
"""

import gzip
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import selfplay
from selfplay.judge import check_certificate
from selfplay.judge.ask import player_policy
from selfplay.judge.certificate import file_content, unbeatable_play
from tictactoe import Rules, solve

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is in the extra `bench`")

STATES, GAMES = 5_478, 100
SIZES = ((3, 3, 3), (4, 4, 3), (5, 4, 4), (4, 5, 4), (7, 7, 5), (15, 15, 5))
"""Rows, columns and k of the boards on which random games are played."""
SOLVED = ((1, 1, 1), (1, 5, 2), (2, 3, 2), (3, 2, 3), (2, 5, 3), (3, 3, 1), (3, 3, 2), (3, 3, 3), (3, 4, 2))
"""Rows, columns and k of the boards that are solved, with the value of every state."""


def load(rows: int, cols: int, k: int) -> Any:
    """Return OpenSpiel's game of a board."""
    return pyspiel.load_game(f"mnk(m={cols},n={rows},k={k})")


def compare(last: Any, environment: gymnasium.Env[Any, Any]) -> None:
    """Play the moves that led to OpenSpiel's state `last` in the environment, and compare both at every ply."""
    state = last.get_game().new_initial_state()
    observation, info = environment.reset()
    compare_position(state, observation, info)
    for cell in last.history():
        mover = state.current_player()
        state.apply_action(cell)
        observation, reward, over, _, info = environment.step(cell)
        compare_position(state, observation, info)
        assert over == state.is_terminal()
        assert reward == state.rewards()[mover]
        assert not over or info["winner"] == {1.0: 0, 0.0: -1, -1.0: 1}[state.returns()[0]]


def compare_position(state: Any, observation: Any, info: dict[str, Any]) -> None:
    """Compare what the environment says of a position with what OpenSpiel says."""
    empty, second, first = np.array(state.observation_tensor(0)).reshape(3, *observation.shape[:2])
    assert np.array_equal(observation, np.stack([empty, first, second], axis=-1))
    assert not info["illegal"]
    if not state.is_terminal():
        assert info["to_play"] == state.current_player()
        assert np.flatnonzero(info["action_mask"]).tolist() == state.legal_actions()


def test_all_states_are_equal() -> None:
    environment = gymnasium.make("tictactoe:TicTacToe-v0", rewards="sparse")
    root = pyspiel.load_game("tic_tac_toe").new_initial_state()
    known, waiting = {str(root)}, [root]
    for state in waiting:  # each state by one of the games that lead to it
        compare(state, environment)
        children = {str(child): child for child in map(state.child, state.legal_actions())}
        waiting += [children[name] for name in children.keys() - known]
        known |= children.keys()
    assert len(known) == STATES


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_random_games_are_equal(size: tuple[int, int, int]) -> None:
    rows, cols, k = size
    generator = np.random.default_rng(0)
    environment = gymnasium.make("tictactoe:TicTacToe-v0", rows=rows, cols=cols, k=k, rewards="sparse")
    for _ in range(GAMES):
        state = load(*size).new_initial_state()
        while not state.is_terminal():
            state.apply_action(int(generator.choice(state.legal_actions())))
        compare(state, environment)


def value(state: Any, known: dict[str, float]) -> float:
    """Return the result of the first seat with best play, and of every state below, by plain minimax."""
    name = str(state)
    if name not in known:
        if state.is_terminal():
            known[name] = state.returns()[0]
        else:
            best = (max, min)[state.current_player()]
            known[name] = best(value(state.child(cell), known) for cell in state.legal_actions())
    return known[name]


@pytest.mark.parametrize("size", SOLVED, ids=str)
def test_the_values_of_all_states_are_equal(size: tuple[int, int, int]) -> None:
    solution, known = solve(Rules(*size)), dict[str, float]()
    value(load(*size).new_initial_state(), known)
    for name, result in known.items():
        board = name.replace("\n", "").lower()
        marks = [sum(1 << cell for cell, held in enumerate(board) if held == mark) for mark in "xo"]
        seat = board.count("x") - board.count("o")
        assert solution.lookup(marks[seat], marks[1 - seat])[0] == (result, -result)[seat], name
    assert len(known) == len(solution.tree)


Moves = Mapping[str, int]
"""The cell that is marked in each position, whose nine cells are X, O or "."."""


def best_responses(moves: Moves) -> list[float]:
    """Return what OpenSpiel's best response leaves to each seat, once the exact evaluation agrees.

    Where the moves name none, the player marks any empty cell.
    """
    policy = pytest.importorskip("open_spiel.python.policy")
    best_response = pytest.importorskip("open_spiel.python.algorithms.best_response")
    game = pyspiel.load_game("tic_tac_toe")

    class Certified(policy.Policy):  # type: ignore[misc,name-defined]  # OpenSpiel has no types
        """The player of the moves, in OpenSpiel's game and for our observations."""

        def chances(self, position: str) -> list[float]:
            empty = [float(cell == ".") for cell in position]
            if position in moves:
                return [float(cell == moves[position]) for cell in range(9)]
            return [chance / max(sum(empty), 1) for chance in empty]

        def action_probabilities(self, state: Any, player_id: int | None = None) -> dict[int, float]:  # noqa: ARG002
            chances = self.chances(str(state).replace("\n", "").upper())
            return {cell: chances[cell] for cell in state.legal_actions()}

        def probabilities(self, observation: Any) -> Any:
            marks = np.asarray(observation).reshape(-1, 9, 3).argmax(axis=2)
            return [self.chances("".join(".XO"[mark] for mark in board)) for board in marks]

    player, root = Certified(game, [0, 1]), game.new_initial_state()
    values = [0.0 - best_response.BestResponsePolicy(game, 1 - seat, player, root).value(root) for seat in (0, 1)]
    verdict: Any = selfplay.evaluate(player, Rules())
    assert np.allclose(values, [verdict.first.best_response, verdict.second.best_response], rtol=0, atol=1e-12)
    return values


def test_the_best_response_to_the_moves_of_a_certificate_gains_nothing(tmp_path: Path) -> None:
    shipped = player_policy(selfplay.load("shipped"))
    content = file_content(shipped, unbeatable_play(shipped, 10**6, "shipped"), None)
    path = tmp_path / "certificate.txt.gz"
    path.write_bytes(content)
    assert check_certificate.main(str(path)) == 0
    _, *entries = gzip.decompress(content).decode().splitlines()
    assert best_responses({entry.replace("*", "."): entry.index("*") for entry in entries}) == [0, 0]
