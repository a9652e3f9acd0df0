"""What a run leaves for who watches it: the newest player's values of the opening, and its game with itself."""

import json
import math
import time
from pathlib import Path

import numpy as np

from selfplay.agent import Player
from selfplay.evaluation.agents import player_policy
from selfplay.evaluation.games import self_play_cells
from selfplay.files import write_whole
from selfplay.training.folder import NEWEST
from tictactoe import batch

SECONDS = 1.0
"""Between two times that it is written, at least, so that learning is not held up."""


class Newest:
    """Write newest.json into a run's folder, in which no half of it is ever seen."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NEWEST
        self._due = -math.inf

    def show(self, steps: int, player: Player, proofs: int, last: bool = False) -> None:
        """Write what a player thinks and plays after so many steps, unless that was done just now and it is not `last`.

        `proofs` are the evaluations running that have proved what the run is to stop at.

        Raises:
            OSError: the file cannot be written.
        """
        now = time.monotonic()
        if now < self._due and not last:
            return
        self._due = now + SECONDS
        opening = batch.observe(player.rules, batch.reset(player.rules, 1, np), "mover")
        values = [float(value) for value in np.asarray(player.q_values(opening))[0]]
        content = {
            "steps": steps,
            "opening": [value if math.isfinite(value) else None for value in values],
            "game": self_play_cells(player_policy(player)),
            "proofs": proofs,
        }
        write_whole(self._path, (json.dumps(content) + "\n").encode(), lasting=False)
