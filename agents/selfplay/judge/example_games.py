"""Games to look at: the shortest games that beat an agent, and its game against itself."""

from collections.abc import Sequence

import numpy as np

from selfplay.judge.ask import AgentPolicy
from selfplay.judge.counterexamples import counterexamples_of
from selfplay.judge.evaluate import Evaluation
from selfplay.judge.move_values import exact_moves, known_value
from selfplay.position import Position
from selfplay.protocols import Player
from selfplay.verdict_text import NAMES
from tictactoe import Rules
from tictactoe.opponents import MOVE_POSITIONS
from tictactoe.rendering.text import MARKS, board_text

WIDTH = 80
GAP = "    "


def example_games(evaluation: Evaluation, player: Player | None, width: int) -> str:
    """Return the shortest game that beats an agent in each seat or, if there is none, its game against itself.

    Above each board are the value that a `player` has learned for the agent's move, and the exact result of the move.
    On boards that are not solved a short search looks for that result. An agent that samples its moves and is not
    beaten has no game to show.
    """
    policy = evaluation.policy
    if not evaluation.verdict.ways_to_beat:
        if policy.samples:
            return ""
        return f"A game of the player against itself (squares count from 1):\n\n{self_play_game(policy, width)}\n"
    examples = counterexamples_of(evaluation)
    shortest = "The shortest game" if examples.verdict.complete else "A game"
    learned = "" if player is None else "the value that it has learned for each of its moves and "
    games = []
    for seat, game in enumerate(examples.shortest):
        if game is not None:
            games.append(
                f"{shortest} that beats the player as {MARKS[seat]} (squares count from 1), with {learned}"
                "the exact result with best play from there:\n\n"
                f"{_side_by_side(_boards(policy.rules, game, seat, player), width)}\n"
            )
    return "\n".join(games)


def self_play_game(policy: AgentPolicy, width: int = WIDTH) -> str:
    """Let an agent that samples no moves play itself, and return all boards, side by side, and the result.

    A row has as many boards as fit into `width` characters. For people the squares count from 1: square `n` is cell
    `n - 1`.
    """
    cells = self_play_cells(policy)
    position = Position(policy.rules)
    for cell in cells[:-1]:
        position = position.after(cell)
    last = cells[-1]
    if last not in position.legal:
        result = f"{MARKS[position.seat]} plays the taken square {last + 1} and loses."
    else:
        winner = position.after(last).winner
        result = "A draw." if winner is None else f"{MARKS[winner]} wins."
    return f"{_side_by_side(_boards(policy.rules, cells), width)}\n\n{result}"


def self_play_cells(policy: AgentPolicy) -> list[int]:
    """Let an agent that samples no moves play itself, and return the cells; the last one may be taken, which loses."""
    position = Position(policy.rules)
    cells: list[int] = []
    while not position.over:
        cell = int(policy.answers(position.words[0], position.words[1], 1)[0])
        cells.append(cell)
        if cell not in position.legal:
            break
        position = position.after(cell)
    return cells


def _boards(
    rules: Rules, cells: Sequence[int], seat: int | None = None, player: Player | None = None
) -> list[list[str]]:
    """Return the lines of the board after each ply of a game, with notes on the moves of an agent's `seat`."""
    position = Position(rules)
    boards = []
    for number, cell in enumerate(cells, start=1):
        lines = [f"{number}. {MARKS[position.seat]}: {cell + 1}"]
        if position.seat == seat:
            lines += _notes(position, cell, player)
        elif seat is not None:
            lines += ["", ""]
        if cell in position.legal:  # a taken cell keeps its mark
            position = position.after(cell)
        boards.append([*lines, *board_text(rules, *position.marks, cell).split("\n")])
    return boards


def _notes(position: Position, cell: int, player: Player | None) -> tuple[str, str]:
    """Return what a player has learned of its move, and the exact result of the move."""
    learned = ""
    if player is not None:
        learned = f"learned {float(np.asarray(player.q_values(position.observation))[0, cell]):+.2f}"
    results = exact_moves(position.rules, position.mover, position.opponent, MOVE_POSITIONS)
    if cell not in results:
        return learned, "exact: illegal"
    value = known_value(results[cell])
    return learned, "exact: not known" if value is None else f"exact: {NAMES[value]}"


def _side_by_side(boards: Sequence[Sequence[str]], width: int) -> str:
    """Return boards, which have equally many lines, in rows of at most `width` characters."""
    wide = max(len(line) for board in boards for line in board)
    in_a_row = max(1, (width + len(GAP)) // (wide + len(GAP)))
    rows = []
    for start in range(0, len(boards), in_a_row):
        lines = zip(*boards[start : start + in_a_row], strict=True)
        rows.append("\n".join(GAP.join(part.ljust(wide) for part in line).rstrip() for line in lines))
    return "\n\n".join(rows)
