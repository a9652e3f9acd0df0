"""Who is meant by a name on the command line: a run, the shipped player, a built-in one, an agent of one's own."""

import contextlib
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from selfplay.checks import GIGABYTE, machine_bytes, require
from selfplay.errors import UserError, what_failed
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.rendering.text import MARKS
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from rich.console import Console

    from selfplay.agent import Player
    from selfplay.evaluation.judge import Asked, Judge
    from selfplay.evaluation.reach import Report

Perspective: TypeAlias = Literal["absolute", "mover"]

POSITION_BYTES = 200
"""Of each position of a ply."""
REPAIRED = "repaired"
"""What config.json calls what was corrected in a player after its training."""


def find(name: str, perspective: str, otherwise: Rules, also: Iterable[str] = ()) -> "tuple[Judge, Player | None]":
    """Return the player of a run folder, the shipped one, or, for `module:name`, what a module holds under that name.

    It comes as the judge that asks it for its moves and, if it is one of our own trained players, as itself. Modules
    are looked for in the folder that one stands in first, as Python does. An agent of one's own is shown the
    `perspective`, and plays its own `rules` or those `otherwise`. A mistake names what could `also` have been meant.

    Raises:
        UserError: there is none.
    """
    from selfplay.algorithms import SHIPPED, load
    from selfplay.evaluation.judge import Judge, trusted

    if is_own(name):
        agent = _imported(name)
        rules = getattr(agent, "rules", otherwise)
        return Judge(agent, rules if isinstance(rules, Rules) else otherwise, perspective, name=name), None
    if name != SHIPPED and not Path(name).is_dir():
        known = ", ".join((SHIPPED, *also))
        raise UserError(f"{name}: is neither a run folder, nor one of {known}, nor module:name of an agent of your own")
    player = load(name)
    return trusted(player), player


def asked(name: str, perspective: str, rules: Rules) -> "tuple[Asked, Player | None]":
    """Return who is to be judged, a built-in opponent on the board of `rules`; as itself, if it is a player of ours.

    Raises:
        UserError: there is none of this name, or it cannot play this board.
    """
    if name not in OPPONENTS:
        return find(name, perspective, rules, also=OPPONENTS)
    if name == "optimal" and rules.cells > SOLVABLE_CELLS:
        raise UserError(
            f"optimal: has to search each position on a board of over {SOLVABLE_CELLS} cells, which takes too long for "
            f"a proof, and {rules} has {rules.cells}"
        )
    from selfplay.evaluation.built_in import BuiltIn

    return BuiltIn(OPPONENTS[name], rules), None


def repaired(name: str) -> str | None:
    """Return what was corrected in the player of a run folder after its training; None if nothing was."""
    from selfplay.training.folder import read_config

    said = read_config(Path(name)).get(REPAIRED) if Path(name).is_dir() else None
    return said if isinstance(said, str) else None


@contextlib.contextmanager
def following(console: "Console", rules: Rules) -> "Iterator[Report]":
    """Show how far a player is followed by what is told meanwhile."""
    with console.status("following every legal reply") as status:

        def report(seat: int, ply: int, positions: int) -> None:
            status.update(f"as {MARKS[seat]}: ply {ply + 1} of {rules.cells}, {positions:,} positions")

        yield report


def check_room(positions: int, rules: Rules) -> None:
    """Refuse to follow more positions than memory holds, for which a system would end the program in the midst.

    Raises:
        UserError: there may be more, or the board is too large to follow any.
    """
    cells = rules.cells
    if cells > WORD_BITS:
        raise UserError(f"{rules} has {cells} cells: a player can be followed on boards of up to {WORD_BITS}")
    there = machine_bytes()
    if cells > SOLVABLE_CELLS and there is not None:
        most = there // POSITION_BYTES
        require(
            positions <= most,
            "positions",
            f"at most {most:,}, for which {there / GIGABYTE:,.0f} GB of memory are enough",
            positions,
        )


def board(rows: int, cols: int, k: int) -> Rules:
    """Return the rules that flags name.

    Raises:
        UserError: there is no such board.
    """
    try:
        return Rules(rows, cols, k)
    except ValueError as error:
        raise UserError(str(error)) from None


def is_own(name: str) -> bool:
    """Tell whether a name is `module:name`; a folder of that name comes first."""
    return re.fullmatch(r"[\w.]+:[\w.]+", name) is not None and not Path(name).is_dir()


def _imported(name: str) -> Any:
    module, _, attributes = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            found = getattr(found, attribute)
    except Exception as error:  # the module is somebody's own program
        raise UserError(f"{name}: cannot be imported: {what_failed(error)}") from None
    return found
