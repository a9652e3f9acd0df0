"""The benchmark of the faces plays random legal games to their ends on every row, and compares what it should."""

from functools import cache, partial
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from benchmarks.environment import face_loops, face_peers, face_rows, faces, import_time
from benchmarks.environment.face_loops import Chunk
from benchmarks.environment.face_rows import DISTRIBUTIONS, Goal, Group, Row
from benchmarks.environment.faces import Measured
from benchmarks.environment.random_play import CELLS, COLUMNS, POOL, FromMask, PreDrawn, Stream, games, orders
from benchmarks.measuring.spread import spread
from benchmarks.measuring.turns import installed
from tests.selfplay.dqn import cuda_graph_on_cpu
from tests.tictactoe.rule_book import MARKS, Board, RuleBook, empty_cells, seat_to_move, with_mark
from tictactoe import Rules, tictactoe_v0

BOARDS = 64
GROUPS = (
    face_rows.board(),
    face_rows.agents(),
    face_rows.few(8),
    face_rows.vector(BOARDS, 1, sync=True),
    face_rows.versus(BOARDS),
    face_rows.family(BOARDS),
    face_rows.batch(BOARDS),
)
OTHER_GAMES = ("CartPole", "Versus", "its make_vec", "4,4,4", "7,7,5", "15,15,5")
ROWS = [pytest.param(group, row, id=f"{group.title}: {row.name}") for group in GROUPS for row in group.rows]


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


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(face_rows, "ONE_BOARD_PLIES", 900)
    monkeypatch.setattr(face_rows, "BOARD_STEPS", 64 * BOARDS)


@pytest.mark.parametrize(("group", "row"), ROWS)
def test_every_row_plays_whole_random_games(group: Group, row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed(row.needs):
        pytest.skip(f"needs {row.needs}")
    small(monkeypatch)
    chunk = row.make(rng())
    chunk()  # many boards start together, so their first games end together
    played = chunk()
    assert min(played) > 0
    if not any(name in row.name for name in OTHER_GAMES):  # illegal or less random moves would end games elsewhere
        assert played.plies / played.games == pytest.approx(plies_per_game(), abs=0.35), group.title


def test_pgx_on_its_device_plays_whole_random_games() -> None:
    pytest.importorskip("pgx")
    chunk = face_peers.pgx(BOARDS, 64, rng(), "device", draw=False)
    chunk()
    played = chunk()
    assert played.plies / played.games == pytest.approx(plies_per_game(), abs=0.35)


def test_a_recorded_batch_plays_the_games_of_one_that_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda_graph_on_cpu.install(monkeypatch)
    recorded = face_loops.recorded_batch(Rules(), BOARDS, 64, torch.device("cpu"), rng())
    step = face_loops.device_batch(Rules(), BOARDS, 1, torch, torch.device("cpu"), rng())
    step()  # the recorded one has done a step before it recorded
    for _ in range(2):
        played = recorded()
        assert played == (64 * BOARDS, sum(step().games for _ in range(64)))
        assert played.games > 0


def consistent(observation: NDArray[np.int8], mask: NDArray[np.int8]) -> bool:
    """Tell whether each cell, [..., R, C, 3], is in one plane and the mask, [..., A], names the empty ones."""
    one_hot = (observation.sum(axis=-1) == 1).all()
    return bool(one_hot) and bool((observation[..., 0].reshape(mask.shape) == mask).all())


class Watched(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Check that a loop with one board plays no taken cell, and count what it plays."""

    plies = ended = 0

    def step(self, action: Any) -> Any:
        step = super().step(action)
        self.plies += 1
        self.ended += step[2]
        assert not step[4].get("illegal")
        return step


@pytest.mark.parametrize(
    ("loop", "name"), [(face_loops.turns, "TicTacToe-v0"), (face_loops.single_agent, "TicTacToeVersus-v0")]
)
def test_one_board_gets_legal_cells_and_counts_plies_and_games(loop: Any, name: str) -> None:
    watched = Watched(gymnasium.make(name))
    assert loop(watched, games(9, 900, rng()))() == (watched.plies, watched.ended) == (watched.plies, 100)


def test_two_agents_get_legal_cells_and_count_plies_and_games(monkeypatch: pytest.MonkeyPatch) -> None:
    env, plies = tictactoe_v0.env(), []

    def watched_step(action: int | None) -> None:
        seen, _, terminated, _, _ = env.last()
        assert (action is None) == terminated
        if action is not None:
            assert seen["observation"][divmod(action, 3)].tolist() == [1, 0, 0]
            plies.append(action)
        step(action)

    step = env.step
    monkeypatch.setattr(env, "step", watched_step)
    assert face_loops.agents(env, games(9, 900, rng()))() == (len(plies), 100)


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
        assert consistent(observation, self.mask)
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
        assert consistent(observation[~self.waiting], self.mask[~self.waiting])
        return observation, reward, ended, truncated, info


@pytest.mark.parametrize("choose", [partial(PreDrawn, CELLS), FromMask], ids=["before", "from the mask"])
@pytest.mark.parametrize("mode", AutoresetMode)
def test_many_boards_get_legal_cells_and_count_plies_and_games(mode: AutoresetMode, choose: Any) -> None:
    watched = WatchedBoards(gymnasium.make_vec("TicTacToe-v0", num_envs=BOARDS, autoreset_mode=mode))
    chunk: Chunk = face_loops.vector(watched, choose(BOARDS, rng()), steps=30)
    first, second = chunk(), chunk()
    assert first.plies + second.plies == watched.plies
    assert first.games + second.games == watched.ended > BOARDS
    assert (watched.plies == 60 * BOARDS) == (mode != AutoresetMode.NEXT_STEP)


def test_an_order_is_every_cell_once() -> None:
    drawn = orders(9, 50, rng())
    assert (np.sort(drawn, axis=1) == np.arange(9)).all()
    assert len({tuple(order) for order in drawn.tolist()}) == 50


def test_a_stream_goes_from_the_last_order_to_the_first() -> None:
    stream = Stream(9, BOARDS, rng())
    assert stream.next_order[-1] == stream.next_order[-9] == 0
    assert stream.next_order[0] == stream.next_order[8] == 9
    assert len(stream.cells) == 9 * POOL
    assert (stream.start % 9 == 0).all()


class EveryColumn:
    """Draw each number once."""

    def integers(self, most: int, size: int, dtype: Any) -> NDArray[np.uint16]:
        assert most == size == COLUMNS
        return np.arange(most, dtype=dtype)


def test_drawing_from_a_mask_is_exactly_uniform() -> None:
    chooser = FromMask(COLUMNS, EveryColumn())  # type: ignore[arg-type]
    for word in range(1, 1 << CELLS):
        mask = np.array([word >> cell & 1 for cell in range(CELLS)], np.int8)
        counts = np.bincount(chooser.choose(np.tile(mask, (COLUMNS, 1))), minlength=CELLS)
        assert counts.tolist() == (mask * (COLUMNS // mask.sum(dtype=int))).tolist()


def test_ratios_are_taken_round_by_round() -> None:
    measured = {"ours": Measured([100.0, 10.0, 30.0]), "peer": Measured([10.0, 50.0, 1.0])}
    assert faces.ratio(Goal("ours", "peer", 10), measured) == ("10.00 (0.20 to 30.00)", "10.00", "yes")
    assert faces.ratio(Goal("ours", "peer", 10.1), measured)[2] == "NO"
    assert faces.ratio(Goal("ours", "peer"), measured)[1:] == ("", "")
    assert faces.ratio(Goal("ours", "missing", 3), measured) == ("not installed", "3.00", "")


def test_every_ratio_is_between_rows_of_its_group() -> None:
    for group in GROUPS:
        names = [row.name for row in group.rows]
        assert len(set(names)) == len(names)
        for goal in group.goals:
            assert {goal.ours, goal.peer} <= set(names)
        assert {row.needs for row in group.rows} <= {None, *DISTRIBUTIONS}


def test_the_family_may_cost_as_much_more_as_it_has_more_cells() -> None:
    asked = {(goal.ours, goal.peer): goal.at_least for goal in face_rows.family(BOARDS).goals}
    assert asked["TicTacToe-v0, 15,15,5", "TicTacToe-v0, 3,3,3"] == pytest.approx(9 / 225)
    assert asked["make_vec, 64 boards, 7,7,5", "make_vec, 64 boards, 3,3,3"] == pytest.approx(9 / 49)
    assert asked["TicTacToe-v0, 15,15,5", "OpenSpiel mnk, 15,15,5"] == 5


def test_the_command_prints_rows_and_skips_what_is_not_installed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    small(monkeypatch)
    monkeypatch.setattr(faces, "installed", lambda module: module is None)
    monkeypatch.setattr(faces, "import_milliseconds", lambda: spread([1.0]))
    faces.main(["--subjects", "board", "--rounds", "1", "--seconds", "0.01", "--no-one-core"])
    printed = capsys.readouterr().out
    assert "open-spiel is not installed: pip install -c constraints-bench.txt -e '.[bench]' for its rows" in printed
    lines = [line for line in printed.splitlines() if line.startswith("│")]
    assert any("TicTacToe-v0, gymnasium.make" in line and " 7." in line for line in lines)
    assert any("PettingZoo tictactoe_v3.env()" in line and "not installed" in line for line in lines)


def test_import_time_refuses_heavy_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    assert import_time.import_milliseconds(times=1).median > 0
    monkeypatch.setattr(import_time, "SCRIPT", import_time.SCRIPT.replace("import {module}", "import matplotlib"))
    with pytest.raises(RuntimeError, match="imports matplotlib"):
        import_time.import_milliseconds(times=1)
