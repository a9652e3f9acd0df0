"""What a run leaves in its folder as it goes: metrics, TensorBoard's events, snapshots and the checkpoint."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.files import append, make_inside, write_whole
from selfplay.judge.games import self_play_game
from selfplay.learner import Learner
from selfplay.pictures import png
from selfplay.protocols import Array
from selfplay.runs.checkpoint import write_checkpoint
from selfplay.runs.folder import METRICS, MODEL, PROGRESS, SNAPSHOTS, snapshot_steps
from selfplay.runs.loop import Progress, Record, ends, learner_policy
from selfplay.runs.metrics import Metrics, on_axis
from selfplay.runs.plots import run_figure, value_figure
from selfplay.runs.tensorboard import Events
from selfplay.settings import CustomConfig, RunSettings, flat
from selfplay.tensor_file import write_state, write_tensors
from tictactoe import Rules, batch

LARGEST = 1 << 26
"""Most bytes of all snapshots together; a player that does not fit is not saved as a snapshot."""
LARGEST_SHARE = 0.02
"""Largest fraction of the time for checkpoints: after a slow one the next one comes later than the interval."""


class FolderRecorder:
    """The files of a run that are written while it is trained.

    `lines` are those of metrics.jsonl from which the run continues, and `interval` is in seconds. The player is saved
    at evaluations 1, 2, 4, 8, ..., in between as the loop asks, and at the end: as the run's model, and as a snapshot.
    """

    def __init__(
        self, folder: Path, learner: Learner, config: RunSettings, lines: Sequence[Metrics], interval: float
    ) -> None:
        self._folder, self._learner, self._config = folder, learner, config
        self._lines = list(lines)
        self._interval = interval
        self._next_checkpoint = time.perf_counter() + interval
        make_inside(folder / SNAPSHOTS)
        self._drop_snapshots()
        # TensorBoard drops the events of later steps, which an earlier process wrote.
        self._events = Events(folder, on_axis(lines[-1], config.unit) + 1 if lines else 0)

    def record(self, record: Record) -> None:
        """Write the numbers of an evaluation and, at some evaluations, the opening, a game and the player."""
        line = {self._config.unit: record.steps, **record.metrics}
        self._lines.append(line)
        append(self._folder / METRICS, (json.dumps(line) + "\n").encode())
        self._events.scalars(record.metrics, on_axis(line, self._config.unit))
        if is_snapshot(record.number):
            self._save(record.steps, record.player, LARGEST)
        # The last ones here too: a checkpoint counts an evaluation only when all of it is recorded.
        if is_snapshot(record.number) or ends(self._config, record.steps, record.proofs):
            self._show(record, on_axis(line, self._config.unit))

    def save_snapshot(self, steps: int, player: Any) -> None:
        """Save the player between evaluations; it leaves the second half of the room to the players of evaluations."""
        self._save(steps, player, LARGEST // 2)

    def checkpoint_due(self) -> bool:
        """Return whether it is time for a checkpoint."""
        return time.perf_counter() >= self._next_checkpoint

    def write_checkpoint(self, state: Mapping[str, Any], progress: Progress) -> None:
        """Write what the run needs to continue."""
        started = time.perf_counter()
        write_checkpoint(self._folder, state, progress, self._config)
        now = time.perf_counter()
        self._next_checkpoint = now + max(self._interval, (now - started) / LARGEST_SHARE)

    def save_last(self) -> None:
        """Save the player at the end of the run."""
        self._save(self._learner.steps, self._learner.player(), LARGEST)

    def save_model(self) -> None:
        """Save the player as the run's model only."""
        self._write_player(self._folder / MODEL, self._learner.player())

    def close(self) -> None:
        """Record the settings, and plot the progress."""
        if not self._lines:
            return
        config = self._config
        settings = flat(config)
        settings |= settings.pop("options", {})  # of a custom learner
        common = {"algorithm": config.algorithm, "board": str(config.rules).replace(",", "x")}
        self._events.hparams(common | {name: _as_hparam(value) for name, value in settings.items()})
        write_whole(self._folder / PROGRESS, png(run_figure(self._lines, config, self._folder)))

    def _show(self, record: Record, step: int) -> None:
        """Record for TensorBoard the values of the opening, if the player has any, and a game with itself."""
        player = record.player
        if hasattr(player, "q_values"):
            values = opening_values(player, self._config.rules)
            title = f"Values of the opening, {record.steps:,} {self._config.unit}"
            self._events.picture("q/opening", png(value_figure(values, title, self._config.algorithm)), step)
        policy = learner_policy(self._learner, player)
        if not policy.samples:
            lines = self_play_game(policy).split("\n")
            self._events.text("game/self_play", "\n".join("    " + line for line in lines), step)

    def _save(self, steps: int, player: Any, room: int) -> None:
        model, path = self._folder / MODEL, self._snapshot(steps)
        self._write_player(model, player)
        # A killed run may have left a part of this very file, which writing it replaces.
        others = [other for other in (self._folder / SNAPSHOTS).iterdir() if not other.name.startswith(path.name)]
        if sum(other.stat().st_size for other in others) + model.stat().st_size <= room:
            self._write_player(path, player)

    def _write_player(self, path: Path, player: Any) -> None:
        """Write the tensors of a player or, for a custom learner, its state, which makes the player again."""
        if isinstance(self._config, CustomConfig):
            write_state(path, self._learner.state())
        else:
            write_tensors(path, player.tensors())

    def _drop_snapshots(self) -> None:
        """Delete the snapshots of an earlier process that this one will save again, or would not have saved."""
        unit = self._config.unit
        passing = {int(line[unit]) for number, line in enumerate(self._lines, start=1) if not is_snapshot(number)}
        for steps in snapshot_steps(self._folder):
            if steps > self._learner.steps or steps in passing:
                self._snapshot(steps).unlink()

    def _snapshot(self, steps: int) -> Path:
        return self._folder / SNAPSHOTS / f"{steps}.safetensors"


def is_snapshot(number: int) -> bool:
    """Return whether a run saves the player of this evaluation as a snapshot; the first evaluation has number 1."""
    return number & (number - 1) == 0


def _as_hparam(value: Any) -> Any:
    return value if type(value) in (int, float) else str(value)


def opening_values(player: Any, rules: Rules) -> Array:
    """Return the action values of the empty board, [R, C]."""
    opening = batch.observe(rules, batch.reset(rules, 1, np), "mover")
    return np.asarray(player.q_values(opening))[0].reshape(rules.rows, rules.cols)
