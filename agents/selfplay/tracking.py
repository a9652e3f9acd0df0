"""A run's record: TensorBoard events, metrics.jsonl and progress.png."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from torch.utils.tensorboard import SummaryWriter
from torch.utils.tensorboard.summary import hparams

from selfplay.agent import Player
from selfplay.errors import UserError
from selfplay.evaluation import Evaluation, Proof, SeatEvaluation
from selfplay.files import write_whole
from selfplay.games import self_play_game
from selfplay.plots import png, progress_figure, value_figure
from selfplay.reach import Unfinished, Unproved
from selfplay.run_folder import METRICS
from tictactoe import Rules, batch
from tictactoe.tree import game_tree

PROGRESS = "progress.png"


SEAT_TAGS = {
    "losses": "losses",
    "illegal": "illegal",
    "win_vs_random": "win",
    "draw_vs_random": "draw",
    "loss_vs_random": "loss",
    "best_response": "best_response",
}
"""Tags of a seat that is evaluated to the end, and the fields of SeatEvaluation."""
UNFINISHED_TAGS = {
    "plies_followed": "plies",
    "positions_met": "positions",
    "losses_at_least": "losses",
    "illegal_at_least": "illegal",
}
"""Tags of a seat that leads to too many positions, and the fields of Unfinished."""


def evaluation_metrics(evaluation: Proof | Unproved) -> dict[str, float]:
    """Return an evaluation as TensorBoard tags and numbers; what is not known is left out."""
    metrics: dict[str, float] = {}
    for name, seat in (("first", evaluation.first), ("second", evaluation.second)):
        tags = UNFINISHED_TAGS if isinstance(seat, Unfinished) else SEAT_TAGS
        metrics |= {f"eval/{name}/{tag}": getattr(seat, field) for tag, field in tags.items()}
    if isinstance(evaluation, Evaluation):
        metrics["eval/optimal_states"] = evaluation.optimal_states
        metrics["eval/optimal_fraction"] = evaluation.optimal_states / evaluation.decision_states
        metrics["eval/illegal_states"] = evaluation.illegal_states
    if isinstance(evaluation, Proof):
        metrics["eval/exploitability"] = evaluation.exploitability
        metrics["eval/unbeatable"] = float(evaluation.unbeatable)
    return metrics


def metrics_evaluation(metrics: Mapping[str, float], rules: Rules) -> Proof | Unproved:
    """Return the evaluation that `evaluation_metrics` has made numbers of."""
    first, second = (_seat_evaluation(metrics, name) for name in ("first", "second"))
    if isinstance(first, Unfinished) or isinstance(second, Unfinished):
        return Unproved(first, second)
    if "eval/optimal_states" not in metrics:
        return Proof(first, second)
    optimal, illegal = (int(metrics[f"eval/{kind}_states"]) for kind in ("optimal", "illegal"))
    return Evaluation(first, second, len(game_tree(rules).decisions), optimal, illegal)


def _seat_evaluation(metrics: Mapping[str, float], name: str) -> SeatEvaluation | Unfinished:
    finished = f"eval/{name}/losses" in metrics
    tags = SEAT_TAGS if finished else UNFINISHED_TAGS
    fields: dict[str, Any] = {field: metrics[f"eval/{name}/{tag}"] for tag, field in tags.items()}
    return SeatEvaluation(**fields) if finished else Unfinished(**fields)


def first_lines(folder: Path, count: int) -> list[dict[str, float]]:
    """Return so many lines of a run's metrics.jsonl and cut off those behind them.

    Raises:
        UserError: it has fewer, or they are not what a run writes.
    """
    path = folder / METRICS
    lines = path.read_bytes().splitlines(keepends=True)[:count] if path.exists() else []
    try:
        history = [dict(json.loads(line)) for line in lines]
    except (ValueError, TypeError):
        history = []
    if len(history) < count:
        raise UserError(f"{path}: must have {count} whole lines, as its checkpoint counts; restore the file")
    write_whole(path, b"".join(lines))
    return history


class Tracker:
    """Write what a run reports, step by step, into its folder; `unit` is what steps are, plies or games.

    `history` are the lines of metrics.jsonl from which the run goes on, None if it has not begun. What
    TensorBoard has been told of later steps is taken back.
    """

    def __init__(self, folder: Path, unit: str, history: Sequence[dict[str, float]] | None = None) -> None:
        self._folder = folder
        self._unit = unit
        self._history = list(history or [])
        self._lines = (folder / METRICS).open("a", encoding="utf-8")
        taken_back = None if history is None else int(history[-1][unit]) + 1 if history else 0
        self._board = SummaryWriter(str(folder), purge_step=taken_back)

    def metrics(self, steps: int, metrics: Mapping[str, float]) -> None:
        """Record numbers by tag after so many steps."""
        line = {self._unit: steps, **metrics}
        self._history.append(line)
        self._lines.write(json.dumps(line) + "\n")
        self._lines.flush()
        for tag, value in metrics.items():
            self._board.add_scalar(tag, value, steps)
        self._board.flush()  # or a killed run would lack what was recorded before its checkpoint

    def player(self, steps: int, player: Player) -> None:
        """Record the values that a player sees in the opening, as a picture, and a game it plays with itself."""
        rules = player.rules
        opening = batch.observe(rules, batch.reset(rules, 1, np), "mover")
        values = player.q_values(opening)[0].reshape(rules.rows, rules.cols)
        title = f"Values of the opening, {steps:,} {self._unit}"
        self._board.add_figure("q/opening", value_figure(values, title), steps)
        game = self_play_game(player, rules)
        self._board.add_text("game/self_play", "\n".join("    " + line for line in game.split("\n")), steps)

    def close(self, settings: Mapping[str, object]) -> None:
        """Record the settings with the last metrics, draw progress.png and close the files."""
        if self._history:
            self._hparams(settings, self._history[-1])
            write_whole(self._folder / PROGRESS, png(progress_figure(self._history, self._unit)))
        self._board.close()
        self._lines.close()

    def _hparams(self, settings: Mapping[str, object], metrics: Mapping[str, float]) -> None:
        # SummaryWriter.add_hparams would put them into a run of their own beside this one.
        final = {f"final/{tag}": value for tag, value in metrics.items() if tag != self._unit}
        plain = {
            name: value if isinstance(value, bool | int | float) else str(value) for name, value in settings.items()
        }
        for summary in hparams(plain, final):  # type: ignore[no-untyped-call]
            self._board._get_file_writer().add_summary(summary)  # type: ignore[no-untyped-call]
        for tag, value in final.items():
            self._board.add_scalar(tag, value, int(metrics[self._unit]))
