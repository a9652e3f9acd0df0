"""Players by name: a shipped player, a built-in opponent, a run folder, or `module:name` of your own agent."""

import contextlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple, NoReturn, TypeAlias

from selfplay.errors import UserError, what_failed
from selfplay.judge.ask import AgentPolicy, agent_policy, choices_policy
from selfplay.judge.progress import EvaluationProgress
from selfplay.program import open_console
from selfplay.protocols import Player
from selfplay.runs.load import SHIPPED_FOLDERS, load, read_settings
from selfplay.settings import Count, CustomConfig, as_path, checked
from tictactoe import Rules
from tictactoe.names import did_you_mean
from tictactoe.opponents import OPPONENTS
from tictactoe.rules import WORD_BITS

Perspective: TypeAlias = Literal["absolute", "mover"]

PTH = "net = Net(); net.load_state_dict(torch.load({file})); agent = net"
PICKLE = 'agent = pickle.load(open({file}, "rb"))'
AGENTS_FROM_FILES = {
    ".zip": "from stable_baselines3 import DQN; agent = DQN.load({file})",
    ".pth": PTH,
    ".pt": PTH,
    ".onnx": "session = onnxruntime.InferenceSession({file}); agent = lambda seen: session.run(None, "
    '{{session.get_inputs()[0].name: seen.reshape(1, -1).astype("float32")}})[0].argmax()',
    ".keras": "model = keras.models.load_model({file}); "
    "agent = lambda seen: model(seen.reshape(1, -1)).numpy().argmax()",
    ".json": 'table = json.load(open({file})); agent = selfplay.agent(table.__getitem__, cells=".XO")',
    ".pkl": PICKLE,
    ".pickle": PICKLE,
}
"""The lines that make an agent of a file of others, by its suffix."""
SPINNER_SECONDS = 0.1
"""Seconds between two changes of the line of progress on a terminal."""


class NamedPolicy(NamedTuple):
    """The meaning of a name on the command line."""

    name: str
    policy: AgentPolicy
    """The policy that is evaluated, and chooses the moves."""
    player: Player | None
    """The trained player, which has values to show; None for a built-in opponent or a custom agent."""
    folder: Path | None
    """The run folder; None where there is no trained player."""

    @property
    def rules(self) -> Rules:
        """Return the rules of the board."""
        return self.policy.rules


def resolve(
    name: str,
    perspective: Perspective = "absolute",
    rules: Rules | None = None,
    progress: EvaluationProgress | None = None,
) -> NamedPolicy:
    """Return the player of a name: a shipped one, a built-in opponent, a run folder, `module:name`, or that `@FOLDER`.

    Built-in opponents, and custom agents without `rules`, play on the board of `rules`, by default 3,3,3. Custom agents
    see the `perspective`. `progress` shows how far an evaluation is. `module:name@FOLDER` is the player of a run
    whose learner or network is that code. Only these two forms import code, from the current folder first, and not if a
    folder has that name.

    Raises:
        UserError: the name means nothing, the player cannot be loaded, or it plays on another board.
    """
    if name in OPPONENTS:
        return NamedPolicy(
            name, choices_policy(OPPONENTS[name].choices, rules or Rules(), progress=progress), None, None
        )
    folder = run_folder(name)
    if folder is not None:
        player = load(folder)
        return NamedPolicy(name, agent_policy(player, rules, name=name, progress=progress), player, folder)
    code, _, place = name.partition("@")
    if not re.fullmatch(r"[\w.]+:[\w.]+", code):
        _refuse(name)
    agent = imported(code)
    if not place:
        return NamedPolicy(name, agent_policy(agent, rules, perspective, name, progress), None, None)
    folder = as_path(place)
    config = read_settings(folder).config
    if not isinstance(config, CustomConfig):
        player = load(folder, network=agent)
        return NamedPolicy(name, agent_policy(player, rules, name=name, progress=progress), player, folder)
    learned = _learned_player(name, folder, agent)
    perspective = getattr(agent, "perspective", perspective)
    return NamedPolicy(name, agent_policy(learned, config.rules, perspective, name, progress), None, None)


def _learned_player(name: str, folder: Path, learner: Any) -> Any:
    """Return the player of a run of somebody's learner.

    Raises:
        UserError: it cannot be loaded.
    """
    try:
        return load(folder, learner=learner)
    except UserError:
        raise
    except Exception as error:  # the learner is somebody's own program
        raise UserError(f"{name}: cannot be loaded: {what_failed(error)}") from None


def _refuse(name: str) -> NoReturn:
    lines = AGENTS_FROM_FILES.get(Path(name).suffix.lower())
    if lines is not None:
        raise UserError(
            f"{name}: is not a run folder. Write these lines into my_agents.py, and name my_agents:agent: "
            f"{lines.format(file=repr(name))}"
        )
    known = (*SHIPPED_FOLDERS, *OPPONENTS)
    raise UserError(
        f"{name} is neither a run folder, nor one of {', '.join(known)}, nor module:name of your own agent"
        f"{did_you_mean(name, known)}"
    )


def run_folder(name: str) -> Path | None:
    """Return the run folder that a name means, None for any other name."""
    if name in SHIPPED_FOLDERS:
        return SHIPPED_FOLDERS[name]
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

    @property
    def given_rules(self) -> Rules | None:
        """Return the board if it is not the default one, else None: a player that brings another board keeps that."""
        return None if self.rules == Rules() else self.rules


@checked
class EvaluatedPlayer(BoardFlags):
    """The player that a command follows through every legal reply."""

    player: str = field()
    """The folder of a run, shipped or shipped-5x5x4 (our proved players), a built-in opponent such as heuristic (each
    of its choices is followed), or module:name of your own agent: a function of one observation, an object with
    act(observation) or probabilities(observation), or anything else that `selfplay.evaluate` takes."""
    positions: Count = 10_000_000
    """Most distinct positions at each ply (move); the default takes 2 GB of memory. On boards of up to 16 cells a proof
    looks at all positions."""

    def resolve(self, progress: EvaluationProgress) -> NamedPolicy:
        """Return the player, whose evaluation tells `progress` how far it is.

        Raises:
            UserError: there is none, or it cannot be followed on its board.
        """
        named = resolve(self.player, self.perspective, self.given_rules, progress)
        check_not_searched(named, "a proof")
        check_board(named.rules)
        return named


def check_not_searched(named: NamedPolicy, purpose: str) -> None:
    """Refuse a built-in opponent on boards on which it would have to search each position.

    Raises:
        UserError: the board is too large for it to know every move.
    """
    if named.name in OPPONENTS and named.rules.cells > OPPONENTS[named.name].known_cells:
        raise UserError(
            f"{named.name}: would have to search each position of {named.rules}, a board of over "
            f"{OPPONENTS[named.name].known_cells} cells, which takes too long for {purpose}"
        )


@contextlib.contextmanager
def progress_spinner() -> Iterator[EvaluationProgress]:
    """Yield the progress of an evaluation, which a spinner shows on a terminal."""
    console = open_console()
    if not console.is_terminal:
        yield EvaluationProgress(print_to_stderr)
        return
    with console.status("following every legal reply") as status:
        yield EvaluationProgress(status.update, SPINNER_SECONDS, SPINNER_SECONDS)


def print_to_stderr(line: str) -> None:
    """Print a line to stderr, so that stdout holds results alone."""
    print(line, file=sys.stderr, flush=True)


def check_board(rules: Rules) -> None:
    """Refuse a board that is too large to follow a player on it.

    Raises:
        UserError: it is.
    """
    if rules.cells > WORD_BITS:
        raise UserError(f"{rules} has {rules.cells} cells: a player can be followed on boards of up to {WORD_BITS}")
