"""The loops that are timed play random legal games to their ends, and what is proved of the rule is what is proved."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from benchmarks.environment import gpu, loops, rule, search, speed
from benchmarks.environment.loops import CELLS, COLUMNS, FromMask
from selfplay.judging.agents import ChoicesPolicy
from selfplay.judging.evaluate import evaluate_policy
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

BOARDS = 64
PLIES_PER_GAME = 7.6
"""Mean length of a random legal game of 3,3,3."""
GROUPS = (
    speed.board(),
    speed.board_from_mask(),
    speed.agents(),
    speed.vector(BOARDS),
    speed.versus(BOARDS),
    speed.family(BOARDS),
)
OTHER_GAMES = ("CartPole", "Versus", "its make_vec", "4,4,4", "7,7,5", "15,15,5")
ROWS = [pytest.param(name, make, id=f"{group.title}: {name}") for group in GROUPS for name, make in group.rows.items()]


@pytest.mark.parametrize(("name", "make"), ROWS)
def test_every_row_plays_whole_random_games(name: str, make: speed.Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "FRESH_CELLS", 1 << 14)
    monkeypatch.setattr(speed, "ONE_BOARD_PLIES", 900)
    monkeypatch.setattr(speed, "MANY_BOARDS_PLIES", 64 * BOARDS)
    try:
        chunk = make(np.random.default_rng(1000))
    except ModuleNotFoundError as error:
        pytest.skip(f"no {error.name} here")
    chunk()  # many boards start together, so their first games end together
    played = chunk()
    assert min(played) > 0
    if not any(other in name for other in OTHER_GAMES):  # illegal or less random moves would end games elsewhere
        assert played.plies / played.games == pytest.approx(PLIES_PER_GAME, abs=0.35)


def test_boards_of_tensors_play_whole_random_games() -> None:
    advance, steps = gpu.in_place(BOARDS, "cpu", np.random.default_rng(1000)), 360
    games = sum(int(advance()[-1].sum()) for _ in range(steps))
    assert steps * BOARDS / games == pytest.approx(PLIES_PER_GAME, abs=0.15)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_captured_step_plays_the_same_games() -> None:
    called, other = (gpu.in_place(BOARDS, "cuda", np.random.default_rng(1000)) for _ in range(2))
    replayed = gpu.captured(other)
    for _ in range(gpu.WARM_UP):
        called()
    for _ in range(20):
        assert all(torch.equal(one, two) for one, two in zip(called(), replayed(), strict=True))


def test_sampling_from_a_mask_is_exactly_uniform() -> None:
    every_number = SimpleNamespace(integers=lambda most, size, dtype: np.arange(most, dtype=dtype)[:size])
    chooser = FromMask(COLUMNS, every_number)  # type: ignore[arg-type]
    for word in range(1, 1 << CELLS):
        mask = np.array([word >> cell & 1 for cell in range(CELLS)], np.int8)
        counts = np.bincount(chooser.choose(np.tile(mask, (COLUMNS, 1))), minlength=CELLS)
        assert counts.tolist() == (mask * (COLUMNS // mask.sum(dtype=int))).tolist()


@pytest.mark.parametrize("name", ["heuristic", "rule"])
@pytest.mark.parametrize("size", [(3, 3, 3), (3, 3, 2), (3, 4, 4)], ids=str)
def test_the_rule_can_lose_where_the_evaluation_says_so(size: tuple[int, int, int], name: str) -> None:
    rules = Rules(*size)
    verdict = evaluate_policy(ChoicesPolicy(OPPONENTS[name], rules))
    for seat, found in enumerate((verdict.first, verdict.second)):
        assert rule.can_lose(rules, OPPONENTS[name], seat)[0] is (found.losses > 0)


def test_another_value_than_the_published_one_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "PUBLISHED", {"3x3x3": search.FIRST})
    with pytest.raises(RuntimeError, match="3x3x3"):
        search.measure("3x3x3", 10_000)
