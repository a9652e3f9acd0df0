"""Games to look at: the shortest games that beat an agent, and its game against itself."""

from collections.abc import Iterator, Sequence

import numpy as np

from selfplay.agent import Player
from selfplay.evaluation.agents import AgentPolicy
from selfplay.evaluation.counterexamples import find_counterexamples
from selfplay.evaluation.exact import NAMES, known_value
from selfplay.evaluation.verdict import Verdict
from tictactoe import Rules, batch
from tictactoe.opponents import MOVE_POSITIONS
from tictactoe.rendering.text import MARKS, board_text
from tictactoe.rewards import Rewards

WIDTH = 80
GAP = "    "
POSITIONS = 20_000
"""Positions of each ply that are followed to find a game that beats a player of a large board."""


def example_games(policy: AgentPolicy, player: Player | None, verdict: Verdict, width: int = WIDTH) -> str:
    """Return the shortest game that beats an agent in each seat, or if none does, its game against itself.

    Above each board is the exact result of the agent's move, which a search finds on boards that are not solved, if it
    can within the time of a move, and the value that a `player` has learned for it. An agent that samples its moves and
    is not beaten has no game to show.
    """
    if not verdict.games_lost:
        own_game = "" if policy.stochastic else self_play_game(policy, width)
        return own_game and f"A game of the player against itself:\n\n{own_game}\n"
    examples = find_counterexamples(policy, POSITIONS, np.random.default_rng(0))
    games = []
    for seat, game in enumerate(examples.shortest):
        if game is None:
            continue
        least = "The shortest game" if examples.verdict.complete else "A game"
        heading = f"{least} that beats the player as {MARKS[seat]}{_key(player)}:"
        games.append(f"{heading}\n\n{_side_by_side(_annotated(policy.rules, game, seat, player), width)}\n")
    return "\n".join(games)


def _key(player: Player | None) -> str:
    """Return what is to be said of the notes above the boards."""
    notes = ["the value that it has learned of each of its moves"] if player is not None else []
    return f", with {' and '.join([*notes, 'the exact result with best play from there'])}"


def _annotated(rules: Rules, game: Sequence[int], seat: int, player: Player | None) -> list[str]:
    """Return the board after each ply of a game, with notes on each move of the agent's."""
    marks, boards = [0, 0], []
    for ply, cell in enumerate(game):
        mover = ply % 2
        notes = ["", ""]
        if mover == seat:
            notes = [_learned(rules, player, marks, mover, cell), _exact(rules, marks, mover, cell)]
        marks[mover] |= 1 << cell & ~marks[1 - mover]  # a taken cell keeps its mark
        boards.append(
            "\n".join([f"{ply + 1}. {MARKS[mover]}: {cell + 1}", *notes, board_text(rules, marks[0], marks[1], cell)])
        )
    return boards


def _learned(rules: Rules, player: Player | None, marks: list[int], mover: int, cell: int) -> str:
    if player is None:
        return ""
    own, other = (np.array([marks[seat]]) for seat in (mover, 1 - mover))
    ply = np.array([(marks[0] | marks[1]).bit_count()])
    values = player.q_values(batch.observe(rules, batch.State(own, other, ply), "mover"))
    return f"learned {float(np.asarray(values)[0, cell]):+.2f}"


def _exact(rules: Rules, marks: list[int], mover: int, cell: int) -> str:
    if (marks[0] | marks[1]) >> cell & 1:
        return "exact: illegal"
    value = known_value(rules, marks[1 - mover], marks[mover] | 1 << cell, MOVE_POSITIONS)
    return f"exact: {'not known' if value is None else NAMES[-value]}"


def self_play_game(policy: AgentPolicy, width: int = WIDTH) -> str:
    """Let an agent that samples no moves play itself, and return all boards, side by side, and the result.

    A line has as many boards as fit into `width` characters.

    For people the squares count from 1: square `n` is cell `n - 1`.
    """
    rules = policy.rules
    boards: list[str] = []
    result = ""
    for seat, cell, played in _self_play(policy):
        mover, opponent = int(played.state.mover[0]), int(played.state.opponent[0])
        first, second = (mover, opponent) if int(played.state.to_play[0]) == 0 else (opponent, mover)
        boards.append(f"{len(boards) + 1}. {MARKS[seat]}: {cell + 1}\n{board_text(rules, first, second, cell)}")
        if played.illegal[0]:
            result = f"{MARKS[seat]} plays the taken square {cell + 1} and loses."
        elif played.terminated[0]:
            result = "A draw." if int(played.winner[0]) < 0 else f"{MARKS[seat]} wins."
    return _side_by_side(boards, width) + "\n\n" + result


def self_play_cells(policy: AgentPolicy) -> list[int]:
    """Let an agent that samples no moves play itself and return the cells; the last may be a taken one, which loses."""
    return [cell for _, cell, _ in _self_play(policy)]


def _self_play(policy: AgentPolicy) -> Iterator[tuple[int, int, batch.Step]]:
    """Yield the seat to move, the cell that it chooses and what comes of it, to the end of a game."""
    state, ended = batch.reset(policy.rules, 1, np), False
    while not ended:
        seat = int(state.to_play[0])
        cell = int(policy.cells(state.mover, state.opponent)[0])
        played = batch.step(policy.rules, Rewards(), state, np.array([cell]))
        yield seat, cell, played
        state, ended = played.state, bool(played.terminated[0])


def _side_by_side(boards: list[str], width: int) -> str:
    wide = max(len(line) for board in boards for line in board.split("\n"))
    in_a_row = max(1, (width + len(GAP)) // (wide + len(GAP)))
    strips = []
    for start in range(0, len(boards), in_a_row):
        lines = zip(*(board.split("\n") for board in boards[start : start + in_a_row]), strict=True)
        strips.append("\n".join(GAP.join(part.ljust(wide) for part in line).rstrip() for line in lines))
    return "\n\n".join(strips)
