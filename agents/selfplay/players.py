"""Players by name: the shipped player, a built-in opponent, a run folder, or `module:name` of your own agent."""

import contextlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from selfplay.errors import UserError, what_failed
from selfplay.learning.load import SHIPPED, SHIPPED_FOLDER, load, read_settings
from selfplay.program import open_console
from selfplay.settings import GIGABYTE, Count, CustomConfig, as_path, board, machine_bytes, require
from tictactoe import Rules
from tictactoe.names import did_you_mean
from tictactoe.opponents import OPPONENTS
from tictactoe.rendering.text import MARKS
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

if TYPE_CHECKING:
    from selfplay.agent import Player
    from selfplay.judging.agents import AgentPolicy
    from selfplay.judging.forward_search import Report

Perspective: TypeAlias = Literal["absolute", "mover"]

REPAIRED = "repaired"
"""The note in config.json of what was corrected in a player after its training."""
LINE_SECONDS = 30
"""Seconds between two lines of progress off a terminal."""
POSITION_BYTES = 200
"""Memory for each position of a ply."""


class NamedPolicy(NamedTuple):
    """Hold what a name on the command line means."""

    name: str
    policy: "AgentPolicy"
    """What is evaluated, and chooses the moves."""
    player: "Player | None"
    """The trained player, which has values to show; None for a built-in opponent or an agent of the user."""
    folder: Path | None
    """The run folder; None where there is no trained player."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return self.policy.rules


def resolve(name: str, perspective: Perspective = "absolute", rules: Rules | None = None) -> NamedPolicy:
    """Return the player of a name: "shipped", a built-in opponent, a run folder, `module:name`, or that `@FOLDER`.

    Built-in opponents, and agents of the user without `rules`, play on the board of `rules`. Agents of the user see the
    `perspective`. `module:name@FOLDER` is the player of a run whose learner or network is that code. Only these two
    forms import code, from the current folder first, and not if a folder has that name.

    Raises:
        UserError: the name means nothing, or the player cannot be loaded.
    """
    from selfplay.judging.agents import AgentPolicy, BuiltInPolicy, agent_policy, player_policy

    rules = rules or Rules()
    if name in OPPONENTS:
        return NamedPolicy(name, BuiltInPolicy(OPPONENTS[name], rules), None, None)
    folder, code = run_folder(name), None
    if folder is None:
        if name.endswith(".zip"):
            raise UserError(
                f"{name} is not a run folder. Load a Stable-Baselines3 model in Python, and evaluate that: "
                f"selfplay.evaluate(DQN.load({name!r})); a command takes the loaded model as module:name"
            )
        typed, _, place = name.partition("@")
        if not re.fullmatch(r"[\w.]+:[\w.]+", typed):
            known = (SHIPPED, *OPPONENTS)
            raise UserError(
                f"{name} is neither a run folder, nor one of {', '.join(known)}, nor module:name of your own agent"
                f"{did_you_mean(name, known)}"
            )
        code = imported(typed)
        if not place:
            own = getattr(code, "rules", None)
            policy = agent_policy(code, own if isinstance(own, Rules) else rules, perspective, name)
            return NamedPolicy(name, policy, None, None)
        folder = as_path(place)
    config, _ = read_settings(folder)
    if code is None or not isinstance(config, CustomConfig):
        player = load(folder, network=code)
        return NamedPolicy(name, player_policy(player), player, folder)
    try:
        agent = load(folder, learner=code)
    except UserError:
        raise
    except Exception as error:  # the learner is somebody's own program
        raise UserError(f"{name}: cannot be loaded: {what_failed(error)}") from None
    policy = AgentPolicy(agent, config.rules, getattr(code, "perspective", perspective), name=name)
    return NamedPolicy(name, policy, None, None)


def run_folder(name: str) -> Path | None:
    """Return the run folder that a name means, None for any other name."""
    if name == SHIPPED:
        return SHIPPED_FOLDER
    return Path(name) if name not in OPPONENTS and Path(name).is_dir() else None


def imported(name: str) -> Any:
    """Import what a person has named as `module:name`.

    Raises:
        UserError: It cannot be imported.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return pkgutil.resolve_name(name)
    except Exception as error:  # the module is somebody's own program
        raise UserError(f"{name}: cannot be imported: {what_failed(error)}") from None


@dataclass(frozen=True, kw_only=True)
class BoardFlags:
    """Hold the board and the planes for players that bring none."""

    perspective: Perspective = "absolute"
    """Planes that your own agent sees: X and O ("absolute", as in the environment), or mine and theirs ("mover")."""
    rows: int = 3
    """Board height in cells, for a built-in opponent or your own agent without `rules`."""
    cols: int = 3
    """Board width for these, cells."""
    k: int = 3
    """Marks in a row that win, for these."""


@dataclass(frozen=True)
class EvaluatedPlayer(BoardFlags):
    """Hold the player that a command follows through every legal reply."""

    player: str = field(metadata={"positional": "PLAYER"})
    """The folder of a run, shipped (the proved player of this package), a built-in opponent (random, heuristic, rule or
    optimal: each of its choices is followed), or module:name of your own agent: a function of one observation, an
    object with act(observation) or probabilities(observation), or anything else that `selfplay.evaluate` takes."""
    positions: Count = 10_000_000
    """Most distinct positions at each ply (move); the default takes 2 GB of memory. On boards of up to 16 cells a proof
    looks at all positions."""

    def resolve(self) -> NamedPolicy:
        """Return the player.

        Raises:
            UserError: there is none, or it cannot be followed on its board.
        """
        named = resolve(self.player, self.perspective, board({"rows": self.rows, "cols": self.cols, "k": self.k}))
        check_not_searched(named, "a proof")
        check_room(self.positions, named.rules)
        return named


def check_not_searched(named: NamedPolicy, purpose: str) -> None:
    """Refuse "optimal" on boards on which it would have to search each position.

    Raises:
        UserError: the board is too large to be solved.
    """
    if named.name == "optimal" and named.rules.cells > SOLVABLE_CELLS:
        raise UserError(
            f"optimal: would have to search each position of {named.rules}, a board of over {SOLVABLE_CELLS} cells, "
            f"which takes too long for {purpose}"
        )


@contextlib.contextmanager
def following(rules: Rules) -> "Iterator[Report]":
    """Yield a function that shows how far a player has been followed; off a terminal a line tells it now and then."""
    console = open_console()
    ended = Event()
    with console.status("following every legal reply") as status:

        def report(seat: int, ply: int, positions: int) -> None:
            status.update(f"as {MARKS[seat]}: ply {ply + 1} of {rules.cells}, {positions:,} positions")

        def tell() -> None:
            while not ended.wait(LINE_SECONDS):
                with contextlib.suppress(OSError):  # nobody reads on, or the disk is full, as the next result will say
                    print(status.status, flush=True)

        if not console.is_terminal:
            Thread(target=tell).start()
        try:
            yield report
        finally:
            ended.set()


def check_room(positions: int, rules: Rules) -> None:
    """Refuse to follow more positions than fit into memory, before the system kills the program.

    Raises:
        UserError: there may be more, or the board is too large to follow any.
    """
    cells = rules.cells
    if cells > WORD_BITS:
        raise UserError(f"{rules} has {cells} cells: a player can be followed on boards of up to {WORD_BITS}")
    there = machine_bytes()
    if cells > SOLVABLE_CELLS and there is not None:
        most = there // POSITION_BYTES
        wanted = f"at most {most:,}, for which {there / GIGABYTE:,.0f} GB of memory are enough"
        require(positions <= most, "positions", wanted, positions)
