"""Games to look at: the shortest games that beat an agent, and its game against itself."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from selfplay.agent import Player
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.counterexamples import find_counterexamples
from selfplay.judging.exact import NAMES, exact_moves, known_value
from selfplay.judging.verdict import Verdict
from selfplay.position import Position
from tictactoe import Rules
from tictactoe.opponents import MOVE_POSITIONS
from tictactoe.rendering.text import MARKS, board_text

WIDTH = 80
GAP = "    "
POSITIONS = 20_000
"""Positions of each ply that are followed to find a game that beats a player of a large board."""


def example_games(policy: AgentPolicy, player: Player | None, verdict: Verdict, width: int) -> str:
    """Return the shortest game that beats an agent in each seat or, if there is none, its game against itself.

    Above each board are the value that a `player` has learned for the agent's move, and the exact result of the move.
    On boards that are not solved a short search looks for that result. An agent that samples its moves and is not
    beaten has no game to show.
    """
    if not verdict.games_lost:
        own_game = "" if policy.stochastic else self_play_game(policy, width)
        return own_game and f"A game of the player against itself (squares count from 1):\n\n{own_game}\n"
    examples = find_counterexamples(policy, POSITIONS, np.random.default_rng(0))
    shortest = "The shortest game" if examples.verdict.complete else "A game"
    learned = "" if player is None else "the value that it has learned for each of its moves and "
    return "\n".join(
        f"{shortest} that beats the player as {MARKS[seat]} (squares count from 1), with {learned}"
        "the exact result with best play from there:\n\n"
        f"{_boards(policy.rules, game, width, seat, player)}\n"
        for seat, game in enumerate(examples.shortest)
        if game is not None
    )


def self_play_game(policy: AgentPolicy, width: int = WIDTH) -> str:
    """Let an agent that samples no moves play itself, and return all boards, side by side, and the result.

    A row has as many boards as fit into `width` characters. For people the squares count from 1: square `n` is cell
    `n - 1`.
    """
    *before, last = cells = self_play_cells(policy)
    position = reduce(Position.after, before, Position(policy.rules))
    mover = MARKS[position.seat]
    result = "A draw." if position.after(last).winner is None else f"{mover} wins."
    if last in before:
        result = f"{mover} plays the taken square {last + 1} and loses."
    return f"{_boards(policy.rules, cells, width)}\n\n{result}"


def self_play_cells(policy: AgentPolicy) -> list[int]:
    """Let an agent that samples no moves play itself, and return the cells; the last one may be taken, which loses."""
    position, cells = Position(policy.rules), list[int]()
    while not position.over:
        cells.append(int(policy.cells(*position.words)[0]))
        if cells[-1] not in position.empty:
            break
        position = position.after(cells[-1])
    return cells


def _boards(
    rules: Rules, cells: Sequence[int], width: int, seat: int | None = None, player: Player | None = None
) -> str:
    """Return the boards after each ply of a game, side by side, with notes on the moves of an agent's `seat`."""
    position, boards = Position(rules), []
    for ply, cell in enumerate(cells):
        notes = [] if seat is None else ["", ""]
        if position.seat == seat:
            if player is not None:
                notes[0] = f"learned {float(np.asarray(player.q_values(position.observation))[0, cell]):+.2f}"
            results = exact_moves(rules, position.mover, position.opponent, MOVE_POSITIONS)
            value = known_value(results[cell]) if cell in results else None
            result = "not known" if value is None else NAMES[value]
            notes[1] = f"exact: {result if cell in results else 'illegal'}"
        heading = f"{ply + 1}. {MARKS[position.seat]}: {cell + 1}"
        position = position.after(cell) if cell in position.empty else position  # a taken cell keeps its mark
        boards.append([heading, *notes, *board_text(rules, *position.marks, cell).split("\n")])
    wide = max(len(line) for board in boards for line in board)
    in_a_row = max(1, (width + len(GAP)) // (wide + len(GAP)))
    rows = []
    for start in range(0, len(boards), in_a_row):
        lines = zip(*boards[start : start + in_a_row], strict=True)
        rows.append("\n".join(GAP.join(part.ljust(wide) for part in line).rstrip() for line in lines))
    return "\n\n".join(rows)
