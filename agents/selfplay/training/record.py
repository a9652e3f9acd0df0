"""A run's record: TensorBoard events, metrics.jsonl and progress.png."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.agent import Player
from selfplay.checks import LARGEST
from selfplay.errors import UserError, one_line
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.games import self_play_game
from selfplay.evaluation.verdict import SeatVerdict, Verdict
from selfplay.files import append, open_regular, write_whole
from selfplay.settings import RunSettings
from selfplay.training.events import Events
from selfplay.training.folder import METRICS, differences
from selfplay.training.loop import first_of_final_streak
from selfplay.training.pictures import png, progress_figure, value_figure
from tictactoe import Rules, batch
from tictactoe.tree import game_tree

PROGRESS = "progress.png"
LONGEST_LINE = 1 << 16
"""Bytes; a run writes about a thousand."""
LARGEST_NUMBER = 1e100
"""Of a record: the game lines of the largest board are fewer than 64!, which is 1e89; larger ones are not drawn."""

SEAT_TAGS = {
    "losses": "losses",
    "illegal": "illegal",
    "win_vs_random": "win",
    "draw_vs_random": "draw",
    "loss_vs_random": "loss",
    "best_response": "best_response",
}
"""Tags of a seat that is evaluated to the end, and the fields of SeatVerdict."""
MAY_BE_UNKNOWN = "win_vs_random", "draw_vs_random"
UNFINISHED_TAGS = {
    "plies_followed": "plies",
    "positions_met": "positions",
    "losses_at_least": "losses",
    "illegal_at_least": "illegal",
}
"""Tags of a seat that leads to too many positions, and the fields of SeatVerdict."""


def evaluation_metrics(evaluation: Verdict) -> dict[str, float]:
    """Return an evaluation as TensorBoard tags and numbers; what is not known is left out."""
    metrics: dict[str, float] = {}
    if evaluation.complete:
        metrics["eval/beaten_lines"] = evaluation.games_lost
    for name, seat in (("first", evaluation.first), ("second", evaluation.second)):
        tags = SEAT_TAGS if seat.complete else UNFINISHED_TAGS
        known = {f"eval/{name}/{tag}": getattr(seat, field) for tag, field in tags.items()}
        metrics |= {tag: number for tag, number in known.items() if number is not None}
    numbers = {
        "eval/optimal_states": evaluation.optimal_states,
        "eval/optimal_fraction": evaluation.optimal_fraction,
        "eval/illegal_states": evaluation.illegal_states,
        "eval/exploitability": evaluation.exploitability,
    }
    metrics |= {tag: number for tag, number in numbers.items() if number is not None}
    if evaluation.complete:
        metrics["eval/unbeatable"] = float(evaluation.unbeatable)
    return metrics


def metrics_evaluation(metrics: Mapping[str, float], rules: Rules) -> Verdict:
    """Return the evaluation that `evaluation_metrics` has made numbers of."""
    first, second = (_seat_evaluation(metrics, name) for name in ("first", "second"))
    if "eval/optimal_states" not in metrics:
        return Verdict(first, second)
    optimal, illegal = (int(metrics[f"eval/{kind}_states"]) for kind in ("optimal", "illegal"))
    return Verdict(first, second, len(game_tree(rules).decisions), optimal, illegal)


def _seat_evaluation(metrics: Mapping[str, float], name: str) -> SeatVerdict:
    tags = SEAT_TAGS if f"eval/{name}/losses" in metrics else UNFINISHED_TAGS
    found: dict[str, Any] = {f"eval/{name}/{tag}": None for tag in MAY_BE_UNKNOWN} | dict(metrics)
    return SeatVerdict(**{field: found[f"eval/{name}/{tag}"] for tag, field in tags.items()})


def first_lines(folder: Path, count: int, unit: str, rules: Rules) -> list[dict[str, float]]:
    """Read so many lines of a run's metrics.jsonl and cut off those behind them.

    Raises:
        UserError: it has fewer, or they are not what a run writes.
        OSError: it cannot be written anew.
    """
    path = folder / METRICS
    lines: list[bytes] = []
    history: list[dict[str, float]] = []
    try:
        if count or path.exists():
            with open_regular(path) as file:
                while len(lines) < count:
                    lines.append(file.readline(LONGEST_LINE))
                    history.append(_numbers(lines[-1], unit, rules))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); restore it") from None
    except (ValueError, KeyError, RecursionError):
        wanted = f"must have {count:,} whole lines, as its checkpoint counts"
        raise UserError(f"{path}: {wanted}, but line {len(lines):,} is none; restore it") from None
    write_whole(path, b"".join(lines))
    return history


def read_lines(folder: Path, unit: str, rules: Rules) -> list[dict[str, float]]:
    """Return the lines of a run's metrics.jsonl; one at its end that is being written, or was when it ended, is not.

    Raises:
        UserError: it cannot be read, or a line is not what a run writes.
    """
    path = folder / METRICS
    history: list[dict[str, float]] = []
    try:
        with open_regular(path) as file:
            while (line := file.readline(LONGEST_LINE)).endswith(b"\n"):
                history.append(_numbers(line, unit, rules))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, RecursionError):
        raise UserError(f"{path}: line {len(history) + 1:,} is not what a run writes") from None
    return history


def _numbers(line: bytes, unit: str, rules: Rules) -> dict[str, float]:
    """Return a line of metrics.jsonl.

    Raises:
        ValueError, KeyError: it is not what `Tracker` writes.
    """
    found = json.loads(line)
    if not (isinstance(found, dict) and line.endswith(b"\n") and all(map(str.isascii, found))):
        raise ValueError
    for value in found.values():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST_NUMBER:
            raise ValueError
    if not isinstance(found[unit], int) or not 0 <= found[unit] <= 2 * LARGEST or "time/training_s" not in found:
        raise ValueError
    evaluation = metrics_evaluation(found, rules)
    for seat in (evaluation.first, evaluation.second):
        if seat.complete and seat.best_response not in (-1, 0, 1):
            raise ValueError
    return found


class Tracker:
    """Write what a run reports, step by step, into its folder; `unit` is what steps are, plies or games.

    `history` are the lines of metrics.jsonl from which the run goes on, none if it begins. What TensorBoard has been
    told of later steps is taken back.

    Everything raises OSError where the disk does not take it.
    """

    def __init__(self, folder: Path, unit: str, history: Sequence[dict[str, float]] = ()) -> None:
        self._folder = folder
        self._unit = unit
        self._history = list(history)
        self._lines = (folder / METRICS).open("ab", buffering=0)
        try:
            self._events = Events(folder, int(history[-1][unit]) + 1 if history else 0)
        except OSError:
            self._lines.close()
            raise

    def metrics(self, steps: int, metrics: Mapping[str, float]) -> None:
        """Record numbers by tag after so many steps."""
        line = {self._unit: steps, **metrics}
        self._history.append(line)
        append(self._lines, (json.dumps(line) + "\n").encode())
        for tag, value in metrics.items():
            self._events.scalar(tag, value, steps)

    def player(self, steps: int, player: Player) -> None:
        """Record the values that a player sees in the opening, as a picture, and a game it plays with itself."""
        rules = player.rules
        opening = batch.observe(rules, batch.reset(rules, 1, np), "mover")
        values = player.q_values(opening)[0].reshape(rules.rows, rules.cols)
        title = f"Values of the opening, {steps:,} {self._unit}"
        self._events.picture("q/opening", png(value_figure(np.asarray(values), title)), steps)
        game = self_play_game(player_policy(player))
        self._events.text("game/self_play", "\n".join("    " + line for line in game.split("\n")), steps)

    def close(self, config: RunSettings) -> None:
        """Record what is special about the run with the last metrics, draw progress.png and close the files."""
        try:
            if self._history:
                special = {name: _plain(value) for name, value in differences(config).items()}
                rules = config.rules
                board = f"{rules.rows}x{rules.cols}x{rules.k}"
                self._events.hparams({"algorithm": config.algorithm, "board": board, "seed": config.seed, **special})
                evaluations = [metrics_evaluation(line, rules) for line in self._history]
                proved = [each.unexploitable for each in evaluations]
                figure = progress_figure(
                    self._history, self._unit, self._folder.resolve().name, special, first_of_final_streak(proved)
                )
                write_whole(self._folder / PROGRESS, png(figure))
        finally:
            self._events.close()
            self._lines.close()


def _plain(value: object) -> int | float | str:
    """Return a setting as TensorBoard takes it and a picture can show it; it would show truth as 1.0000."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else one_line(value)
