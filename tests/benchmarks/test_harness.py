"""What decides a published verdict: from when a proof holds, and what a table shows of several seeds."""

import math
from typing import Any

import pytest

from benchmarks import harness
from benchmarks.data import Result, Seats
from benchmarks.learning import time_to_unbeatable
from selfplay import DQNConfig
from tictactoe import Rules


@pytest.mark.parametrize(("proofs", "first"), [("01011", 3), ("11", 0), ("10", None), ("0", None), ("", None)])
def test_a_proof_counts_if_it_holds_to_the_end(proofs: str, first: int | None) -> None:
    assert harness.held_from([proof == "1" for proof in proofs]) == first


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([3, 4], "3.5 (3 to 4)"),
        ([76_544, 56_576, 89_856], "76,544 (56,576 to 89,856)"),
        ([0.123, 0.5], "0.311 (0.123 to 0.500)"),
        ([50, 1, 2, 3, 4], "3 (2 to 4)"),
        ([1e7, 1.2345e6, 5.5], "1.23 M (5.50 to 10.0 M)"),
        ([1.29e9 + 0.5], "1.29 G"),
        ([1.5, 2.5, math.inf, math.inf, math.inf], "never (least 1.50)"),
        ([math.inf], "never"),
        ([True, False, True], "2 of 3"),
        (["yes", "no"], "yes; no"),
        ([(0.9999, 0.0001, 0.0), (1.0, 0.0, 0.0), (0.9, 0.1, 0.0)], "99/1/0"),
        ([Seats(1, 2), Seats(1, 4)], "1; 3 (2 to 4)"),
        ([], "-"),
    ],
)
def test_a_cell_shows_the_median_and_the_quartiles(values: list[object], shown: str) -> None:
    assert harness.cell(values) == shown


def test_rows_take_turns_and_may_leave_out_seeds() -> None:
    calls: list[tuple[str, int]] = []

    def measure(row: str, seed: int) -> Result:
        calls.append((row, seed))
        return {} if (row, seed) == ("b", 1) else {"number": seed, **({"only here": True} if row == "b" else {})}

    results = harness.in_turns(["a", "b"], [0, 1, 2], measure)
    assert calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("b", 2)]
    lines = harness.summary(results)
    assert lines == [["what", "number", "only here"], ["a", "1 (0 to 2)", "-"], ["b", "1 (0 to 2)", "2 of 2"]]


def test_a_run_that_is_proved_counts_from_where_the_proof_began() -> None:
    small: dict[str, Any] = {"num_envs": 16, "hidden": (8,), "batch_size": 32, "warmup": 64, "eval_every": 512}
    found, last = time_to_unbeatable.train(DQNConfig(rules=Rules(1, 3, 3), mask=True, **small))
    assert found["proved"]
    assert found["plies"] == last.steps - 2 * 512  # three proofs in a row end a run
    assert 0 < found["seconds"] < found["all seconds"]
    found, last = time_to_unbeatable.train(DQNConfig(total_steps=4_096, eval_every=512), seconds=0)
    assert (found["proved"], found["plies"], last.steps) == (False, math.inf, 512)
