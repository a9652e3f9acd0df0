"""The loops that are timed play random legal games to their ends, and what is proved of the rule is what is proved."""

from collections.abc import Mapping
from functools import cache, partial
from types import MappingProxyType
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from benchmarks.environment import loops, rule, search, speed
from benchmarks.environment.loops import CELLS, COLUMNS, FromMask, Presampled
from benchmarks.scaling import curves
from selfplay import DQNConfig
from selfplay.evaluation.agents import built_in_policy
from selfplay.evaluation.evaluate import evaluate_policy
from tests.tictactoe.rule_book import MARKS, Board, RuleBook, empty_cells, seat_to_move, with_mark
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS, Choices

BOARDS = 64
GROUPS = (
    speed.board(),
    speed.agents(),
    speed.few(8),
    speed.vector(BOARDS),
    speed.versus(BOARDS),
    speed.family(BOARDS),
)
OTHER_GAMES = ("CartPole", "Versus", "its make_vec", "4,4,4", "7,7,5", "15,15,5")
ROWS = [pytest.param(name, make, id=f"{group.title}: {name}") for group in GROUPS for name, make in group.rows.items()]
CHOICES: Mapping[str, Choices] = MappingProxyType({name: OPPONENTS[name] for name in ("random", "heuristic", "rule")})


def rng() -> np.random.Generator:
    return np.random.default_rng(1000)


@cache
def plies_per_game() -> float:
    """Return the exact mean length of a random legal game of 3,3,3."""
    book = RuleBook(3, 3, 3)

    @cache
    def to_go(board: Board) -> float:
        if book.finished(board):
            return 0.0
        cells = empty_cells(board)
        mark = MARKS[seat_to_move(board)]
        return 1 + sum(to_go(with_mark(board, cell, mark)) for cell in cells) / len(cells)

    return to_go(book.empty_board)


@pytest.mark.parametrize(("name", "make"), ROWS)
def test_every_row_plays_whole_random_games(name: str, make: speed.Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "ONE_BOARD_PLIES", 900)
    monkeypatch.setattr(speed, "MANY_BOARDS_PLIES", 64 * BOARDS)
    try:
        chunk = make(rng())
    except ModuleNotFoundError as error:
        pytest.skip(f"no {error.name} here")
    chunk()  # many boards start together, so their first games end together
    played = chunk()
    assert min(played) > 0
    if not any(other in name for other in OTHER_GAMES):  # illegal or less random moves would end games elsewhere
        assert played.plies / played.games == pytest.approx(plies_per_game(), abs=0.35)


def test_every_ratio_is_between_rows_of_its_group() -> None:
    for group in (*GROUPS, speed.vector(1_024), speed.family(1_024)):
        assert {name for ratio in group.ratios for name in ratio} <= group.rows.keys()


class WatchedBoards(gymnasium.vector.VectorWrapper):
    """Check what a loop with many boards plays and is given, and count it."""

    def __init__(self, env: gymnasium.vector.VectorEnv[Any, Any, Any]) -> None:
        super().__init__(env)
        self.mode = env.metadata["autoreset_mode"]
        self.waiting = np.zeros(env.num_envs, bool)
        self.plies, self.ended = 0, 0

    def reset(self, **settings: Any) -> tuple[Any, dict[str, Any]]:
        observation, info = super().reset(**settings)
        chosen = (settings.get("options") or {}).get("reset_mask", True)
        assert not (self.waiting & ~np.asarray(chosen)).any()
        self.waiting[:] = False
        self.mask = info["action_mask"]
        return observation, info

    def step(self, actions: Any) -> Any:
        if self.mode == AutoresetMode.DISABLED:
            assert not self.waiting.any()
        legal = self.mask[np.arange(self.num_envs), actions] == 1
        assert (legal | self.waiting).all()
        observation, reward, ended, truncated, info = super().step(actions)
        self.plies += int((~self.waiting).sum())
        self.ended += int(ended.sum())
        self.waiting = ended.copy() if self.mode != AutoresetMode.SAME_STEP else self.waiting
        self.mask = info["action_mask"]
        return observation, reward, ended, truncated, info


@pytest.mark.parametrize(
    ("mode", "choose"),
    [
        (AutoresetMode.NEXT_STEP, partial(Presampled, CELLS)),
        (AutoresetMode.SAME_STEP, FromMask),
        (AutoresetMode.DISABLED, partial(Presampled, CELLS)),
        (AutoresetMode.DISABLED, FromMask),
    ],
)
def test_many_boards_get_legal_cells_and_count_plies_and_games(mode: AutoresetMode, choose: Any) -> None:
    watched = WatchedBoards(gymnasium.make_vec("TicTacToe-v0", num_envs=BOARDS, autoreset_mode=mode))
    chunk = loops.vector(watched, choose(BOARDS, rng()), steps=30)
    first, second = chunk(), chunk()
    assert first.plies + second.plies == watched.plies
    assert first.games + second.games == watched.ended > BOARDS
    assert (watched.plies == 60 * BOARDS) == (mode != AutoresetMode.NEXT_STEP)


class EveryColumn:
    """Return each number once."""

    def integers(self, most: int, size: int, dtype: Any) -> NDArray[np.uint16]:
        assert most == size == COLUMNS
        return np.arange(most, dtype=dtype)


def test_sampling_from_a_mask_is_exactly_uniform() -> None:
    chooser = FromMask(COLUMNS, EveryColumn())  # type: ignore[arg-type]
    for word in range(1, 1 << CELLS):
        mask = np.array([word >> cell & 1 for cell in range(CELLS)], np.int8)
        counts = np.bincount(chooser.choose(np.tile(mask, (COLUMNS, 1))), minlength=CELLS)
        assert counts.tolist() == (mask * (COLUMNS // mask.sum(dtype=int))).tolist()


@pytest.mark.parametrize("name", CHOICES)
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 3, 2), (2, 4, 3), (3, 4, 4)], ids=str)
def test_the_rule_can_lose_where_the_evaluation_says_so(size: tuple[int, int, int], name: str) -> None:
    rules = Rules(*size)
    verdict = evaluate_policy(built_in_policy(CHOICES[name], rules))
    for seat, found in enumerate((verdict.first, verdict.second)):
        assert rule.can_lose(rules, CHOICES[name], seat)[0] is (found.losses > 0)


def test_positions_that_count_as_one_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert rule.can_lose(Rules(4, 4, 4), CHOICES["rule"], 0) == (False, 20_721)
    monkeypatch.setattr(rule, "PARENTS", 1_000)
    assert rule.can_lose(Rules(4, 4, 4), CHOICES["rule"], 0) == (False, 20_721)


def test_another_value_than_the_published_one_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PUBLISHED", MappingProxyType({"3x3x3": search.FIRST}))
    with pytest.raises(RuntimeError, match="3x3x3: draw is what the search says, and first seat wins what is"):
        search.measure("3x3x3", 10_000)


@pytest.mark.skipif(not curves.memory_measurable(), reason="this system does not report peak memory")
def test_memory_grows_with_the_boards() -> None:
    state, observation, mask, boards = 24, 27, 9, 65_536
    assert state + observation + mask < curves.peak_bytes(curves.IN_NUMPY, boards) / boards < 1_000
    assert curves.held_bytes(curves.VECTOR, BOARDS) == 9 * BOARDS
    assert curves.held_bytes(curves.PLAYING, BOARDS) == (state + 4 * observation) * BOARDS


def test_a_curve_varies_what_its_panel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[DQNConfig] = []
    monkeypatch.setattr(curves, "learning", learned.append)
    points = {(point.panel, point.name): point.curves for point in curves.points()}
    for place in (("batch size", "8192"), ("width", "64"), ("board size, learning", "4,4,4")):
        for name, make in points[place].items():
            if curves.UPDATE in name:
                make(rng())
    assert learned == [
        DQNConfig(batch_size=8_192),
        DQNConfig(hidden=(64,)),
        DQNConfig(hidden=(64, 64)),
        DQNConfig(rows=4, cols=4, k=4),
    ]
