"""Draw the proof of the shipped player as a tree: `python -m docs.proof_tree`.

A dot is a position in which the player is to move, and a ring holds those with as many marks. A line leads over its
move and one legal reply to the next ring; of several ways to a position one is drawn. Coloured dots are ends of games.
"""

from collections.abc import Sequence
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

import selfplay
from selfplay.judge.ask import agent_policy
from selfplay.judge.evaluate import POSITIONS, search_seat
from selfplay.judge.follow import Ply
from selfplay.plot_style import STYLE
from selfplay.position import Position
from tictactoe import Rules
from tictactoe.rendering.svg import BLUE, GREEN, GREY

FILE = Path(__file__).with_name("proof-tree.png")
COLOURS = {"a position of its play": GREY, "it wins": GREEN, "a draw": BLUE}
"""The colours of dots, and what they say."""


def draw_seat(axes: Axes, seat: int, plies: Sequence[Ply]) -> None:
    """Draw the tree of one seat, the first position in the centre."""
    places: dict[tuple[int, int], float] = {}
    for ring, ply in enumerate(plies):
        boards = list(zip(ply.mine.tolist(), ply.theirs.tolist(), strict=True))
        if not ring:
            places = dict(zip(boards, np.linspace(0, 1, len(boards), endpoint=False), strict=True))
        radius = ring + seat
        ends: list[tuple[float, str]] = []
        parent_of: dict[tuple[int, int], float] = {}
        for board, cell in zip(boards, ply.answers.tolist(), strict=True):
            for after, colour in replies(board, cell, seat):
                if colour is None:
                    parent_of.setdefault(after, places[board])
                else:
                    ends.append((places[board], colour))
        axes.scatter([2 * np.pi * places[board] for board in boards], [radius] * len(boards), s=7, color=GREY, zorder=2)
        for turn, colour in ends:
            axes.scatter([2 * np.pi * turn], [radius + 0.3], s=4, color=colour, zorder=3)
        order = sorted(parent_of, key=lambda after: parent_of[after])
        places = dict(zip(order, np.linspace(0, 1, len(order), endpoint=False), strict=True))
        for after, parent in parent_of.items():
            axes.plot([2 * np.pi * parent, 2 * np.pi * places[after]], [radius, radius + 1], color=GREY, lw=0.3)
    axes.set_axis_off()
    count = sum(len(ply.mine) for ply in plies)
    axes.set_title(f"as {'XO'[seat]}: {count} positions, no loss", color=GREY)


def replies(board: tuple[int, int], cell: int, seat: int) -> list[tuple[tuple[int, int], str | None]]:
    """Return the positions after a move and each reply, or the colour of the end if the game is over there."""
    mine, theirs = board
    marks = (theirs, mine) if seat else (mine, theirs)
    moved = Position(Rules(), marks).after(cell)
    if moved.over:
        return [(board, GREEN if moved.winner == seat else BLUE)]
    found: list[tuple[tuple[int, int], str | None]] = []
    for reply in moved.legal:
        position = moved.after(reply)
        after = (position.marks[seat], position.marks[1 - seat])
        found.append((after, BLUE if position.over else None))
    return found


def main() -> None:
    """Draw both seats."""
    policy = agent_policy(selfplay.load("shipped"))
    with plt.style.context([STYLE, {"savefig.transparent": True}]):
        figure, both = plt.subplots(1, 2, figsize=(9, 4.6), subplot_kw={"projection": "polar"})
        for seat, axes in enumerate(both):
            draw_seat(axes, seat, search_seat(policy, seat, POSITIONS).plies)
        marks = [Line2D([], [], marker="o", ls="", color=colour, label=name) for name, colour in COLOURS.items()]
        figure.legend(handles=marks, loc="lower center", ncols=3, frameon=False, labelcolor=GREY)
        figure.savefig(FILE, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
