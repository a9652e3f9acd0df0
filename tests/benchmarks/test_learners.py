"""The benchmarks of the learners train what their rows say, and their tables, CSV files and pictures hold it."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.learning import learners, published, targets
from benchmarks.measuring.spread import spread
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.learner import DQNLearner
from selfplay.evaluation.evaluate import evaluate
from selfplay.evaluation.verdict import Verdict
from selfplay.tabular.config import AfterstateQConfig, TDBackupConfig, TDValueConfig
from selfplay.tabular.learners import AfterstateQ, TDBackup, TDValue
from tests.benchmarks.reports import config_with, printed_rows
from tictactoe import Rules

SHORT = 1_000
"""What the length of every training is divided by."""


def test_the_command_prints_and_writes_two_rows_for_every_learner(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    learners.main(["--shorten", str(SHORT), "--seeds", "1000", "1001", "--markdown", str(tmp_path / "table.md")])
    lines = (tmp_path / "table.md").read_text().splitlines()
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert tuple(header) == learners.HEADER
    assert [cells[0] for cells in rows] == [name for command in learners.COMMANDS for name in (f"`{command}`", "")]
    assert [cells[1] for cells in rows] == ["X", "O"] * len(learners.COMMANDS)
    assert all(len(cells) == len(header) for cells in rows)
    assert rows[0][-2] == "100 plies"
    assert rows[-2][-2] == "2,600 games"
    shown = printed_rows(capsys.readouterr().out)
    assert sum(cells[1] in "XO" for cells in shown if cells[1]) == 2 * len(learners.COMMANDS)


@pytest.mark.parametrize(
    ("command", "learner"),
    [
        ("afterstate-q --seat 1", AfterstateQ(AfterstateQConfig(seed=1000, seat=1))),
        ("td-value", TDValue(TDValueConfig(seed=1000))),
        ("td-value --no-back-up-losses", TDValue(TDValueConfig(seed=1000, back_up_losses=False))),
        ("td-value --opponent self", TDValue(TDValueConfig(seed=1000, opponent="self"))),
    ],
)
def test_a_row_is_the_published_training_of_its_seed(command: str, learner: AfterstateQ | TDValue) -> None:
    games = learner.config.games // 10
    learner.play(games)
    run = learners.measure(command, 1000, shorten=10)
    assert run.evaluation == evaluate(learner.player(), Rules())
    assert run.amount == games
    assert learners.measure(command, 1001, shorten=10).evaluation != run.evaluation


def test_td_backup_ends_with_its_greedy_games() -> None:
    learner = TDBackup(TDBackupConfig(seed=1000))
    learner.play(1_000)
    learner.finish()
    run = learners.measure("td-backup", 1000, shorten=100)
    assert run.amount == 3_500
    assert run.evaluation == evaluate(learner.player(), Rules())


def test_only_a_draw_is_a_tie() -> None:
    drawn_game = 4, 0, 2, 6, 3, 5, 1, 7, 8
    drawing = AfterstateQ(AfterstateQConfig()).player()
    drawing.table[np.cumsum([(1 + ply % 2) * 3**cell for ply, cell in enumerate(drawn_game)])] = 1.0
    assert learners.ties_with_itself(drawing)
    assert not learners.ties_with_itself(lambda board: board[..., 0].argmax())  # the first empty cell: X wins
    assert not learners.ties_with_itself(lambda _: 0)


def test_a_cell_shows_one_number_where_all_seeds_show_it() -> None:
    assert spread([3, 3, 3]).text() == "3"
    assert spread([0.01, 0.02, 0.04]).text(1) == "0.0"
    assert spread([0.01, 0.02, 0.06]).text(1) == "0.0 (0.0 to 0.1)"


def test_the_published_figures_are_printed_and_drawn(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    seeds = ["--seeds", "1000", "--match-up-seeds", "1000", "1001"]
    published.main([*seeds, "--shorten", "100", "--docs", str(tmp_path)])
    printed = capsys.readouterr().out
    rows = printed_rows(printed)
    assert ["random against random", "0.1"] in [cells[:2] for cells in rows]
    assert "58.5 / 28.8 / 12.7" in rows[0]
    assert [cells[4] for cells in rows[:6:2]] == ["57 / 29 / 12", "91 / 3 / 5", "12 / 70 / 17"]
    assert "minimax-q, seed 1000: 100,000 games" in printed
    groups = next(cells for cells in rows if cells[0] == "seed 1000")[-1].split()
    assert len(groups) == 5
    assert max(map(int, groups)) <= 500
    for name in ("afterstate-q", "td-backup-groups", "td-backup-values"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_csv_of_the_match_ups_is_cumulative(tmp_path: Path) -> None:
    backup = TDBackup(TDBackupConfig(seed=1000))
    backup.play(100)
    published.write_docs(tmp_path, 1000, 300, backup, np.array([[1, 2, 3]]))
    with (tmp_path / "afterstate-q.csv").open(newline="") as file:
        _, *lines = csv.reader(file)
    assert [line[2] for line in lines] == ["100", "200", "300"] * 3
    assert all(sum(map(int, line[3:])) == int(line[2]) for line in lines)


def test_exercise_1_1_has_a_row_for_each_variant() -> None:
    table = published.exercise([1000], shorten=1_000)
    assert [list(table.columns[number].cells) for number in (0, 1)] == [
        ["random", "random", "self", "self"],
        ["yes", "no", "yes", "no"],
    ]
    shares = list(table.columns[3].cells)
    assert len(set(shares)) == len(shares)


def test_every_evaluation_of_the_targets_is_in_the_csv(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[DQNConfig] = []
    monkeypatch.setattr(targets, "DQNConfig", lambda **settings: small_dqn(trained, **settings))
    targets.main(["--seeds", "1000", "1001", "--total-steps", "2048", "--docs", str(tmp_path)])
    with (tmp_path / "targets.csv").open(newline="") as file:
        header, *lines = csv.reader(file)
    assert tuple(header) == targets.CSV_HEADER
    assert [tuple(line[:3]) for line in lines] == [
        (target, seed, plies)
        for seed in ("1000", "1001")
        for target in ("negamax", "independent", "article")
        for plies in ("1024", "2048")
    ]
    assert (tmp_path / "targets.png").read_bytes().startswith(b"\x89PNG")
    assert [(config.target, str(config.seed)) for config in trained] == [tuple(line[:2]) for line in lines[::2]]
    assert len({replace(config, target="negamax", seed=0) for config in trained}) == 1
    names = [cells[0] for cells in printed_rows(capsys.readouterr().out)]
    assert names == ["negamax", "independent", "article"]


def small_dqn(made: list[DQNConfig], **settings: object) -> DQNConfig:
    small = {"eval_every": 1_024, "hidden": (8,), "batch_size": 32, "warmup": 256}
    config = DQNConfig(**{**settings, **small})  # type: ignore[arg-type]
    made.append(config)
    return config


def test_the_figure_shows_each_seed_and_the_median() -> None:
    evaluation = evaluate(DQNLearner(config_with()).player(), Rules())

    def with_worst(first: int, second: int) -> Verdict:
        seats = [replace(evaluation.first, best_response=worst) for worst in (first, second)]
        return replace(evaluation, first=seats[0], second=seats[1])

    curves = [
        targets.Curve("negamax", seed, [100, 200], [with_worst(-1, -1), with_worst(*worst)])
        for seed, worst in enumerate([(0, 0), (-1, -1), (0, -1)])
    ]
    lines = [np.asarray(line.get_ydata()).tolist() for line in targets.figure(curves).axes[0].get_lines()]
    assert lines == [[1, 0.5], [1, 1], [1, 0.75], [1, 0.75]]


def test_a_running_mean_looks_back_only() -> None:
    assert targets.running_mean([4.0, 2.0, 0.0, 1.0], 2) == [4, 3, 1, 0.5]
