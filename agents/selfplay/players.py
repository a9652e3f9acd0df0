"""Players by name: the shipped player, a built-in opponent, a run folder, or `module:name` of your own agent."""

import contextlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from selfplay.agent import Player
from selfplay.errors import UserError, what_failed
from selfplay.judging.agents import AgentPolicy, ChoicesPolicy, agent_policy, own_rules, player_policy
from selfplay.judging.progress import Progress
from selfplay.learning.load import SHIPPED, SHIPPED_FOLDER, load, read_settings
from selfplay.program import open_console
from selfplay.settings import Count, CustomConfig, as_path
from tictactoe import Rules
from tictactoe.names import did_you_mean
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS
from tictactoe.tree import SOLVABLE_CELLS

Perspective: TypeAlias = Literal["absolute", "mover"]

SPINNER_SECONDS = 0.1
"""Seconds between two changes of the line of progress on a terminal."""


class NamedPolicy(NamedTuple):
    """The meaning of a name on the command line."""

    name: str
    policy: AgentPolicy
    """What is evaluated, and chooses the moves."""
    player: Player | None
    """The trained player, which has values to show; None for a built-in opponent or a custom agent."""
    folder: Path | None
    """The run folder; None where there is no trained player."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return self.policy.rules


def resolve(name: str, perspective: Perspective = "absolute", rules: Rules | None = None) -> NamedPolicy:
    """Return the player of a name: "shipped", a built-in opponent, a run folder, `module:name`, or that `@FOLDER`.

    Built-in opponents, and custom agents without `rules`, play on the board of `rules`. Custom agents see the
    `perspective`. `module:name@FOLDER` is the player of a run whose learner or network is that code. Only these two
    forms import code, from the current folder first, and not if a folder has that name.

    Raises:
        UserError: the name means nothing, or the player cannot be loaded.
    """
    rules = rules or Rules()
    if name in OPPONENTS:
        return NamedPolicy(name, ChoicesPolicy(OPPONENTS[name], rules), None, None)
    folder = run_folder(name)
    if folder is not None:
        return _trained(name, folder)
    code, _, place = name.partition("@")
    if not re.fullmatch(r"[\w.]+:[\w.]+", code):
        _refuse(name)
    if place:
        return _trained_with_code(name, as_path(place), imported(code), perspective)
    return _custom(name, imported(code), perspective, rules)


def _trained(name: str, folder: Path, network: Any = None) -> NamedPolicy:
    """Return the player of a run."""
    player = load(folder, network=network)
    return NamedPolicy(name, player_policy(player), player, folder)


def _trained_with_code(name: str, folder: Path, code: Any, perspective: Perspective) -> NamedPolicy:
    """Return the player of a run whose network or learner is `code`."""
    config, _ = read_settings(folder)
    if not isinstance(config, CustomConfig):
        return _trained(name, folder, network=code)
    try:
        agent = load(folder, learner=code)
    except UserError:
        raise
    except Exception as error:  # the learner is somebody's own program
        raise UserError(f"{name}: cannot be loaded: {what_failed(error)}") from None
    policy = agent_policy(agent, config.rules, getattr(code, "perspective", perspective), name)
    return NamedPolicy(name, policy, None, None)


def _custom(name: str, agent: Any, perspective: Perspective, rules: Rules) -> NamedPolicy:
    """Return a custom agent, on its own board if it has one."""
    policy = agent_policy(agent, own_rules(agent) or rules, perspective, name)
    return NamedPolicy(name, policy, None, None)


def _refuse(name: str) -> NoReturn:
    if name.endswith(".zip"):
        raise UserError(
            f"{name} is not a run folder. Load a Stable-Baselines3 model in Python, and evaluate that: "
            f"selfplay.evaluate(DQN.load({name!r})); a command takes the loaded model as module:name"
        )
    known = (SHIPPED, *OPPONENTS)
    raise UserError(
        f"{name} is neither a run folder, nor one of {', '.join(known)}, nor module:name of your own agent"
        f"{did_you_mean(name, known)}"
    )


def run_folder(name: str) -> Path | None:
    """Return the run folder that a name means, None for any other name."""
    if name == SHIPPED:
        return SHIPPED_FOLDER
    return Path(name) if name not in OPPONENTS and Path(name).is_dir() else None


def imported(name: str) -> Any:
    """Return what a person has named as `module:name`.

    Raises:
        UserError: it cannot be imported.
    """
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        return pkgutil.resolve_name(name)
    except Exception as error:  # the module is somebody's own program
        raise UserError(f"{name}: cannot be imported: {what_failed(error)}") from None


@dataclass(frozen=True, kw_only=True)
class BoardFlags:
    """The board and the planes for players that bring none."""

    perspective: Perspective = "absolute"
    """Planes that your own agent sees: X and O ("absolute", as in the environment), or mine and theirs ("mover")."""
    rules: Rules = Rules()
    """The board, for a built-in opponent or your own agent without `rules`."""


@dataclass(frozen=True)
class EvaluatedPlayer(BoardFlags):
    """The player that a command follows through every legal reply."""

    player: str = field()
    """The folder of a run, shipped (the proved player of this package), a built-in opponent such as heuristic (each of
    its choices is followed), or module:name of your own agent: a function of one observation, an object with
    act(observation) or probabilities(observation), or anything else that `selfplay.evaluate` takes."""
    positions: Count = 10_000_000
    """Most distinct positions at each ply (move); the default takes 2 GB of memory. On boards of up to 16 cells a proof
    looks at all positions."""

    def resolve(self) -> NamedPolicy:
        """Return the player.

        Raises:
            UserError: there is none, or it cannot be followed on its board.
        """
        named = resolve(self.player, self.perspective, self.rules)
        check_not_searched(named, "a proof")
        check_board(named.rules)
        named.policy.sparing = True
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
def following() -> Iterator[Progress]:
    """Yield the progress of an evaluation, which a spinner shows on a terminal."""
    console = open_console()
    if not console.is_terminal:
        yield Progress()
        return
    with console.status("following every legal reply") as status:
        yield Progress(status.update, SPINNER_SECONDS, SPINNER_SECONDS)


def check_board(rules: Rules) -> None:
    """Refuse a board that is too large to follow a player on it.

    Raises:
        UserError: it is.
    """
    if rules.cells > WORD_BITS:
        raise UserError(f"{rules} has {rules.cells} cells: a player can be followed on boards of up to {WORD_BITS}")
