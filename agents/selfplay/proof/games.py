"""Greedy games to look at."""

import numpy as np

from selfplay.proof.judge import Judge
from tictactoe import batch
from tictactoe.drawing.text import MARKS, board_text
from tictactoe.rewards import Rewards

WIDTH = 80
GAP = "    "


def self_play_game(judge: Judge, width: int = WIDTH) -> str:
    """Let an agent that draws no moves play itself and return the boards after each ply, side by side, and the result.

    A line has as many boards as fit into `width` characters.

    For people the squares count from 1: square `n` is cell `n - 1`.
    """
    rules = judge.rules
    state = batch.reset(rules, 1, np)
    boards: list[str] = []
    result = ""
    while not result:
        seat = int(state.to_play[0])
        cell = int(judge.cells(state.mover, state.opponent)[0])
        played = batch.step(rules, Rewards(), state, np.array([cell]))
        state = played.state
        mover, opponent = int(state.mover[0]), int(state.opponent[0])
        first, second = (mover, opponent) if int(state.to_play[0]) == 0 else (opponent, mover)
        boards.append(f"{len(boards) + 1}. {MARKS[seat]}: {cell + 1}\n{board_text(rules, first, second, cell)}")
        if played.illegal[0]:
            result = f"{MARKS[seat]} plays the taken square {cell + 1} and loses."
        elif played.terminated[0]:
            result = "A draw." if int(played.winner[0]) < 0 else f"{MARKS[seat]} wins."
    return _side_by_side(boards, width) + "\n\n" + result


def _side_by_side(boards: list[str], width: int) -> str:
    wide = max(len(line) for board in boards for line in board.split("\n"))
    in_a_row = max(1, (width + len(GAP)) // (wide + len(GAP)))
    strips = []
    for start in range(0, len(boards), in_a_row):
        lines = zip(*(board.split("\n") for board in boards[start : start + in_a_row]), strict=True)
        strips.append("\n".join(GAP.join(part.ljust(wide) for part in line).rstrip() for line in lines))
    return "\n\n".join(strips)
