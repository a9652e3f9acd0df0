"""What can be set for a run of any algorithm, and what a run needs to know of all settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

from selfplay.checks import check_counts, check_seed, check_types
from tictactoe import Rules


@dataclass(frozen=True)
class RunSettings:
    """Hold what every algorithm's settings have; they name the algorithm, add their own, and know their spacing.

    Raises:
        UserError: a setting has a value that it cannot have, alone or beside the others.
    """

    algorithm: ClassVar[str]
    """Its name on the command line and in config.json."""
    unit: ClassVar[str] = "games"
    """What its steps are, plies or games."""
    length_setting: ClassVar[str] = "games"
    """The setting that says after how many steps a run ends at the latest."""
    groups: ClassVar[Mapping[str, str]] = MappingProxyType(
        {
            "run": "seed run_dir",
            "game": "rows cols k seat opponent",
            "length": "games greedy_games eval_every",
        }
    )
    """The headings of `--help` with the settings under each; all others are under "learning"."""

    seed: int = 0
    """Seed of every random draw of the run."""
    run_dir: Path | None = None
    """Folder of this run; it must be new or empty. Default: a new one under runs/, named by algorithm, board, seed,
    what differs from the defaults, and time."""

    def __post_init__(self) -> None:
        check_types(self)
        check_seed(self)
        check_counts(self, "eval_every")

    @property
    def eval_every(self) -> int:
        """Return the steps between exact evaluations."""
        raise NotImplementedError

    @property
    def rules(self) -> Rules:
        """Return the rules of the board, 3,3,3 where it cannot be set."""
        return Rules()

    @property
    def defaults(self) -> "RunSettings":
        """Return the settings that these are compared with."""
        return type(self)()

    @property
    def length(self) -> int:
        """Return the steps after which a run ends at the latest."""
        return int(getattr(self, self.length_setting))

    @property
    def stop(self) -> str:
        """Return what must be proved to end the run early: unbeatable, optimal or never."""
        return "never"
