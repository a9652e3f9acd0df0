"""The benchmark of bigger boards trains what its rows say, stops in time, and tells a proof from none."""

import math
from types import MappingProxyType

import pytest

from benchmarks.learning import bigger_boards
from benchmarks.learning.bigger_boards import (
    ROWS,
    Flags,
    against_built_in,
    configuration,
    main,
    measure,
    percent,
    table_rows,
)
from selfplay import training
from selfplay.dqn.learner import DQNLearner

PULLED = {
    "plain": (True, True),
    "canonical": (True, False),
    "counterexamples": (False, True),
}
QUICK = "--mask --num-envs 16 --hidden 8 --batch-size 32 --warmup 64 --memory-size 1000 --eval-every 512"
SMALL = MappingProxyType(
    {
        "1x3x3": f"--rows 1 --cols 3 --k 3 {QUICK}",
        "1x3x1": f"--rows 1 --cols 3 --k 1 {QUICK}",
        "5x5x4": f"--rows 5 --cols 5 --k 4 {QUICK}",
    }
)


@pytest.fixture(autouse=True)
def small_boards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bigger_boards, "ROWS", SMALL)


def flags(**changes: object) -> Flags:
    return Flags(total_steps=4_096, games=50, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ROWS)
def test_a_row_is_named_after_its_board(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bigger_boards, "ROWS", ROWS)
    config = configuration(name, 7, 50_000)
    assert name.startswith(f"{config.rows}x{config.cols}x{config.k}")
    assert (config.seed, config.total_steps) == (7, 50_000)
    assert (config.counterexamples == 0, config.symmetry == "augment") == PULLED.get(
        name.rpartition("-")[2], (False, False)
    )


def test_a_proof_counts_from_where_it_began() -> None:
    run = measure("1x3x3", 1000, flags())
    history = list(training(configuration("1x3x3", 1000, 4_096)))
    assert run.plies == history[-3].steps < history[-1].steps
    assert run.seconds < run.passed < math.inf
    assert run.evaluation == history[-1].evaluation
    assert run.results == ({"random": (0, 1, 0), "heuristic": (0, 1, 0)},) * 2
    assert next(table_rows([run]))[1] == "1 of 1"


def test_a_run_ends_when_its_time_is_over_and_says_how_far_it_was_followed() -> None:
    run = measure("5x5x4", 1000, flags(seconds=0, positions=2_000))
    assert not run.evaluation.complete
    assert (run.plies, run.seconds) == (512, math.inf)
    first, second = table_rows([run])
    assert (first[1], first[3]) == ("0 of 1", "never")
    assert first[6].startswith("at least ")
    assert second[6].startswith("at least ")


def test_results_are_the_players_in_either_seat() -> None:
    player = DQNLearner(config := configuration("1x3x1", 1000, 512)).player()
    for seat, won in ((0, (1, 0, 0)), (1, (0, 0, 1))):
        assert against_built_in(player, config, seat, 20) == {"random": won, "heuristic": won}


def test_only_never_and_always_are_0_and_100() -> None:
    assert percent((1.0, 0.0, 0.0)) == "100/0/0"
    assert percent((0.9999, 0.0001, 0.0)) == "99/1/0"


def test_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--rows", "1x3x3", "--seeds", "1000", "--total-steps", "4096", "--games", "20"])
    printed = capsys.readouterr().out
    assert "1x3x3, seed 1000: proved after" in printed
    assert "median (least to most) over 1 seeds" in printed
    assert measure("1x3x3", 1000, flags()).evaluation.complete
