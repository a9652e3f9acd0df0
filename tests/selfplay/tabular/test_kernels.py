"""Every compiled loop leaves the same bits as its plain reference, in one call or in several."""

import copy
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.tabular.config import AfterstateQConfig, MinimaxQConfig, TabularConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learner import make_algorithm
from selfplay.tabular.minimax_q import MinimaxQ
from selfplay.tabular.td_backup import TDBackup
from tests.selfplay.tabular import references
from tests.selfplay.tabular.references import row_of
from tests.tictactoe.rule_book import Board

GAMES = 2_000


def table_of(values: dict[Board, float], initial: np.ndarray) -> np.ndarray:
    table = initial.copy()
    for board, value in values.items():
        table[row_of(board)] = value
    return table


def reference(config: TabularConfig, initial: np.ndarray) -> tuple[list[int], np.ndarray]:
    """Return how the reference's games end, and what its tables come to."""
    if isinstance(config, MinimaxQConfig):
        tables, rng = references.minimax_q_start(config)
        return references.minimax_q(config, GAMES, tables, rng), tables
    if isinstance(config, TDValueConfig):
        outcomes, seats = references.td_value(config, GAMES)
        return outcomes, np.stack([table_of(*pair) for pair in zip(seats, initial, strict=True)])
    if isinstance(config, AfterstateQConfig):
        outcomes, values = references.afterstate_q(config, GAMES)
    else:
        assert isinstance(config, TDBackupConfig)
        outcomes, values = references.td_backup(config, GAMES, 500)
    return outcomes, table_of(values, initial)


@pytest.mark.parametrize(
    "config",
    [
        MinimaxQConfig(seed=1000),
        MinimaxQConfig(seed=1001, tables="separate", epsilon=0.2),
        MinimaxQConfig(seed=1002, alpha=1, gamma=1, epsilon=0.3),
        AfterstateQConfig(seed=1000),
        AfterstateQConfig(seed=1001, seat=1, draw_reward=0.2),
        AfterstateQConfig(seed=1002, seat=0, alpha=0.5, gamma=1, exploration=0.5, draw_reward=-0.3),
        AfterstateQConfig(seed=1003, seat="none"),
        TDValueConfig(seed=1000),
        TDValueConfig(seed=1001, opponent="heuristic", back_up_losses=False),
        TDValueConfig(seed=1002, opponent="optimal", alpha=0.5, exploration=0.3),
        TDValueConfig(seed=1003, opponent="self"),
        TDValueConfig(seed=1004, opponent="self", back_up_losses=False, exploration=0.5),
        TDBackupConfig(seed=1000),
        TDBackupConfig(seed=1001, exploit=0.3, alpha=1, gamma=0.5, draw_first=0.4, draw_second=0.2),
        TDBackupConfig(seed=1002, rows=2, cols=4, k=3),
        TDBackupConfig(seed=1003, rows=1, cols=1, k=1),
    ],
    ids=str,
)
def test_a_learner_equals_its_reference(config: Any) -> None:
    learner: Any = make_algorithm(config)
    initial = learner.table.copy()
    outcomes, expected = reference(config, initial)
    played = learner.play(GAMES).tolist()
    if isinstance(learner, TDBackup):
        played += learner.play_greedily(500).tolist()
    assert played == outcomes
    assert np.array_equal(learner.table, expected)
    changed = (learner.table != initial).reshape(2 if isinstance(config, TDValueConfig) else 1, -1).any(axis=1)
    assert changed.all() == (config != AfterstateQConfig(seed=1003, seat="none"))
    if isinstance(config, MinimaxQConfig):
        assert {0, 1, 2, 3} <= set(outcomes)
    elif isinstance(config, AfterstateQConfig):
        assert {-1, 0, 1} == set(outcomes)


def test_trained_minimax_q_equals_its_reference_in_draws_too() -> None:
    config = MinimaxQConfig(seed=1000, epsilon=0.1)
    learner = MinimaxQ(config)
    learner.play(500_000)
    tables, rng = learner.table.copy(), copy.deepcopy(learner.rng)
    outcomes = references.minimax_q(config, GAMES, tables, rng)
    assert learner.play(GAMES).tolist() == outcomes
    assert np.array_equal(learner.table, tables)
    assert {-1, 0, 1, 2, 3} == set(outcomes)


def test_td_backup_plays_4x4_as_its_reference() -> None:
    config = TDBackupConfig(seed=1000, rows=4, cols=4, k=4)
    learner = TDBackup(config)
    outcomes, values = references.td_backup(config, 200, 0)
    assert learner.play(200).tolist() == outcomes
    rows = [row_of(board) for board in values]
    assert learner.table[rows].tolist() == list(values.values())
    assert max(rows) > 3**15
    assert learner.table.any()


@pytest.mark.parametrize(
    "config",
    [
        MinimaxQConfig(seed=1000),
        MinimaxQConfig(seed=1000, tables="separate"),
        AfterstateQConfig(seed=1000),
        TDValueConfig(seed=1000),
        TDValueConfig(seed=1000, opponent="self"),
        TDBackupConfig(seed=1000),
    ],
    ids=str,
)
def test_games_in_chunks_leave_the_same_bits_as_all_at_once_and_another_seed_others(config: TabularConfig) -> None:
    whole, parts, other = map(make_algorithm, (config, config, dataclasses.replace(config, seed=1001)))
    outcomes = whole.play(1_000)
    assert np.array_equal(np.concatenate([parts.play(games) for games in (1, 0, 332, 667)]), outcomes)
    assert np.array_equal(parts.table, whole.table)
    assert parts.rng.bit_generator.state == whole.rng.bit_generator.state
    assert parts.games_played == whole.games_played == 1_000
    assert not np.array_equal(other.play(1_000), outcomes)
    assert not np.array_equal(other.table, whole.table)


def test_separate_tables_learn_what_one_table_learns_from_the_same_initial_numbers() -> None:
    shared = MinimaxQ(MinimaxQConfig(seed=1000))
    separate = MinimaxQ(MinimaxQConfig(seed=1000, tables="separate"))
    separate.table[:] = shared.table[0]
    separate.rng.bit_generator.state = shared.rng.bit_generator.state
    initial = shared.table[0].copy()
    assert np.array_equal(shared.play(GAMES), separate.play(GAMES))
    changed = separate.table != initial
    assert changed.any(axis=(1, 2)).all()
    assert not changed.all(axis=0).any()
    assert np.array_equal(np.where(changed[0], separate.table[0], separate.table[1]), shared.table[0])


def test_the_loops_compile_without_a_folder_to_keep_them_in(tmp_path: Path) -> None:
    script = """
import numba.core.caching as caching
caching.CacheImpl._locator_classes = []  # as where neither the package nor the home folder can be written
from selfplay.tabular.config import MinimaxQConfig
from selfplay.tabular.minimax_q import MinimaxQ
print(len(MinimaxQ(MinimaxQConfig()).play(3)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
