"""Measure plies per second of every environment API and its peers.

The figures of docs/results.md:

    python -m benchmarks.environment.speed --docs docs

Every row plays random legal games on one thread, and each ply delivers observation, mask, reward and end to the caller.
What is timed is that loop (`loops.py`), resets included; making environments, sampling the games, compiling and a first
warm-up are not. Seconds are those on the processor, so other programs on the core take none of them. The cells to play
come from random orders sampled before the clock starts, the same for all. Rows "from the mask" sample among the cells
of the delivered masks instead: one board by NumPy, many by tables of ours, and pgx by `jax.random.categorical`, which
its documentation uses and which costs it more than the step.

All rows run in this process, pinned to one core so that JAX starts no second thread. The rows of a group take turns,
and one turn of all of them is a round: a ratio is one of the same round. CartPole knows no mask. A peer that is not
installed is skipped.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import gymnasium
import numpy as np
import tyro
from gymnasium.vector import AutoresetMode

from benchmarks import data, harness
from benchmarks.data import Result
from benchmarks.environment import libraries, loops
from benchmarks.environment.loops import CELLS, Chunk, FromMask, Presampled, games
from tictactoe import Rules, tictactoe_v0

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
    """Rows that are measured in turns: how each is made ready, and which are compared."""

    title: str
    rows: Mapping[str, Make]
    ratios: Sequence[tuple[str, str]]


def measure(rows: Mapping[str, Make], rounds: int, seconds: float) -> dict[str, list[Result]]:
    """Measure rows in turns, and return a result for each round; peers that are not installed are left out."""
    chunks: dict[str, Chunk] = {}
    for name, make in rows.items():
        try:
            chunk = make(np.random.default_rng(0))
        except ModuleNotFoundError as error:
            print(f"{name} is left out: {error}")
            continue
        chunk()
        chunks[name] = chunk
    results: dict[str, list[Result]] = {name: [] for name in chunks}
    for _ in range(rounds):
        for name, chunk in chunks.items():
            results[name].append({"plies/s": plies_per_second(chunk, seconds)})
    return results


def plies_per_second(chunk: Chunk, seconds: float) -> float:
    """Play chunks for some time, at least one."""
    plies, elapsed = 0, 0.0
    started = time.process_time()
    while elapsed < seconds or not plies:
        plies += chunk()
        elapsed = time.process_time() - started
    return plies / elapsed


def with_ratios(group: Group, results: Mapping[str, list[Result]]) -> dict[str, list[Result]]:
    """Return the rows of a group and the ratios of those that are compared, round by round."""
    found = dict(results)
    for ours, peer in group.ratios:
        if ours in results and peer in results:
            pairs = zip(results[ours], results[peer], strict=True)
            found[f"{ours} / {peer}"] = [{"ratio": one["plies/s"] / other["plies/s"]} for one, other in pairs]
    return found


def run(group: Group, rounds: int, seconds: float, measured_on: Mapping[str, str], docs: Path | None) -> None:
    """Measure a group and print its table; with `docs` save it, where `benchmarks.pages` finds a row by both names."""
    results = with_ratios(group, measure(group.rows, rounds, seconds))
    harness.present(results, f"{group.title}; {rounds} rounds of {seconds} s a row")
    if docs is not None:
        data.save(docs, TITLE, {f"{group.title}: {row}": found for row, found in results.items()}, measured_on)


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


def _open_spiel(game: str, cells: int, delivery: libraries.Delivery = "arrays") -> Make:
    return lambda rng: libraries.open_spiel(game, games(cells, ONE_BOARD_PLIES, rng), delivery)


def _open_spiel_from_mask(delivery: libraries.Delivery) -> Make:
    return lambda rng: libraries.open_spiel_from_mask("tic_tac_toe", ONE_BOARD_PLIES, delivery, rng)


def _one_board_from_mask(rng: np.random.Generator) -> Chunk:
    return loops.one_board_from_mask(gymnasium.make("TicTacToe-v0"), ONE_BOARD_PLIES, rng)


def _pgx(num_boards: int, delivery: Literal["step", "scan"] = "step", *, from_mask: bool = False) -> Make:
    return lambda rng: libraries.pgx(num_boards, _steps(num_boards), rng, delivery, from_mask=from_mask)


OURS, PGX, OPEN_SPIEL = "TicTacToe-v0, gymnasium.make", "pgx, jitted steps", "OpenSpiel tic_tac_toe"
DELIVERIES = get_args(libraries.Delivery)
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
        **{f"{OPEN_SPIEL}, {delivery}": _open_spiel("tic_tac_toe", CELLS, delivery) for delivery in DELIVERIES},
    }
    return Group("one board", {OURS: one_board(FAMILY[0]), **peers}, [(OURS, peer) for peer in peers])


def board_from_mask() -> Group:
    """Return the turn environment and OpenSpiel where the loop samples the cells from what each delivers."""
    ours = f"{OURS}, from the mask"
    peers = {f"{OPEN_SPIEL}, {delivery}, from them": _open_spiel_from_mask(delivery) for delivery in DELIVERIES}
    rows: Mapping[str, Make] = {ours: _one_board_from_mask, **peers}
    return Group("one board, cells sampled from what is delivered", rows, [(ours, peer) for peer in peers])


def agents() -> Group:
    """Return our PettingZoo environment and PettingZoo's own."""
    ours = {name: _two_agents(getattr(tictactoe_v0, name)) for name in ("env", "raw_env")}
    rows = {f"tictactoe_v0.{name}()": make for name, make in ours.items()}
    return Group("two agents, AEC", {**rows, **CLASSIC}, list(zip(rows, (CHECKED, RAW), strict=True)))


def vector(num_boards: int) -> Group:
    """Return the vector environment in its modes, Gymnasium's vector of single ones, and pgx."""
    from_mask, categorical = f"{VECTOR}, from the mask", f"{PGX}, jax.random.categorical"
    scan, sync = "pgx, one lax.scan", "SyncVectorEnv of TicTacToe-v0"
    rows = {
        **{f"make_vec, {mode.name}": many_boards(num_boards, autoreset_mode=mode) for mode in AutoresetMode},
        DICTS: many_boards(num_boards, autoreset_mode=AutoresetMode.SAME_STEP, dict_observation=True),
        from_mask: many_boards(num_boards, from_mask=True),
        PGX: _pgx(num_boards),
        categorical: _pgx(num_boards, from_mask=True),
        scan: _pgx(num_boards, "scan"),
        **({sync: many_boards(num_boards, steps=16, vectorization_mode="sync")} if num_boards <= 1_024 else {}),
    }
    ratios = [
        (VECTOR, PGX), (SAME_STEP, PGX), (from_mask, categorical), (SAME_STEP, scan),
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
    "board": lambda: [board(), board_from_mask()],
    "agents": lambda: [agents()],
    "vector": lambda: [vector(boards) for boards in BOARDS],
    "versus": lambda: [versus(1_024)],
    "family": lambda: [family(1_024)],
}


def pin_to_one_core() -> None:
    """Keep the process, and the threads that JAX will start, on one core where the system can."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def main(
    subjects: tuple[Subject, ...] = get_args(Subject),
    rounds: int = 11,
    seconds: float = 1.0,
    docs: Path | None = None,
) -> None:
    """Measure plies per second of every environment API and its peers, group after group.

    Args:
        subjects: What to measure.
        rounds: Turns of each row.
        seconds: Time of a turn on the processor, or one chunk of plies if that takes longer.
        docs: Folder of the pages, in whose data file the results are saved.
    """
    measured_on = harness.start(TITLE, LIBRARIES)
    pin_to_one_core()
    for subject in subjects:
        for group in GROUPS[subject]():
            run(group, rounds, seconds, measured_on, docs)


if __name__ == "__main__":
    tyro.cli(main)
