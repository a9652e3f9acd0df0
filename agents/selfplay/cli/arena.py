"""Print the exact results between players: `selfplay arena PLAYER PLAYER ...`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from selfplay.cli.flags import parse
from selfplay.errors import UserError
from selfplay.judge.ask import AgentPolicy
from selfplay.named_players import Perspective, check_board, resolve, run_folder
from selfplay.program import open_console, say, waiting
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True)
class ArenaConfig:
    """Print how each player does against each other, and itself, in both seats: exact probabilities, nothing sampled.

    On boards of more than 16 cells players that sample their moves, such as the built-in opponents, are refused.
    """

    players: tuple[str, ...]
    """Run folders, shipped players, built-in opponents such as random and optimal, and your own agents as module:name.
    All play one board; if none of them has a board, they play 3,3,3."""
    perspective: Perspective = "absolute"
    """Planes that your own agents see: X and O (absolute), or mine and theirs (mover)."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            example = "selfplay arena runs/NAME random"
            raise UserError(f"an arena needs at least two players, got {len(self.players)}: {example}")
        for name in self.players:
            if self.players.count(name) > 1:
                raise UserError(f"{name}: is listed twice; give each player once, it also meets itself")


class Match(NamedTuple):
    """The probability of each end of the games between two players."""

    x_wins: float
    """X completes a line or O marks a taken cell."""
    draw: float
    o_wins: float
    """O completes a line or X marks a taken cell."""
    illegal: tuple[float, float]
    """X and O mark a taken cell, which loses."""


Results: TypeAlias = Mapping[tuple[str, str], Match]
"""The results by the names of the players that play X and O."""


def main(args: Sequence[str], prog: str = "selfplay arena") -> None:
    """Print the results of all pairs of players as a table."""
    config = parse(ArenaConfig, args, prog)
    import torch

    torch.set_num_threads(1)  # more threads only wait for each other on networks this small
    players = enter(config.players, config.perspective)
    with waiting("following every game"):
        results = {(x, o): result_of(players[x], players[o]) for x in players for o in players}
    open_console().print(table(results))
    say(note(results))


def enter(names: Sequence[str], perspective: Perspective) -> dict[str, AgentPolicy]:
    """Return the players by name, in the order of the names.

    Raises:
        UserError: one is unknown, plays on another board than the rest, or has too many games on this board.
    """
    players: dict[str, AgentPolicy] = {}
    rules: Rules | None = None
    for name in sorted(names, key=how_free):
        player = resolve(name, perspective, None if run_folder(name) else rules).policy
        if players and player.rules != rules:
            first = next(iter(players))
            raise UserError(f"{name} plays {player.rules}, but {first} plays {rules}: give players of one board")
        rules = player.rules
        check_board(rules)
        if player.samples and rules.cells > SOLVABLE_CELLS:
            raise UserError(
                f"{name}: samples its moves, and on {rules}, a board of over {SOLVABLE_CELLS} cells, its games are too "
                "many to follow; leave it out"
            )
        players[name] = player
    return {name: players[name] for name in names}


def how_free(name: str) -> int:
    """Return 0 for a run, which has a board, 1 for a user's own agent, which may have one, and 2 for an opponent."""
    if name in OPPONENTS:
        return 2
    return 1 if run_folder(name) is None else 0


def result_of(x: AgentPolicy, o: AgentPolicy) -> Match:
    """Follow every choice of two players ply by ply, each distinct position once, and return how their games end."""
    rules = x.rules
    wins, illegal = [0.0, 0.0], [0.0, 0.0]
    boards = np.zeros((2, 1), np.int64)  # marks of the mover and of the opponent
    share = np.ones(1)  # of the games that lead to each board
    for ply in range(rules.cells):
        seat = ply % 2
        winner = seat if rules.line_result > 0 else 1 - seat  # by a line
        probabilities = (x, o)[seat].probabilities(*boards)
        board, cell = np.nonzero(probabilities)
        share = share[board] * probabilities[board, cell]
        mover, opponent = boards[:, board]
        taken = (mover | opponent) >> cell & 1 != 0
        mover = mover | np.int64(1) << cell
        line = rules.has_line(mover) & ~taken
        illegal[seat] += share[taken].sum()
        wins[winner] += share[line].sum()
        unfinished = ~(taken | line)
        boards, share = np.stack([opponent, mover])[:, unfinished], share[unfinished]
        if not len(share):
            break
        order = np.lexsort(boards)
        boards, share = boards[:, order], share[order]
        first = np.flatnonzero(np.append(True, (boards[:, 1:] != boards[:, :-1]).any(axis=0)))
        boards, share = boards[:, first], np.add.reduceat(share, first)
    ends = np.array([wins[0] + illegal[1], share.sum(), wins[1] + illegal[0], *illegal])
    # Divided by their sum, a certain end is exactly 1, although the probabilities are rounded.
    x_wins, draw, o_wins, *charged = (ends / ends[:3].sum()).tolist()
    return Match(x_wins, draw, o_wins, (charged[0], charged[1]))


def table(results: Results) -> "Table":
    """Return the results as a table: a row for each player as X, a column for each as O."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    names = list(dict.fromkeys(x for x, _ in results))
    shown = Table(title="X wins/draw/O wins, %", box=box.SIMPLE_HEAD)
    shown.add_column("X down, O across", overflow="fold")
    for name in names:
        shown.add_column(Text(name), justify="right", overflow="fold")
    for x in names:
        shown.add_row(Text(x), *(cell_text(results[x, o]) for o in names))
    return shown


def cell_text(result: Match) -> str:
    """Return a result in percent: X wins/draw/O wins, and below them the taken cells of both if there are any."""
    text = "/".join(map(percent, result[:3]))
    if any(result.illegal):
        text += "\n!" + "+".join(map(percent, result.illegal))
    return text


def percent(share: float) -> str:
    """Return a probability in whole percent; 0 means never and 100 always."""
    if 0 < share <= 0.005:
        return "<1"
    if 0.995 <= share < 1:
        return ">99"
    return f"{100 * share:.0f}"


def note(results: Results) -> str:
    """Return what a cell of the table means."""
    text = (
        "A cell says how often X, the player of its row, wins; how often nobody does; and how often O, the player of "
        "its column, wins. Every choice of both was followed, and nothing is sampled: 0 is never, 100 always."
    )
    if any(any(result.illegal) for result in results.values()):
        text += " !: how often X + O marks a taken cell, and loses by that."
    return text
