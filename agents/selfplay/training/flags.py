"""How a process goes about a run; none of it is a setting of the run."""

from dataclasses import dataclass
from pathlib import Path

from selfplay.checks import LONGEST_TIME, require
from selfplay.errors import UserError


@dataclass(frozen=True)
class RunFlags:
    """Say how a process goes about a run; none of it is a setting of the run."""

    resume: Path | None = None
    """Run folder to go on in from its last checkpoint."""
    force: bool = False
    """Resume although settings differ from those that the run was started with; begin again where there is a record
    and no checkpoint."""
    checkpoint_interval: float = 60.0
    """Seconds between checkpoints; more where writing one would take over 2 % of the time."""

    def __post_init__(self) -> None:
        wanted = f"above 0 and at most {LONGEST_TIME:,.0f} s"
        require(0 < self.checkpoint_interval <= LONGEST_TIME, "checkpoint_interval", wanted, self.checkpoint_interval)
        if self.force and self.resume is None:
            raise UserError("--force goes with --resume RUN")
