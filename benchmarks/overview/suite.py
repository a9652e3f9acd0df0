"""List what `python -m benchmarks` measures: ours and the peers, in groups.

Every row reuses what a detailed script measures with. Sizes are smaller here, so that all of it takes minutes:
`faces`, `article_speed`, `time_to_unbeatable`, `published` and `import_time` have more rows and more runs.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.environment import face_rows, faces
from benchmarks.environment.import_time import import_once
from benchmarks.learning import time_to_unbeatable
from benchmarks.measuring.fresh import peak_megabytes
from benchmarks.overview.rounds import Row, Turn
from benchmarks.training import article_speed
from benchmarks.training.cleanrl_style import Timed
from benchmarks.training.unit import STEPS, unit_seconds
from selfplay import training
from selfplay.dqn.config import DQNConfig
from selfplay.tabular.config import MinimaxQConfig, TabularConfig, TDBackupConfig

SB3 = "stable_baselines3"
Train: TypeAlias = Callable[[int, int], Timed]
"""Trains with a seed for so many steps."""
GroupName = Literal["faces", "updates", "proof", "tabular", "memory", "imports"]


@dataclass(frozen=True)
class Sizes:
    """Say how much a round does."""

    face_seconds: float = 0.3
    """Time of a face's turn, or one chunk of plies if that takes longer."""
    boards: tuple[int, ...] = (1_024, 65_536)
    """Of the vector environment."""
    steps: int = 2_000
    """Of a DQN with the published settings, with an update each after the warm-up."""
    default_steps: int = 102_400
    """Plies of a DQN with our default settings, 256 for each update after the warm-up."""
    total_steps: int = DQNConfig().total_steps
    """Plies after which training is no longer waited for to be proved."""
    games: int = 1_000_000
    """Of a tabular learner."""
    memory_steps: int = 25_600
    """Plies of `python train.py`: its replay memory is full then."""
    memory_peer_steps: int = 1_000


def face_group(sizes: Sizes) -> list[Row]:
    """Return plies per second of the faces, random legal play, as in `environment/faces.py`."""
    one, two, large = face_rows.board(), face_rows.agents(), face_rows.family(sizes.boards[0])
    classic, classic_raw = "PettingZoo tictactoe_v3.env()", "PettingZoo tictactoe_v3.raw_env()"
    singles = ("Gymnasium CartPole-v1", "OpenSpiel tic_tac_toe")
    rows = [
        *_faces(sizes, one, "TicTacToe-v0, gymnasium.make", (classic, classic_raw, *singles)),
        *_faces(sizes, two, "tictactoe_v0.env()", (classic,))[:1],  # whose peer has had its turn
        *_faces(sizes, large, "TicTacToe-v0, 15,15,5", ("OpenSpiel mnk, 15,15,5",)),
    ]
    for boards in sizes.boards:
        sync = boards == sizes.boards[0]
        peers = ("pgx, jitted steps", "SyncVectorEnv of TicTacToe-v0")[: 1 + sync]
        group = face_rows.vector(boards, 0, sync=sync)
        rows += _faces(sizes, group, "make_vec, NEXT_STEP", peers, f", {boards:,} boards")
    return rows


def _faces(sizes: Sizes, group: face_rows.Group, ours: str, peers: tuple[str, ...], suffix: str = "") -> list[Row]:
    """Return a row of a group of faces and those of its peers, with something behind their names."""
    faces_by_name = {row.name: row for row in group.rows}
    rows = []
    for name in (ours, *peers):
        face, is_ours = faces_by_name[name], name == ours
        compared = tuple(f"{peer}{suffix}" for peer in peers) if is_ours else ()
        make = partial(_face, face, sizes.face_seconds)
        rows.append(Row(f"{name}{suffix}", "plies/s", make, compared, is_ours, face.needs))
    return rows


def _face(row: face_rows.Row, seconds: float) -> Turn:
    chunk = row.make(np.random.default_rng(0))  # the same games in every round: the clock alone differs
    chunk()
    return lambda _: faces.turn(chunk, seconds)[0]


def update_group(sizes: Sizes) -> list[Row]:
    """Return updates per second; at the published settings there is one for each step of one board."""
    cleanrl, sb3 = "DQN in CleanRL's manner", "Stable-Baselines3's DQN"

    def row(name: str, train: Train, peers: tuple[str, ...] = (), needs: str | None = None) -> Row:
        return Row(name, "updates/s", partial(_updates_per_second, train, sizes.steps), peers, needs is None, needs)

    def default(seed: int, _: int) -> Timed:
        return article_speed.trained(DQNConfig(total_steps=sizes.default_steps, seed=seed))

    return [
        row("dqn --preset article", article_speed.ours, (cleanrl, sb3)),
        row(cleanrl, partial(article_speed.theirs, scalars=True), needs=SB3),
        row(sb3, _unit, needs=SB3),
        row("dqn", default),
    ]


def _updates_per_second(train: Train, steps: int) -> Turn:
    train(0, min(steps, article_speed.WARM_UP_STEPS))  # what is slow only once in a process

    def turn(seed: int) -> float:
        timed = train(seed, steps)
        return timed.updates / timed.seconds

    return turn


def _unit(seed: int, steps: int) -> Timed:
    return Timed(unit_seconds(steps, seed=seed), steps)


def proof_group(sizes: Sizes) -> list[Row]:
    """Return the time to a proof; the ratio is in units of `training/unit.py`, of which a fifth is measured."""
    unit = f"the unit: Stable-Baselines3's DQN, {STEPS:,} steps"

    def proof(seed: int) -> float:
        return time_to_unbeatable.measure("default", seed, sizes.total_steps, "cpu").seconds

    def unit_row() -> Turn:
        turn = _updates_per_second(_unit, sizes.steps)
        return lambda seed: STEPS / turn(seed)

    return [
        Row("dqn until proved unbeatable", "s", lambda: proof, (unit,)),
        Row(unit, "s", unit_row, ours=False, needs=SB3),
    ]


def tabular_group(sizes: Sizes) -> list[Row]:
    """Return training games per second of two published learners."""

    def row(config: TabularConfig) -> Row:
        def games_per_second(seed: int) -> float:
            *_, last = training(replace(config, seed=seed))
            return last.steps / last.metrics["time/training_s"]

        return Row(config.algorithm, "games/s", lambda: games_per_second)

    return [row(MinimaxQConfig(games=sizes.games)), row(TDBackupConfig(games=sizes.games))]


def memory_group(sizes: Sizes) -> list[Row]:
    """Return the most memory that fresh interpreters have in use."""
    libraries, torch = "import numpy, gymnasium", "import torch"
    sb3 = f"Stable-Baselines3's DQN, {sizes.memory_peer_steps:,} steps"
    train = f"""
import tempfile
from selfplay.cli.train import main
with tempfile.TemporaryDirectory() as folder:
    main(["--total-steps", "{sizes.memory_steps}", "--stop", "never", "--device", "cpu", "--run-dir", folder])
"""
    unit = f"""
import torch, benchmarks.training.unit
torch.set_num_threads(1)
benchmarks.training.unit.unit_seconds({sizes.memory_peer_steps})
"""

    def row(name: str, statements: str, peers: tuple[str, ...] = (), **fields: Any) -> Row:
        return Row(name, "MB", lambda: lambda _: peak_megabytes(statements), peers, **fields)

    return [
        row("import tictactoe", "import tictactoe", (libraries,)),
        row(libraries, libraries, ours=False),
        row(f"python train.py, {sizes.memory_steps:,} plies", train, (torch, sb3)),
        row(torch, torch, ours=False),
        row(sb3, unit, ours=False, needs=SB3),
    ]


def import_group() -> list[Row]:
    """Return import times in fresh interpreters, after NumPy and Gymnasium.

    Those of environments are so short that reading the files decides; the best of three is taken in each round.
    """
    environments = {"pettingzoo.classic.tictactoe_v3": "pygame", "pyspiel": "pyspiel", "pgx": "pgx"}
    frameworks = {"torch": None, SB3: SB3}
    rows = []
    for ours, peers, times in ("tictactoe", environments, 3), ("selfplay", frameworks, 1):
        rows.append(Row(ours, "ms", partial(_imported, ours, times), tuple(peers)))
        rows += [
            Row(module, "ms", partial(_imported, module, times), ours=False, needs=needed)
            for module, needed in peers.items()
        ]
    return rows


def _imported(module: str, times: int) -> Turn:
    import_once(module)  # the first may have to compile and read files
    return lambda _: min(import_once(module) for _ in range(times))


def all_groups(sizes: Sizes) -> dict[str, list[Row]]:
    """Return the rows of every group."""
    return {
        "faces": face_group(sizes),
        "updates": update_group(sizes),
        "proof": proof_group(sizes),
        "tabular": tabular_group(sizes),
        "memory": memory_group(sizes),
        "imports": import_group(),
    }
