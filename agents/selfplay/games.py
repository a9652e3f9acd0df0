"""Greedy games to look at."""

import numpy as np

from selfplay.agent import Agent
from tictactoe import Rules, batch
from tictactoe.drawing.text import MARKS, board_text
from tictactoe.rewards import Rewards

BOARDS_A_ROW = 5
GAP = "    "


def self_play_game(agent: Agent, rules: Rules) -> str:
    """Let an agent play itself and return the boards after each ply, side by side, with the result.

    For people the squares count from 1: square `n` is cell `n - 1`.
    """
    state = batch.reset(rules, 1, np)
    boards: list[str] = []
    result = ""
    while not result:
        seat = int(state.to_play[0])
        cell = int(agent.act(batch.observe(rules, state, "mover"))[0])
        played = batch.step(rules, Rewards(), state, np.array([cell]))
        state = played.state
        mover, opponent = int(state.mover[0]), int(state.opponent[0])
        first, second = (mover, opponent) if int(state.to_play[0]) == 0 else (opponent, mover)
        boards.append(f"{len(boards) + 1}. {MARKS[seat]}: {cell + 1}\n{board_text(rules, first, second, cell)}")
        if played.illegal[0]:
            result = f"{MARKS[seat]} plays the taken square {cell + 1} and loses."
        elif played.terminated[0]:
            result = "A draw." if int(played.winner[0]) < 0 else f"{MARKS[seat]} wins."
    return _side_by_side(boards) + "\n\n" + result


def _side_by_side(boards: list[str]) -> str:
    width = max(len(line) for board in boards for line in board.split("\n"))
    strips = []
    for start in range(0, len(boards), BOARDS_A_ROW):
        lines = zip(*(board.split("\n") for board in boards[start : start + BOARDS_A_ROW]), strict=True)
        strips.append("\n".join(GAP.join(part.ljust(width) for part in line).rstrip() for line in lines))
    return "\n\n".join(strips)
