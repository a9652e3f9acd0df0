"""List what `faces.py` measures: every face of ours, the peers beside it, and what ours has to reach."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode

from benchmarks.environment import face_loops, face_peers
from benchmarks.environment.face_loops import Chunk
from benchmarks.environment.random_play import FromMask, PreDrawn, games
from tictactoe import Rules, tictactoe_v0

Subject = Literal["board", "agents", "few", "vector", "versus", "family", "batch", "device"]

ONE_BOARD_PLIES = 4_000
"""About so many plies are in a chunk of a face with one board."""
FEW_BOARDS_STEPS = 256
"""So many steps are in a chunk of a face with few boards."""
BOARD_STEPS = 2**16
"""So many plies are in a chunk of a face with many boards, and eight steps at least."""
CUDA = torch.device("cuda")
FAMILY = (Rules(3, 3, 3), Rules(4, 4, 4), Rules(7, 7, 5), Rules(15, 15, 5))
DISTRIBUTIONS = {"pgx": "pgx", "pygame": "pygame-ce", "pyspiel": "open-spiel"}
"""What to install for a module that rows of peers need."""
PEERS = ("pettingzoo", *DISTRIBUTIONS.values(), "jax")
"""Distributions that the rows of peers depend on."""


Make: TypeAlias = Callable[[np.random.Generator], Chunk]


@dataclass(frozen=True)
class Row:
    """Name something to measure, and say how it is made ready."""

    name: str
    make: Make
    needs: str | None = None
    """The module without which the row is skipped."""


@dataclass(frozen=True)
class Goal:
    """Ask for a ratio between two rows of a group, or only show it."""

    ours: str
    peer: str
    at_least: float | None = None


@dataclass(frozen=True)
class Group:
    """Hold rows that are measured in turns, and the ratios between them."""

    title: str
    rows: tuple[Row, ...]
    goals: tuple[Goal, ...]


def turns(rules: Rules, plies: int, rng: np.random.Generator) -> Chunk:
    """Return the turn view's chunk."""
    env = gymnasium.make("TicTacToe-v0", rows=rules.rows, cols=rules.cols, k=rules.k)
    return face_loops.turns(env, games(rules.cells, plies, rng))


def _agents(make: Callable[[], Any], rng: np.random.Generator) -> Chunk:
    return face_loops.agents(make(), games(9, ONE_BOARD_PLIES, rng))


def _open_spiel(game: str, cells: int, rng: np.random.Generator) -> Chunk:
    return face_peers.open_spiel(game, games(cells, ONE_BOARD_PLIES, rng))


def _steps(num_boards: int) -> int:
    return max(8, BOARD_STEPS // num_boards)


def many(
    rules: Rules,
    num_boards: int,
    steps: int,
    rng: np.random.Generator,
    mode: AutoresetMode = AutoresetMode.NEXT_STEP,
    *,
    draw: bool = False,
    dicts: bool = False,
) -> Chunk:
    """Return the vector environment's chunk of so many steps, with cells drawn before or from the masks."""
    settings: dict[str, Any] = {"rows": rules.rows, "cols": rules.cols, "k": rules.k, "autoreset_mode": mode}
    env = gymnasium.make_vec("TicTacToe-v0", num_envs=num_boards, dict_observation=dicts, **settings)
    chooser = FromMask(num_boards, rng) if draw else PreDrawn(rules.cells, num_boards, rng)
    return face_loops.vector(env, chooser, steps)


def _turns(rules: Rules) -> Make:
    return lambda rng: turns(rules, ONE_BOARD_PLIES, rng)


def _vector(num_boards: int, rules: Rules = FAMILY[0], **how: Any) -> Make:
    return lambda rng: many(rules, num_boards, _steps(num_boards), rng, **how)


def _sync_vector(num_boards: int, rng: np.random.Generator) -> Chunk:
    env = gymnasium.make_vec("TicTacToe-v0", num_envs=num_boards, vectorization_mode="sync")
    return face_loops.vector(env, PreDrawn(9, num_boards, rng), steps=16)


def _replayed(env_id: str, num_boards: int, mode: AutoresetMode, *, sync: bool) -> Make:
    def made(rng: np.random.Generator) -> Chunk:
        how: dict[str, Any] = {"autoreset_mode": mode}
        if sync:
            how = {"vectorization_mode": "sync", "vector_kwargs": how}
        return face_loops.replayed(gymnasium.make_vec(env_id, num_envs=num_boards, **how), FEW_BOARDS_STEPS, rng)

    return made


def _versus(opponent: str, rng: np.random.Generator) -> Chunk:
    env = gymnasium.make("TicTacToeVersus-v0", opponent=opponent)
    return face_loops.single_agent(env, games(9, ONE_BOARD_PLIES, rng))


def _versus_vector(opponent: str, num_boards: int, rng: np.random.Generator) -> Chunk:
    env = gymnasium.make_vec("TicTacToeVersus-v0", num_envs=num_boards, opponent=opponent)
    return face_loops.vector(env, FromMask(num_boards, rng), _steps(num_boards))


def _pgx(num_boards: int, delivery: face_peers.Delivery, *, draw: bool = False) -> Make:
    return lambda rng: face_peers.pgx(num_boards, _steps(num_boards), rng, delivery, draw=draw)


def _batch(num_boards: int, xp: Any, device: Any = None) -> Make:
    return lambda rng: face_loops.device_batch(FAMILY[0], num_boards, _steps(num_boards), xp, device, rng)


def _recorded_batch(num_boards: int) -> Make:
    return lambda rng: face_loops.recorded_batch(FAMILY[0], num_boards, _steps(num_boards), CUDA, rng)


def board() -> Group:
    """Return the turn view and single boards of others."""
    ours = Row("TicTacToe-v0, gymnasium.make", _turns(FAMILY[0]))
    checked, raw = _classic_rows()
    cart_pole = Row(
        "Gymnasium CartPole-v1", lambda rng: face_loops.control(gymnasium.make("CartPole-v1"), ONE_BOARD_PLIES, rng)
    )
    spiel = Row("OpenSpiel tic_tac_toe", partial(_open_spiel, "tic_tac_toe", 9), needs="pyspiel")
    goals = (
        Goal(ours.name, checked.name, 10),
        Goal(ours.name, raw.name),
        Goal(ours.name, cart_pole.name, 1),
        Goal(ours.name, spiel.name),
    )
    return Group("One board", (ours, checked, raw, cart_pole, spiel), goals)


def agents() -> Group:
    """Return the PettingZoo view and PettingZoo's own."""
    ours = Row("tictactoe_v0.env()", partial(_agents, tictactoe_v0.env))
    ours_raw = Row("tictactoe_v0.raw_env()", partial(_agents, tictactoe_v0.raw_env))
    checked, raw = _classic_rows()
    goals = (Goal(ours.name, checked.name, 4), Goal(ours_raw.name, raw.name))
    return Group("Two agents, PettingZoo AEC", (ours, ours_raw, checked, raw), goals)


def _classic_rows() -> tuple[Row, Row]:
    def made(name: str, rng: np.random.Generator) -> Chunk:
        return _agents(getattr(face_peers.pettingzoo_classic(), name), rng)

    return (
        Row("PettingZoo tictactoe_v3.env()", partial(made, "env"), needs="pygame"),
        Row("PettingZoo tictactoe_v3.raw_env()", partial(made, "raw_env"), needs="pygame"),
    )


def few(num_boards: int) -> Group:
    """Return both vector environments on few boards, Gymnasium's vector of single ones, and one of these alone."""
    rows, goals = [], []
    alone: dict[str, Make] = {"TicTacToe-v0": _turns(FAMILY[0]), "TicTacToeVersus-v0": partial(_versus, "random")}
    for env_id, one in alone.items():
        single = Row(f"{env_id}, one alone", one)
        rows.append(single)
        for mode in AutoresetMode:
            ours = Row(f"{env_id}, make_vec, {mode.name}", _replayed(env_id, num_boards, mode, sync=False))
            sync = Row(f"{env_id}, SyncVectorEnv, {mode.name}", _replayed(env_id, num_boards, mode, sync=True))
            rows += [ours, sync]
            goals += [Goal(ours.name, sync.name, 2), Goal(ours.name, single.name, 1 if num_boards >= 8 else None)]
    boards = "1 board" if num_boards == 1 else f"{num_boards} boards"
    return Group(f"A vector of {boards}", tuple(rows), tuple(goals))


def vector(num_boards: int, at_least: float, *, sync: bool) -> Group:
    """Return the vector environment in its modes, and pgx, each with cells drawn before and drawn from the masks."""
    modes = {mode: Row(f"make_vec, {mode.name}", _vector(num_boards, mode=mode)) for mode in AutoresetMode}
    ours, same_step = modes[AutoresetMode.NEXT_STEP], modes[AutoresetMode.SAME_STEP]
    dicts = Row(f"{same_step.name}, dict_observation", _vector(num_boards, mode=AutoresetMode.SAME_STEP, dicts=True))
    drawn = Row(f"{ours.name}, from the mask", _vector(num_boards, draw=True))
    pgx = Row("pgx, jitted steps", _pgx(num_boards, "step"), needs="pgx")
    pgx_drawn = Row("pgx, jitted steps, from the mask", _pgx(num_boards, "step", draw=True), needs="pgx")
    pgx_scan = Row("pgx, one lax.scan", _pgx(num_boards, "scan"), needs="pgx")
    rows = [*modes.values(), dicts, drawn, pgx, pgx_drawn, pgx_scan]
    goals = [
        Goal(ours.name, pgx.name, at_least),
        Goal(same_step.name, pgx.name),
        Goal(drawn.name, pgx_drawn.name, at_least),
        Goal(same_step.name, pgx_scan.name),
        Goal(dicts.name, same_step.name, 1 / 1.5),
    ]
    if sync:
        rows.append(Row("SyncVectorEnv of TicTacToe-v0", partial(_sync_vector, num_boards)))
        goals.append(Goal(ours.name, rows[-1].name))
    return Group(f"{num_boards:,} boards", tuple(rows), tuple(goals))


def versus(num_boards: int) -> Group:
    """Return the versus view and its vector form; a ply is a step, which holds the reply as well."""
    rows, goals = [], []
    for opponent in ("random", "heuristic", "optimal"):
        one = Row(f"TicTacToeVersus-v0, {opponent}", partial(_versus, opponent))
        many = Row(f"its make_vec, {num_boards:,} boards, {opponent}", partial(_versus_vector, opponent, num_boards))
        rows += [one, many]
        goals.append(Goal(many.name, one.name))
    return Group("An opponent inside", tuple(rows), tuple(goals))


def family(num_boards: int) -> Group:
    """Return the turn view and the vector environment on larger boards; a ply may cost as much more as cells are more.

    Sizes above 64 cells do not fit the vector environment.
    """
    rows, goals = [], []
    for rules in FAMILY:
        name = f"mnk(m={rules.cols},n={rules.rows},k={rules.k})"
        ours = Row(f"TicTacToe-v0, {rules}", _turns(rules))
        peer = Row(f"OpenSpiel mnk, {rules}", partial(_open_spiel, name, rules.cells), needs="pyspiel")
        rows += [ours, peer]
        goals.append(Goal(ours.name, peer.name, 5 if rules == FAMILY[-1] else None))
        if rules.cells <= 64:
            rows.append(Row(f"make_vec, {num_boards:,} boards, {rules}", _vector(num_boards, rules=rules)))
    for view in (0, 2):  # the places of the turn view and the vector environment among the rows of a size
        for place, rules in enumerate(FAMILY[1:], 1):
            if view + 3 * place < len(rows):
                goals.append(Goal(rows[view + 3 * place].name, rows[view].name, FAMILY[0].cells / rules.cells))
    return Group("Larger boards", tuple(rows), tuple(goals))


def batch(num_boards: int) -> Group:
    """Return the functional batch on a CPU, with NumPy and with torch."""
    ours = Row("tictactoe.batch, NumPy", _batch(num_boards, np))
    on_torch = Row("tictactoe.batch, torch CPU", _batch(num_boards, torch, torch.device("cpu")))
    goals = (Goal(ours.name, on_torch.name),)
    return Group(f"The functional batch, {num_boards:,} boards", (ours, on_torch), goals)


def device(num_boards: int) -> Group:
    """Return the functional batch on a GPU, and pgx on the same one; all arrays stay there."""
    plain = Row("tictactoe.batch, torch CUDA", _batch(num_boards, torch, CUDA))
    recorded = Row("tictactoe.batch, as a CUDA graph", _recorded_batch(num_boards))
    if not face_peers.pgx_accelerated():
        return Group(f"On the GPU, {num_boards:,} boards; JAX sees none", (recorded, plain), ())
    pgx = Row("pgx, jitted steps", _pgx(num_boards, "device"), needs="pgx")
    return Group(f"On the GPU, {num_boards:,} boards", (recorded, plain, pgx), (Goal(recorded.name, pgx.name, 1),))


def groups(subject: Subject) -> tuple[Group, ...]:
    """Return the groups of a subject; those on a GPU are none where torch sees none."""
    of_subjects: dict[Subject, Callable[[], tuple[Group, ...]]] = {
        "board": lambda: (board(),),
        "agents": lambda: (agents(),),
        "few": lambda: tuple(few(num_boards) for num_boards in (1, 8, 32)),
        "vector": lambda: (vector(1_024, 4, sync=True), vector(65_536, 3, sync=False)),
        "versus": lambda: (versus(1_024),),
        "family": lambda: (family(1_024),),
        "batch": lambda: (batch(1_024), batch(65_536)),
        "device": lambda: (device(65_536), device(1_048_576)) if torch.cuda.is_available() else (),
    }
    return of_subjects[subject]()
