"""What a run with a folder does at its evaluations: metrics, TensorBoard, snapshots, and the state for the page."""

import json
import math
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from selfplay.agent import Array, Player
from selfplay.files import append, make_inside, write_whole
from selfplay.judging.agents import player_policy
from selfplay.judging.games import self_play_cells, self_play_game
from selfplay.learning.folder import LATEST, METRICS, MODEL, PROGRESS, SNAPSHOTS, snapshot_steps
from selfplay.learning.loop import Callback, Record, ends
from selfplay.learning.metrics import Metrics
from selfplay.learning.plots import png, run_figure, special_settings, value_figure
from selfplay.learning.tensorboard import Events
from selfplay.settings import RunSettings
from selfplay.tensor_file import write_tensors
from tictactoe import batch

LARGEST = 1 << 26
"""Most bytes of all snapshots together; a player that does not fit is not saved as a snapshot."""
SECONDS = 1.0
"""Least seconds between two writes of the latest state, so that writing does not slow down learning."""


def is_snapshot(number: int) -> bool:
    """Tell whether a run saves the player of this evaluation as a snapshot; the first evaluation has number 1."""
    return number & (number - 1) == 0


class MetricsLog(Callback):
    """Write metrics.jsonl, TensorBoard's events and, at the end, progress.png.

    `lines` are those of metrics.jsonl from which the run continues. TensorBoard drops its events of later steps.
    """

    def __init__(self, folder: Path, config: RunSettings, lines: Sequence[Metrics]) -> None:
        self._folder, self._config = folder, config
        self._lines = list(lines)
        self._events = Events(folder, int(lines[-1][config.unit]) + 1 if lines else 0)

    def evaluated(self, record: Record) -> None:
        """Record the numbers of an evaluation and, at some evaluations, the opening and a game for TensorBoard."""
        line = {self._config.unit: record.steps, **record.metrics}
        self._lines.append(line)
        append(self._folder / METRICS, (json.dumps(line) + "\n").encode())
        self._events.scalars(record.metrics, record.steps)
        # The last ones here too: a checkpoint counts an evaluation only when all of it is recorded.
        if is_snapshot(record.number) or ends(self._config, record.steps, record.proofs):
            self.show_player(record.steps, record.player)

    def show_player(self, steps: int, player: Player) -> None:
        """Record the values of the opening as a picture, and a game that the player plays with itself."""
        values = opening_values(player).reshape(player.rules.rows, player.rules.cols)
        title = f"Values of the opening, {steps:,} {self._config.unit}"
        if not np.isnan(values).all():  # as of a player of the user without values
            self._events.picture("q/opening", png(value_figure(values, title, self._config.algorithm)), steps)
        game = self_play_game(player_policy(player))
        self._events.text("game/self_play", "\n".join("    " + line for line in game.split("\n")), steps)

    def close(self) -> None:
        """Record the settings that differ from the defaults, and plot the progress."""
        if not self._lines:
            return
        config = self._config
        common = {"algorithm": config.algorithm, "board": str(config.rules).replace(",", "x"), "seed": config.seed}
        self._events.hparams(common | special_settings(config))
        write_whole(self._folder / PROGRESS, png(run_figure(self._lines, config, self._folder)))


class Snapshots(Callback):
    """Save the player at evaluations 1, 2, 4, 8, ... and at the end: as the run's model, and as a snapshot.

    Between evaluations it is saved at the steps that `loop.next_frame` returns, so the model is the newest snapshot.
    Snapshots that an earlier process saved stay up to the steps `last` from which the run continues, but for `dropped`.
    """

    def __init__(self, folder: Path, last: int, dropped: Sequence[int]) -> None:
        self._folder = folder
        make_inside(folder / SNAPSHOTS)
        for each in snapshot_steps(folder):
            if each > last or each in dropped:
                self._path(each).unlink()

    def between(self, steps: int, player: Player) -> None:
        """Save the player; its snapshot leaves the second half of the room to the players of evaluations."""
        self._save(steps, player, LARGEST // 2)

    def evaluated(self, record: Record) -> None:
        """Save the player at some evaluations."""
        if is_snapshot(record.number):
            self.ended(record)

    def ended(self, record: Record) -> None:
        """Save the player."""
        self._save(record.steps, record.player, LARGEST)

    def _save(self, steps: int, player: Player, room: int) -> None:
        tensors, path = player.tensors(), self._path(steps)
        write_tensors(self._folder / MODEL, tensors)
        # A killed run may have left a part of this very file, which writing it replaces.
        others = [other for other in (self._folder / SNAPSHOTS).iterdir() if not other.name.startswith(path.name)]
        size = sum(tensor.nbytes for tensor in tensors.values())
        if sum(other.stat().st_size for other in others) + size <= room:
            write_tensors(path, tensors)

    def _path(self, steps: int) -> Path:
        return self._folder / SNAPSHOTS / f"{steps}.safetensors"


class LatestState(Callback):
    """Write latest.json for the page, at most once a second: values of the opening, and a game with itself."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LATEST
        self._due = -math.inf

    def evaluated(self, record: Record) -> None:
        """Write the state after an evaluation, unless one was written just now."""
        if time.monotonic() >= self._due:
            self.ended(record)

    def ended(self, record: Record) -> None:
        """Write the state."""
        self._due = time.monotonic() + SECONDS
        content = {
            "steps": record.steps,
            "opening": [float(value) if math.isfinite(value) else None for value in opening_values(record.player)],
            "game": self_play_cells(player_policy(record.player)),
        }
        write_whole(self._path, (json.dumps(content) + "\n").encode())


def opening_values(player: Player) -> Array:
    """Return the action values of the empty board, [A]."""
    opening = batch.observe(player.rules, batch.reset(player.rules, 1, np), "mover")
    return np.asarray(player.q_values(opening))[0]
