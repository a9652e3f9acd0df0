"""Agents made from functions of boards as people write them: lists of numbers or signs, and texts."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from selfplay.errors import UserError
from selfplay.protocols import Array


def agent(
    function: Callable[[Any], Any],
    cells: Sequence[Any] = (0, 1, 2),
    perspective: str = "absolute",
    rows: bool = False,
) -> Callable[[Array], Any]:
    """Return an agent from a function of a board that is written in another way.

    `cells` are what stands for an empty cell, a mark of X and a mark of O, in this order: (0, 1, 2), (0, 1, -1) or
    ".XO", for example. With `perspective="mover"` the second is a mark of the seat to move, and the third one of the
    other seat. The function gets the cells row by row: a list, or a text if `cells` is one; with `rows`, a list of
    rows. It returns a cell, or the pair of its row and column.

        >>> verdict = selfplay.evaluate(selfplay.agent(lambda board: board.index(" "), cells=" XO"))

    Raises:
        UserError: `cells` are not three different ones, or there is no such perspective.
    """
    kinds = list(cells)
    if len(kinds) != 3 or any(kinds.count(kind) > 1 for kind in kinds):
        raise UserError(f"cells must be three different ones, for empty, X and O, got {cells!r}")
    if perspective not in ("absolute", "mover"):
        raise UserError(f"perspective must be 'absolute' or 'mover', got {perspective!r}")

    def choose(observation: Array) -> Any:
        planes = np.asarray(observation)
        first, second = planes[..., 1].sum(), planes[..., 2].sum()  # of either perspective; X never has fewer marks
        if first > second if perspective == "mover" else first < second:
            planes = planes[..., [0, 2, 1]]
        board: Any = [[kinds[kind] for kind in row] for row in planes.argmax(axis=-1).tolist()]
        if isinstance(cells, str):
            board = ["".join(row) for row in board]
        if not rows:
            board = "".join(board) if isinstance(cells, str) else [cell for row in board for cell in row]
        answer = function(board)
        if isinstance(answer, tuple | list) and len(answer) == 2:
            row, col = answer
            return row * planes.shape[1] + col
        return answer

    return choose
