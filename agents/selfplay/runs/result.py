"""The result of a run: its settings, its players and its evaluations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from selfplay.errors import MissingExtraError, UserError
from selfplay.judge.verdict import Verdict
from selfplay.runs.load import load, snapshot_steps
from selfplay.runs.loop import Record, count_lapses, proves
from selfplay.runs.metrics import Metrics, first_of_final_streak, metrics_evaluation
from selfplay.settings import RunSettings
from selfplay.verdict_text import verdict_html

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


FINISHED, INTERRUPTED, TERMINATED = "finished", "interrupted", "terminated"
EXIT_STATUS: Mapping[str, int] = MappingProxyType({FINISHED: 0, INTERRUPTED: 130, TERMINATED: 130})
"""How a run can end, and the exit status that follows: it is finished; `stop_when` or Ctrl-C ended it after a
checkpoint; SIGTERM or a second Ctrl-C ended the program."""


@dataclass(frozen=True)
class Run:
    """The results of a run.

    Its `folder` holds these files:

    - `config.json`: every setting, and from which steps the player was kept
    - `model.safetensors`: the networks, or the table, of the last proved player, or else of the last player
    - `evaluation.json`: its exact evaluation
    - `metrics.jsonl`: a line for each evaluation, with the tags of `Record.metrics` as keys
    - `snapshots`: the player at about ten moments in each doubling of the steps
    - `progress.png`: the curves, with a mark where the proof held
    - `checkpoint.safetensors`: everything that resuming needs; delete it if you will not resume
    - `events.out.tfevents.*`: what TensorBoard shows
    - `table.csv`, of minimax-q: 19,683 lines of 9 numbers. A position is on line 1 + the sum of c * 3^i over its cells
      i, where c is 0 for an empty cell, 1 for X and 2 for O

    The other tabular learners also write plots and tables of their games.
    """

    config: RunSettings
    """Its settings."""
    folder: Path
    """The run folder."""
    records: list[Record]
    """Its evaluations."""
    ended: str = FINISHED
    """How it ended: a name in `EXIT_STATUS`."""
    kept_steps: int | None = None
    """Steps of the evaluation at which its player was proved, if one was: the last proved player is kept."""
    network: Any = field(default=None, repr=False, compare=False)
    """The factory of its custom network, if it has one."""
    learner: Any = field(default=None, repr=False, compare=False)
    """Its custom learner, or what makes it, if it has one."""

    @property
    def interrupted(self) -> bool:
        """Return whether the run ended early, after a checkpoint: `train(resume=run.folder)` continues it."""
        return self.ended != FINISHED

    @cached_property
    def player(self) -> Any:
        """Return the player that the run kept, the last proved one or else the last one, as `load(folder)` does."""
        return self._load(None)

    @cached_property
    def snapshots(self) -> dict[int, Any]:
        """Return the players that the run saved, by their steps."""
        return {steps: self._load(steps) for steps in snapshot_steps(self.folder)}

    def _load(self, steps: int | None) -> Any:
        return load(self.folder, self.network, steps, self.learner)

    @property
    def verdict(self) -> Verdict:
        """Return the verdict of the player that the run kept, as the run recorded it.

        `selfplay.evaluate(run)` evaluates the player itself again.

        Raises:
            UserError: the run was interrupted before its first evaluation.
        """
        return self.kept.verdict

    @property
    def kept(self) -> Record:
        """Return the evaluation of the player that the run kept: of the last proved one, or else the last one.

        Raises:
            UserError: the run was interrupted before its first evaluation.
        """
        records = self._evaluated()
        return next((record for record in records if record.steps == self.kept_steps), records[-1])

    @property
    def lapses(self) -> int | None:
        """Return in how many evaluations since the first proof the player could be beaten; None without a proof.

        Raises:
            UserError: the run was interrupted before its first evaluation.
        """
        return self._evaluated()[-1].lapses

    @property
    def proved_from(self) -> Record | None:
        """Return the first evaluation from which the proof held to the end; None if the last one proves nothing."""
        stop = "unbeatable" if self.config.stop == "never" else self.config.stop
        first = first_of_final_streak([proves(record.verdict, stop) for record in self.records])
        return None if first is None else self.records[first]

    def frame(self) -> "pandas.DataFrame":
        """Return all evaluations as a pandas DataFrame: the plies or games, and each metric by its TensorBoard tag.

        `pip install pandas` installs what it needs.

        Raises:
            MissingExtraError: pandas is not installed.
            UserError: the run was interrupted before its first evaluation.
        """
        try:
            import pandas
        except ModuleNotFoundError:
            raise MissingExtraError("pandas is not installed, which frame() needs: pip install pandas") from None
        return pandas.DataFrame([{self.config.unit: each.steps, **each.metrics} for each in self._evaluated()])

    def plot(self) -> "Figure":
        """Return the plot of all evaluations that progress.png holds, as a matplotlib figure.

        Raises:
            UserError: the run was interrupted before its first evaluation.
        """
        from selfplay.runs.run_plots import run_figure

        return run_figure(self._evaluated(), self.config, self.folder, self.proved_from)

    def _evaluated(self) -> list[Record]:
        """Return the evaluations.

        Raises:
            UserError: there is none.
        """
        if not self.records:
            raise UserError(f"{self.folder}: holds no evaluation; the run was interrupted before, or recorded none")
        return self.records

    def __repr__(self) -> str:
        last = self.records[-1] if self.records else "no evaluation yet"
        return f"Run({self.folder}, {self.ended}, {last})"

    def _repr_html_(self) -> str:
        """Return its last evaluation as a table, for a notebook."""
        return f"<p>{escape(str(self.folder))}</p>{verdict_html(self.verdict) if self.records else ''}"


def earlier_records(lines: Iterable[Metrics], config: RunSettings) -> list[Record]:
    """Return the evaluations that lines of metrics.jsonl describe, without players.

    Raises:
        UserError: an older version wrote them.
    """
    records = []
    proofs = 0
    lapses = None
    for number, line in enumerate(lines, start=1):
        evaluation = metrics_evaluation(line, config.rules)
        proofs = proofs + 1 if proves(evaluation, config.stop) else 0
        lapses = count_lapses(lapses, evaluation)
        metrics = {tag: value for tag, value in line.items() if tag != config.unit}
        record = Record(
            number=number,
            steps=int(line[config.unit]),
            verdict=evaluation,
            metrics=metrics,
            proofs=proofs,
            lapses=lapses,
        )
        records.append(record)
    return records


def past_proof(records: Sequence[Record]) -> Sequence[Record]:
    """Return the evaluations of a run from its first proof on, none without a proof."""
    for number, record in enumerate(records):
        if record.verdict.unexploitable:
            return records[number:]
    return []


class Interrupted(KeyboardInterrupt):
    """The program was told to end; `run` holds the results so far, and its folder its player and its checkpoint."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"interrupted; the player so far is in {run.folder}")
        self.run = run
