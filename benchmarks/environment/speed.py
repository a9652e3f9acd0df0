"""Measure plies per second of every environment API beside its peers.

The figures of docs/speed.md:

    python -m benchmarks.environment.speed --docs docs

Every row plays random legal games on one thread, and each ply delivers observation, mask, reward and end to the caller.
What is timed is that loop (`loops.py`), resets included; making environments, sampling the games, compiling and a first
warm-up are not. Seconds are those on the processor, so other programs on the core take none of them. The cells to play
come from random orders sampled before the clock starts, the same for all. Rows "from the mask" sample among the cells
of the delivered masks instead, each library in its natural way: NumPy tables here, `jax.random.categorical` for pgx.

All rows run in this process, pinned to one core so that JAX starts no second thread. The rows
of a group take turns, and one turn of all of them is a round: a ratio is one of the same round. A test checks
that all rows play the same games. CartPole knows no mask. A peer that is not installed is skipped.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from rich.console import Console

from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.environment import libraries, loops
from benchmarks.environment.loops import CELLS, Chunk, FromMask, Presampled, games
from selfplay.cli.flags import run_command
from tictactoe import Rules, tictactoe_v0

PROG = "python -m benchmarks.environment.speed"
TITLE = "Speed of the environments"
LIBRARIES = ("pettingzoo", "pgx", "pygame-ce", "open-spiel", "jax")
ONE_BOARD_PLIES = 4_000
"""About this many plies are in a chunk of one board."""
MANY_BOARDS_PLIES = 2**16
"""Plies in a chunk of many boards, which has at least eight steps."""
BOARDS = (1, 64, 1_024, 65_536, 1_048_576)
"""Sizes of the vectors."""
FAMILY = (Rules(3, 3, 3), Rules(4, 4, 4), Rules(7, 7, 5), Rules(15, 15, 5))
Subject = Literal["board", "agents", "vector", "versus", "family"]
Make: TypeAlias = Callable[[np.random.Generator], Chunk]


class Group(NamedTuple):
    """Hold what is measured in turns: how each row is made ready, and which rows are compared."""

    title: str
    rows: Mapping[str, Make]
    ratios: Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Flags:
    """Measure plies per second of every environment API beside its peers."""

    subjects: tuple[Subject, ...] = get_args(Subject)
    """What to measure."""
    rounds: int = 21
    """Turns of each row."""
    seconds: float = 0.15
    """Time of a turn on the processor, or one chunk of plies if that takes longer."""
    docs: Path | None = None
    """Folder of the pages, in whose data file the results are saved."""


def measure(rows: Mapping[str, Make], rounds: int, seconds: float, console: Console) -> dict[str, list[Result]]:
    """Measure rows in turns, and return a result for each round; peers that are not installed are left out."""
    chunks: dict[str, Chunk] = {}
    for name, make in rows.items():
        chunk = harness.prepare(console, name, partial(make, np.random.default_rng(0)))
        if chunk is not None:
            chunk()
            chunks[name] = chunk
    results: dict[str, list[Result]] = {name: [] for name in chunks}
    for _ in range(rounds):
        for name, chunk in chunks.items():
            results[name].append(turn(chunk, seconds))
    return results


def turn(chunk: Chunk, seconds: float) -> Result:
    """Play chunks for some time."""
    plies = 0
    started = time.process_time()
    while (elapsed := time.process_time() - started) < seconds or not plies:
        plies += chunk().plies
    return {"plies/s": plies / elapsed}


def compare(group: Group, flags: Flags, console: Console) -> None:
    """Measure a group, and print its rows and the ratios round by round."""
    measured_on = harness.machine(LIBRARIES)
    results = measure(group.rows, flags.rounds, flags.seconds, console)
    for ours, peer in group.ratios:
        if {ours, peer} <= results.keys():
            pairs = zip(results[ours], results[peer], strict=True)
            results[f"{ours} / {peer}"] = [{"ratio": one["plies/s"] / other["plies/s"]} for one, other in pairs]
    note = f"{group.title}; {flags.rounds} rounds of {flags.seconds} s a row"
    harness.present(console, harness.summary(results), note)
    if flags.docs is not None:
        named = {f"{group.title}: {row}": of_row for row, of_row in results.items()}
        data.save(flags.docs, TITLE, named, measured_on)


def one_board(rules: Rules) -> Make:
    """Return how the turn environment is made ready."""
    return lambda rng: loops.one_board(
        gymnasium.make("TicTacToe-v0", rows=rules.rows, cols=rules.cols, k=rules.k),
        games(rules.cells, ONE_BOARD_PLIES, rng),
    )


def many_boards(
    num_boards: int, rules: Rules = FAMILY[0], steps: int = 0, *, from_mask: bool = False, **how: Any
) -> Make:
    """Return how a vector environment is made ready, for chunks of some steps; `how` is for `gymnasium.make_vec`."""

    def make(rng: np.random.Generator) -> Chunk:
        settings = {"id": "TicTacToe-v0", "rows": rules.rows, "cols": rules.cols, "k": rules.k, **how}
        chooser = FromMask(num_boards, rng) if from_mask else Presampled(rules.cells, num_boards, rng)
        return loops.vector(gymnasium.make_vec(num_envs=num_boards, **settings), chooser, steps or _steps(num_boards))

    return make


def _steps(num_boards: int) -> int:
    return max(8, MANY_BOARDS_PLIES // num_boards)


def _against(opponent: str) -> Make:
    return lambda rng: loops.against_opponent(
        gymnasium.make("TicTacToeVersus-v0", opponent=opponent), games(CELLS, ONE_BOARD_PLIES, rng)
    )


def _two_agents(make: Callable[[], Any]) -> Make:
    return lambda rng: loops.two_agents(make(), games(CELLS, ONE_BOARD_PLIES, rng))


def _open_spiel(game: str, cells: int) -> Make:
    return lambda rng: libraries.open_spiel(game, games(cells, ONE_BOARD_PLIES, rng))


def _pgx(num_boards: int, delivery: Literal["step", "scan"] = "step", *, from_mask: bool = False) -> Make:
    return lambda rng: libraries.pgx(num_boards, _steps(num_boards), rng, delivery, from_mask=from_mask)


OURS, PGX = "TicTacToe-v0, gymnasium.make", "pgx, jitted steps"
VECTOR, SAME_STEP, DICTS = "make_vec, NEXT_STEP", "make_vec, SAME_STEP", "make_vec, SAME_STEP, dicts"
CHECKED, RAW = "PettingZoo tictactoe_v3.env()", "PettingZoo tictactoe_v3.raw_env()"
CLASSIC: Mapping[str, Make] = {
    CHECKED: _two_agents(lambda: libraries.pettingzoo_classic().env()),
    RAW: _two_agents(lambda: libraries.pettingzoo_classic().raw_env()),
}


def board() -> Group:
    """Return the turn environment and single boards of others."""
    peers: Mapping[str, Make] = {
        **CLASSIC,
        "Gymnasium CartPole-v1": partial(loops.cart_pole, ONE_BOARD_PLIES),
        "OpenSpiel tic_tac_toe": _open_spiel("tic_tac_toe", CELLS),
    }
    return Group("one board", {OURS: one_board(FAMILY[0]), **peers}, [(OURS, peer) for peer in peers])


def agents() -> Group:
    """Return our PettingZoo environment and PettingZoo's own."""
    ours = {name: _two_agents(getattr(tictactoe_v0, name)) for name in ("env", "raw_env")}
    rows = {f"tictactoe_v0.{name}()": make for name, make in ours.items()}
    return Group("two agents, AEC", {**rows, **CLASSIC}, list(zip(rows, (CHECKED, RAW), strict=True)))


def vector(num_boards: int) -> Group:
    """Return the vector environment in its modes, Gymnasium's vector of single ones, and pgx."""
    from_mask, scan, sync = ", from the mask", "pgx, one lax.scan", "SyncVectorEnv of TicTacToe-v0"
    rows = {
        **{f"make_vec, {mode.name}": many_boards(num_boards, autoreset_mode=mode) for mode in AutoresetMode},
        DICTS: many_boards(num_boards, autoreset_mode=AutoresetMode.SAME_STEP, dict_observation=True),
        VECTOR + from_mask: many_boards(num_boards, from_mask=True),
        PGX: _pgx(num_boards),
        PGX + from_mask: _pgx(num_boards, from_mask=True),
        scan: _pgx(num_boards, "scan"),
        **({sync: many_boards(num_boards, steps=16, vectorization_mode="sync")} if num_boards <= 1_024 else {}),
    }
    ratios = [
        (VECTOR, PGX), (SAME_STEP, PGX), (VECTOR + from_mask, PGX + from_mask), (SAME_STEP, scan),
        (DICTS, SAME_STEP), (VECTOR, sync),
    ]  # fmt: skip
    return Group(f"boards: {num_boards:,}", rows, ratios)


def versus(num_boards: int) -> Group:
    """Return the environment with an opponent and its vector; a ply is a step, which holds the reply as well."""
    rows: dict[str, Make] = {}
    ratios = []
    for opponent in ("random", "heuristic", "optimal"):
        one, many = f"TicTacToeVersus-v0, {opponent}", f"its make_vec, {num_boards:,} boards, {opponent}"
        rows[one] = _against(opponent)
        rows[many] = many_boards(num_boards, from_mask=True, id="TicTacToeVersus-v0", opponent=opponent)
        ratios.append((many, one))
    return Group("an opponent inside", rows, ratios)


def family(num_boards: int) -> Group:
    """Return the turn environment and, up to 64 cells, its vector on larger boards."""
    rows: dict[str, Make] = {}
    ratios = []
    for rules in FAMILY:
        ours, peer, many = f"TicTacToe-v0, {rules}", f"OpenSpiel mnk, {rules}", f"make_vec, {num_boards:,}, {rules}"
        rows[ours] = one_board(rules)
        rows[peer] = _open_spiel(f"mnk(m={rules.cols},n={rules.rows},k={rules.k})", rules.cells)
        ratios.append((ours, peer))
        if rules.cells <= 64:
            rows[many] = many_boards(num_boards, rules)
        if rules != FAMILY[0]:
            ratios += [(name, name.replace(str(rules), str(FAMILY[0]))) for name in (ours, many) if name in rows]
    return Group("larger boards", rows, ratios)


GROUPS: Mapping[Subject, Callable[[], Sequence[Group]]] = {
    "board": lambda: [board()],
    "agents": lambda: [agents()],
    "vector": lambda: [vector(boards) for boards in BOARDS],
    "versus": lambda: [versus(1_024)],
    "family": lambda: [family(1_024)],
}


def main(args: Sequence[str]) -> None:
    """Measure group after group, and print the tables of each as it ends."""
    flags = harness.read_flags(Flags, args, PROG)
    console = harness.start(TITLE, LIBRARIES)
    harness.pin_to_one_core(console)
    for subject in flags.subjects:
        for group in GROUPS[subject]():
            compare(group, flags, console)


if __name__ == "__main__":
    run_command(main, PROG)
