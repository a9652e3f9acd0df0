"""Every script measures, prints and writes what the pages are filled in from, at the smallest settings."""

import importlib
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tyro

from benchmarks.environment import loops, speed
from benchmarks.learning import alphazero_larger, article_speed, bigger_boards, simulations, targets
from benchmarks.peers import evaluations as peers_evaluations
from docs.recipes import alphazero
from selfplay import DQNConfig
from tests.runs import saved
from tictactoe import Rules, batch, solve

QUICK = "--mask --num-envs 16 --hidden 8 --batch-size 32 --warmup 64 --memory-size 1000 --eval-every 512"
SCRIPTS = {
    "environment.gpu": "--device cpu --boards 64 --rounds 1 --seconds 0.001",
    "environment.speed": "--rounds 1 --seconds 0.001",
    "environment.search": "--boards 3x3x3 7x7x5 --times 1 --max-positions 5000",
    "environment.rule": "--boards 3x3x3 --games 100",
    "learning.alphazero_larger": "--seeds 1000 --minutes 0.0001",
    "learning.article_speed": "--steps 150 --seeds 1000",
    "learning.bigger_boards": "--seeds 1000 --total-steps 4096",
    "learning.gpu": "--rows mask --devices cpu --seeds 1000 --most-plies 2048",
    "learning.learners": "--commands dqn minimax-q --shorten 1000 --seeds 1000",
    "learning.published": "--seeds 1000 --games 100",
    "learning.simulations": "--seeds 1000 --evaluations 1 --most-simulations 2",
    "learning.targets": "--seeds 1000 --total-steps 1024",
    "learning.time_to_unbeatable": "--modes mask --seeds 1000 --total-steps 2048 --unit-steps 200",
    "peers.__main__": "--players ours-plain --seeds 1000 --seconds 0.2",
    "peers.tuning": "--players ours-any-cell --trials 1 --seeds 1000 --seconds 0.05",
    "symptoms": "--symptoms mask table --part 0.01 --seeds 1000",
}
"""Flags of each script."""
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what no flag makes smaller small."""
    monkeypatch.setattr(alphazero_larger, "RULES", Rules())
    monkeypatch.setattr(alphazero_larger, "SETTINGS", {"BOARDS": 2, "SIMULATIONS": 2, "UPDATES": 1})
    monkeypatch.setattr(alphazero_larger, "SEARCHES", (0, 1))
    monkeypatch.setattr(bigger_boards, "ROWS", {"4x4x4": f"--rows 1 --cols 3 --k 3 {QUICK}"})
    monkeypatch.setattr(simulations, "GAMES", 8)
    monkeypatch.setattr(targets, "DQNConfig", lambda **settings: DQNConfig(**settings | {"eval_every": 512}))
    monkeypatch.setattr(article_speed, "WARM_UP_STEPS", 120)
    monkeypatch.setattr(peers_evaluations, "CALIBRATION", 0.05)
    monkeypatch.setattr(speed, "BOARDS", (1, 64))
    monkeypatch.setattr(speed, "pin_to_one_core", lambda: None)
    monkeypatch.setattr(loops, "FRESH_CELLS", 1 << 10)
    for name in ("ONE_BOARD_PLIES", "MANY_BOARDS_PLIES"):
        monkeypatch.setattr(speed, name, 32)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_measures_prints_and_writes(script: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main: Any = importlib.import_module(f"benchmarks.{script}").main
    tyro.cli(main, args=[*SCRIPTS[script].split(), "--docs", str(tmp_path)])
    assert "| --- |" in capsys.readouterr().out
    written = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert written
    assert written <= {path.name for path in DOCS.rglob("*")}
    assert all('"commit"' in path.read_text() for path in tmp_path.glob("data/*.json"))
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow
def test_the_page_is_measured(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = importlib.import_module("benchmarks.page")
    browser = request.getfixturevalue("browser")
    monkeypatch.setattr(page, "chromium", partial(nullcontext, browser))  # two drivers cannot be in a process
    monkeypatch.setattr("selfplay.train", lambda run_dir: saved(Path(run_dir)))
    page.main(["--times", "1"])
    assert "requests" in capsys.readouterr().out


def test_the_published_chances_of_random_play_are_exact() -> None:
    published = importlib.import_module("benchmarks.learning.published")
    [exact] = published.match_ups([0], 10)["random against random, exact"]
    assert [round(share, 1) for share in exact.values()] == [58.5, 28.8, 12.7]


def test_lookahead_is_optimal_to_the_end_of_the_game_with_any_values_and_at_one_ply_with_the_right_ones() -> None:
    solution = solve(simulations.RULES)
    tree, best = solution.tree, solution.optimal_moves[solution.tree.decisions]
    policy, guessed = np.random.default_rng(0).random((len(tree), 9)), np.random.default_rng(1).random(len(tree))
    guessed[tree.finished] = tree.result[tree.finished]
    assert (best >> simulations.looked_ahead(policy, guessed)[9] & 1).all()
    assert not (best >> simulations.looked_ahead(policy, guessed)[1] & 1).all()
    assert (best >> simulations.looked_ahead(policy, solution.value.astype(np.float64))[1] & 1).all()


def test_moves_that_are_searched_with_known_values_are_those_of_alphazeros_player() -> None:
    network = alphazero.AlphaZero(seed=1000).network
    some = batch.State(*(part[::20] for part in simulations.decision_states()))
    policy, value = simulations.known("AlphaZero", alphazero.Player(simulations.RULES, network, 0))
    moves = simulations.searched(some, policy, value, 8)
    for number in (0, 1, 8):
        player = alphazero.Player(simulations.RULES, network, number)
        assert (player.act(batch.observe(simulations.RULES, some, "mover")) == moves[number]).all()
