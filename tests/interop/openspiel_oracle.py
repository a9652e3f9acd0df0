"""Compare with OpenSpiel: every state of tic-tac-toe, random games of the m,n,k family, and the solutions of 17 boards.

The turn view is compared; the tests show that all other views agree with it. The solutions are compared with a plain
minimax over OpenSpiel's states.
OpenSpiel's `mnk` names its sizes from the columns on: m columns, n rows. Its planes are empty, O, X.
Run it by `tests/interop/run openspiel`.
"""

from collections import Counter
from typing import Any

import gymnasium
import numpy as np
import pyspiel
from shared import print_versions

from tictactoe import Rules, solve

STATES = 5_478
GAMES = 1_000
SIZES = ((3, 3, 3), (4, 4, 3), (5, 4, 4), (4, 5, 4), (7, 7, 5), (15, 15, 5))
"""Rows, columns and k of the boards on which random games are played."""
SOLVED = (
    *((1, 1, 1), (1, 5, 2), (1, 9, 4), (9, 1, 3), (2, 2, 2), (2, 3, 2), (3, 2, 3), (2, 4, 3), (4, 2, 3), (2, 5, 3)),
    *((5, 2, 4), (3, 3, 1), (3, 3, 2), (3, 3, 3), (2, 5, 2), (3, 4, 1), (3, 4, 2)),
)
"""Rows, columns and k of the boards that are solved, with the value of every state."""


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


def compare_values(rules: Rules) -> int:
    """Compare the value of every state of a board, and return how many there are."""
    solution, known = solve(rules), dict[str, float]()
    value(pyspiel.load_game(f"mnk(m={rules.cols},n={rules.rows},k={rules.k})").new_initial_state(), known)
    for name, result in known.items():
        board = name.replace("\n", "").lower()
        marks = [sum(1 << cell for cell, held in enumerate(board) if held == mark) for mark in "xo"]
        seat = board.count("x") - board.count("o")
        assert solution.lookup(marks[seat], marks[1 - seat])[0] == (result, -result)[seat], name
    assert len(known) == len(solution.tree)
    return len(known)


def compare(last: Any, environment: gymnasium.Env[Any, Any]) -> int:
    """Play the moves that led to OpenSpiel's state `last` in the environment, and compare both at every ply.

    Returns:
        The winner, -1 if there is none.
    """
    state = last.get_game().new_initial_state()
    observation, info = environment.reset()
    check(state, observation, info)
    for cell in last.history():
        mover = state.current_player()
        state.apply_action(cell)
        observation, reward, over, _, info = environment.step(cell)
        check(state, observation, info)
        assert over == state.is_terminal()
        assert reward == state.rewards()[mover]
        assert not over or info["winner"] == {1.0: 0, 0.0: -1, -1.0: 1}[state.returns()[0]]
    return int(info["winner"])


def check(state: Any, observation: Any, info: dict[str, Any]) -> None:
    """Compare what the environment says of a position with what OpenSpiel says."""
    empty, second, first = np.array(state.observation_tensor(0)).reshape(3, *observation.shape[:2])
    assert np.array_equal(observation, np.stack([empty, first, second], axis=-1))
    assert not info["illegal"]
    if not state.is_terminal():
        assert info["to_play"] == state.current_player()
        assert np.flatnonzero(info["action_mask"]).tolist() == state.legal_actions()


def main() -> None:
    print_versions("open_spiel", "gymnasium", "numpy")
    environment = gymnasium.make("tictactoe:TicTacToe-v0", rewards="sparse")
    root = pyspiel.load_game("tic_tac_toe").new_initial_state()
    known, waiting = {str(root)}, [root]
    for state in waiting:  # each state by one of the games that lead to it
        compare(state, environment)
        children = {str(child): child for child in map(state.child, state.legal_actions())}
        waiting += [children[name] for name in children.keys() - known]
        known |= children.keys()
    print(f"tic_tac_toe: {len(known):,} states, all equal in legal actions, mover, end, winner, returns, observation")
    assert len(known) == STATES

    for rows, cols, k in SIZES:
        generator = np.random.default_rng(0)
        game = pyspiel.load_game(f"mnk(m={cols},n={rows},k={k})")
        environment = gymnasium.make("tictactoe:TicTacToe-v0", rows=rows, cols=cols, k=k, rewards="sparse")
        winners: Counter[int] = Counter()
        plies = 0
        for _ in range(GAMES):
            state = game.new_initial_state()
            while not state.is_terminal():
                state.apply_action(int(generator.choice(state.legal_actions())))
            winners[compare(state, environment)] += 1
            plies += len(state.history())
        ends = f"X won {winners[0]}, O {winners[1]}, drawn {winners[-1]}"
        print(f"{rows},{cols},{k}: {GAMES:,} games, {plies:,} plies equal; {ends}")

    states = [compare_values(Rules(*size)) for size in SOLVED]
    print(f"{len(SOLVED)} boards solved: the values of {sum(states):,} states equal")


if __name__ == "__main__":
    main()
