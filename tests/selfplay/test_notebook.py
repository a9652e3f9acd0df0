"""What a notebook shows: one line while a run trains, short lines and tables, all evaluations as a frame and a plot."""

import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
import pytest
from nbclient import NotebookClient

import selfplay
from selfplay.algorithms import SHIPPED
from selfplay.tabular import learners
from selfplay.training.plots import png
from selfplay.training.result import Run
from tests.runs import metrics, refused, without_plots
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules, solve

SHORT: dict[str, Any] = {"games": 600, "eval_every": 200, "seed": 1}
CELLS = """\
import selfplay
run = selfplay.train(selfplay.MinimaxQConfig(games=600, eval_every=200, run_dir="it"))
---
run
---
run.plot()
---
!{python} -m selfplay prove rule
---
selfplay.train(selfplay.MinimaxQConfig(games=600, eval_every=200, run_dir="other"), progress=False).proof.unbeatable
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return a run of a tabular learner with three evaluations."""
    config = selfplay.MinimaxQConfig(**SHORT, run_dir=tmp_path_factory.mktemp("notebook") / "it")
    return selfplay.train(config, progress=False)


def test_a_notebook_shows_one_line_while_it_trains_then_tables_and_pictures(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(code) for code in CELLS.format(python=sys.executable).split("---\n")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, resources={"metadata": {"path": str(tmp_path)}}).execute()
    [line], [run], [plot], proof, [silent] = ([dict(output) for output in cell.outputs] for cell in cells)
    progress = r"600 of at most 600 games; [\d,]+ games/s; 0:\d\d:\d\d; games lost [\d,]+ as X, .* states"
    assert re.fullmatch(progress, line["data"]["text/plain"])
    assert "<table>" in run["data"]["text/html"]
    assert plot["data"]["image/png"]
    text = "".join(part["text"] for part in proof).replace("\r\n", "\n")  # as a terminal writes a line's end
    assert "NOT unbeatable" in text
    assert all(char.isprintable() or char == "\n" for char in text)
    assert silent["data"] == {"text/plain": "False"}


def test_everything_is_shown_in_one_line(finished: Run) -> None:
    lost = "Verdict(NOT unbeatable; games lost "
    shown: list[tuple[object, str]] = [
        (finished, f"it, minimax-q on 3,3,3, games 600, eval every 200, seed 1, 600 games: {lost}"),
        (finished.proof, lost),
        (finished.records[0], f"Record(number=1, steps=200, evaluation={lost}"),
        (finished.player, "MinimaxQPlayer(3,3,3, table of 177,147 values)"),
        (selfplay.load(SHIPPED), "QPlayer(3,3,3, "),
        (selfplay.evaluate(selfplay.load(SHIPPED)), "Verdict(PROVED UNBEATABLE AND OPTIMAL; games lost 0 as X, 0 as O"),
        (solve(Rules()), "Solution(3,3,3, 5,478 states, value 0)"),
    ]
    for thing, text in shown:
        assert text in repr(thing)
        assert "\n" not in repr(thing)
        assert len(repr(thing)) < 400


def test_a_notebook_gets_the_verdict_as_a_table(finished: Run) -> None:
    table = finished.proof._repr_html_()
    assert re.search(r"NOT unbeatable.*<table><tr><td></td><td>plays X, moves first</td>", table)
    assert f"<td>games lost</td><td>{finished.proof.first.losses:,}</td>" in table
    assert finished._repr_html_().endswith(table)
    assert finished.player._repr_html_().endswith(table)  # type: ignore[attr-defined]
    large = make(config_with(rows=4, cols=4, k=4)).player()
    assert large._repr_html_() == f"<p>{large!r}</p>"  # its evaluation may take a minute


def test_a_frame_has_every_metric_and_a_plot_is_that_of_the_folder(finished: Run) -> None:
    frame = finished.frame()
    assert frame.to_dict("records") == metrics(finished.folder)
    assert list(frame["games"]) == [200, 400, 600]
    assert png(finished.plot()) == (finished.folder / "progress.png").read_bytes()


def test_without_pandas_one_line_says_what_to_install(finished: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, pd.__name__, None)
    with pytest.raises(ImportError, match=r"^pandas is not installed, which frame\(\) needs: pip install pandas$"):
        finished.frame()


def test_metrics_are_those_of_tensorboard_in_a_fresh_run_and_in_a_resumed_one(
    finished: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_plots(monkeypatch.setattr)
    resumed = selfplay.train(resume=finished.folder, games=800, progress=False)
    assert [record.metrics for record in resumed.records[:2]] == [record.metrics for record in finished.records[:2]]
    assert resumed.records[0].metrics.keys() == resumed.records[-1].metrics.keys()
    assert resumed.records[0].metrics["eval/games_lost"] == resumed.records[0].evaluation.games_lost


def test_a_run_that_was_never_evaluated_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(learners, "SLICE", 100)
    config = selfplay.MinimaxQConfig(**SHORT, run_dir=tmp_path / "it")
    run = selfplay.train(config, stop_when=lambda: True, progress=False)
    assert capsys.readouterr() == ("", "")
    assert "0 games, interrupted: no evaluation yet" in repr(run)
    assert "0 games, interrupted" in run._repr_html_()
    for call in (run.frame, run.plot, lambda: run.proof):
        assert "it: was interrupted before its first evaluation" in refused(call)
