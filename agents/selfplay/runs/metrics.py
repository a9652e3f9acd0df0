"""The numbers of a run's evaluations by TensorBoard tag, and the reader of metrics.jsonl, which holds them.

To add a metric, return it from `metrics` of the learner, counted since the last evaluation, or from
`evaluation_metrics`, and name it in the docstring of `Record`. `Screen.show` prints it. Test to extend:
`runs/test_run.py`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from selfplay.errors import UserError
from selfplay.files import open_regular
from selfplay.judge.verdict import SeatVerdict, Verdict
from selfplay.settings import LARGEST
from tictactoe import Rules
from tictactoe.tree import game_tree

Metrics: TypeAlias = dict[str, float]
"""Numbers by tag, and the steps by their unit, plies or games: a line of metrics.jsonl."""

LARGEST_METRICS = 1 << 28
"""Bytes of a file that is read: about 300,000 evaluations."""
LONGEST_LINE = 1 << 16
"""Bytes; a run writes about a thousand."""
LARGEST_NUMBER = 1e100
"""Upper bound for numbers in a line: the largest board has fewer than 64! games, which is 1e89. Larger ones cannot be
plotted."""

SEAT_TAGS = {
    "losses": "losses",
    "illegal": "illegal",
    "win_vs_random": "win",
    "draw_vs_random": "draw",
    "loss_vs_random": "loss",
    "illegal_loss_vs_random": "illegal_loss",
    "best_response": "best_response",
}
"""Tags of a seat that is evaluated to the end, and the fields of SeatVerdict."""
UNFINISHED_TAGS = {
    "plies_followed": "plies",
    "positions_met": "positions",
    "losses_at_least": "losses",
    "illegal_at_least": "illegal",
    "best_response": "best_response",
}
"""Tags of a seat that leads to too many positions, and the fields of SeatVerdict."""


def evaluation_metrics(evaluation: Verdict) -> Metrics:
    """Return an evaluation as TensorBoard tags and numbers; what is not known is left out."""
    numbers: dict[str, float | None] = {
        "exact/confirmed": float(evaluation.confirmed),
        "eval/optimal_fraction": evaluation.optimal_fraction,
        "exact/optimal_states": evaluation.optimal_states,
        "exact/illegal_states": evaluation.illegal_states,
        "exact/exploitability": evaluation.exploitability,
    }
    if evaluation.complete:
        numbers |= {"eval/ways_to_beat": evaluation.ways_to_beat, "eval/unbeatable": float(evaluation.unbeatable)}
    for name, seat in (("first", evaluation.first), ("second", evaluation.second)):
        tags = SEAT_TAGS if seat.complete else UNFINISHED_TAGS
        numbers |= {f"exact/{name}/{tag}": getattr(seat, field) for tag, field in tags.items()}
    return {tag: number for tag, number in numbers.items() if number is not None}


def metrics_evaluation(metrics: Mapping[str, float], rules: Rules) -> Verdict:
    """Return the evaluation from which `evaluation_metrics` made these numbers.

    Raises:
        UserError: an older version made them, which did not confirm evaluations.
    """
    if "exact/confirmed" not in metrics:
        raise UserError("metrics.jsonl: an evaluation lacks exact/confirmed; it is of an older version")
    seats = []
    for name in ("first", "second"):
        tags = SEAT_TAGS if f"exact/{name}/losses" in metrics else UNFINISHED_TAGS
        fields: dict[str, Any] = {field: metrics.get(f"exact/{name}/{tag}") for tag, field in tags.items()}
        seats.append(SeatVerdict(**fields))
    first, second = seats
    verdict = Verdict(first, second, confirmed=bool(metrics["exact/confirmed"]), rules=rules)
    if "exact/optimal_states" not in metrics:
        return verdict
    return replace(
        verdict,
        decision_states=len(game_tree(rules).decisions),
        optimal_states=int(metrics["exact/optimal_states"]),
        illegal_states=int(metrics.get("exact/illegal_states", 0)),
    )


def read_metrics(path: Path, unit: str) -> Iterator[Metrics]:
    """Yield the lines of a metrics.jsonl; a last line that is only half written is left out.

    `unit` is what the steps are, plies or games.

    Raises:
        UserError: it cannot be read, or a line is not what a run writes.
    """
    number = 0
    try:
        with open_regular(path, LARGEST_METRICS) as file:
            while (line := file.readline(LONGEST_LINE)) and (line.endswith(b"\n") or len(line) == LONGEST_LINE):
                number += 1
                yield _parsed(line, unit)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); restore it") from None
    except (ValueError, RecursionError):
        raise UserError(f"{path}: line {number:,} is not what a run writes; restore it") from None


def _parsed(line: bytes, unit: str) -> Metrics:
    """Return a line of metrics.jsonl.

    Raises:
        ValueError: it is not what a run writes.
    """
    metrics = json.loads(line)
    if not isinstance(metrics, dict) or not {unit, "time/training_s"} <= metrics.keys():
        raise ValueError
    for value in metrics.values():
        if type(value) not in (int, float) or not abs(value) <= LARGEST_NUMBER:
            raise ValueError
    if not isinstance(metrics[unit], int) or not 0 <= metrics[unit] <= 2 * LARGEST:
        raise ValueError
    return metrics


def first_of_final_streak(proofs: Sequence[bool]) -> int | None:
    """Return the index of the first evaluation from which the proof held to the end, None if it did not."""
    first = len(proofs)
    while first and proofs[first - 1]:
        first -= 1
    return first if first < len(proofs) else None
