"""What a search has done so far, a line of JSON for each run, so that it can be stopped and gone on with."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from benchmarks.peers.judging import SEARCHED, Judged
from benchmarks.peers.tuning.score import score
from selfplay.errors import UserError
from selfplay.files import append, write_whole

FILE = "runs.jsonl"
SEARCH_SEED = 1_000
"""Of the first trial; each further one has the next."""

Contestant = Literal["ours", "stable-baselines3", "cleanrl-style"]
Stage = Literal["trial", "final"]


class Job(NamedTuple):
    """Say what is to be trained."""

    stage: Stage
    player: Contestant
    number: int
    """Of the trial; of a final run its seed."""
    drawn: dict[str, Any]
    """Settings; none for those of the library's example."""
    due: list[float]
    """Seconds of training after each of which it is evaluated; the last is the end."""

    @property
    def seed(self) -> int:
        """Return the seed of its training."""
        return SEARCH_SEED + self.number if self.stage == "trial" else self.number

    @property
    def name(self) -> str:
        """Return what its player is called."""
        return self.player if self.stage == "trial" else self.player + SEARCHED

    @property
    def words(self) -> str:
        """Return its settings."""
        return " ".join(f"{name}={value}" for name, value in self.drawn.items()) or "its example's settings"


class Ended(NamedTuple):
    """Say what came of it."""

    job: Job
    history: list[Judged]
    busy: float
    """Part of its time that it spent on the processor."""
    failure: str = ""
    """Why it ended early, without evaluations then."""


class Record:
    """Hold the runs that have ended, and the file that they are in."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ended = _read(path)

    def add(self, ended: Ended) -> None:
        """Keep a run.

        Raises:
            UserError: it cannot be written.
        """
        self.ended.append(ended)
        try:
            append(self.path, _line(ended))
        except OSError as error:
            again = "once it can, the same command goes on"
            raise UserError(f"{self.path}: cannot be written ({error.strerror}); {again}") from None

    def of(self, stage: Stage, player: Contestant) -> list[Ended]:
        """Return the runs of a player in the order of their numbers."""
        return sorted(
            (one for one in self.ended if (one.job.stage, one.job.player) == (stage, player)),
            key=lambda one: one.job.number,
        )

    def best(self, player: Contestant, trials: int) -> Ended:
        """Return the best of its first trials, the first of equals."""
        return min(self.of("trial", player)[:trials], key=lambda one: score(one.history))

    def finals(self, player: Contestant, trials: int, seeds: Sequence[int]) -> list[Ended]:
        """Return its final runs with these seeds and the settings of its best trial."""
        drawn = self.best(player, trials).job.drawn
        return [one for one in self.of("final", player) if one.job.drawn == drawn and one.job.number in seeds]

    def check(self, stage: Stage, due: Sequence[float]) -> None:
        """Refuse to go on with runs that were judged at other moments.

        Raises:
            UserError: some were.
        """
        for one in self.ended:
            if one.job.stage == stage and one.job.due != list(due):
                was = f"{one.job.due[-1]:g} s and {len(one.job.due)} evaluations"
                raise UserError(
                    f"{self.path}: has a {stage} run of {was}, not of {due[-1]:g} s and {len(due)}; "
                    "go on with the same, or name another --dir"
                )


def _line(ended: Ended) -> bytes:
    return json.dumps({**ended.job._asdict(), **ended._asdict(), "job": None}).encode() + b"\n"


def _read(path: Path) -> list[Ended]:
    """Return the runs of a file, none where there is no file; a last line that was cut off is removed.

    Raises:
        UserError: it is not a file of this search.
    """
    if not path.exists():
        return []
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    try:
        found = list(_parsed(whole.decode().splitlines()))
    except (ValueError, LookupError, TypeError):
        raise UserError(f"{path}: is not a file of this search; move it away, or name another --dir") from None
    if len(whole) < len(content):
        write_whole(path, whole)
    return found


def _parsed(lines: Sequence[str]) -> Iterator[Ended]:
    for line in lines:
        fields = json.loads(line)
        job = Job(*(fields[name] for name in Job._fields))
        history = [Judged(*evaluation) for evaluation in fields["history"]]
        yield Ended(job, history, fields["busy"], fields["failure"])
