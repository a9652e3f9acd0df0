"""What a run leaves to its caller: its settings, its player and its evaluations."""

from dataclasses import dataclass
from pathlib import Path

from selfplay.agent import Player
from selfplay.errors import UserError
from selfplay.evaluation.verdict import Verdict
from selfplay.settings import RunSettings
from selfplay.training.loop import Record


@dataclass(frozen=True)
class Run:
    """Hold the results of a run."""

    config: RunSettings
    """Its settings."""
    folder: Path
    """The run folder."""
    player: Player
    """The player as `selfplay.load(folder)` returns it."""
    records: list[Record]
    """Its evaluations; those of an earlier process come with the current player."""
    interrupted: bool = False
    """Whether Ctrl-C or `stop_when` ended it early, after a checkpoint: `train(resume=run.folder)` goes on."""

    @property
    def proof(self) -> Verdict:
        """Return the last exact evaluation.

        Raises:
            UserError: the run was interrupted before its first one.
        """
        if not self.records:
            raise UserError(f"{self.folder}: was interrupted before its first evaluation")
        return self.records[-1].evaluation


class Interrupted(KeyboardInterrupt):
    """The program was told to end; `run` holds the results so far, and its folder its player and its checkpoint."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted; the player so far is in {run.folder}")
        self.run = run
