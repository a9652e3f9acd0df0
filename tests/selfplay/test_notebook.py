"""What a notebook shows: one line while a run trains, then tables, a frame and a plot."""

import re
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from nbclient import NotebookClient

import selfplay
from selfplay.plot_style import png
from tests.selfplay.dqn.scripted import config_with, make

HTML = "<table>"
CELLS = {
    """\
import gymnasium, json, sys, selfplay, tictactoe
run = selfplay.train("minimax-q", games=600, eval_every=200, run_dir="it")
""": ["600 games", "to beat it"],
    "run": ["Run(it", HTML],
    "run.verdict": ["Verdict(", HTML],
    "run.player": ["MinimaxQPlayer(3,3,3", HTML],
    'selfplay.load("shipped")': ["QPlayer(3,3,3", HTML],
    "run.plot()": ["image/png"],
    'run.frame().to_dict("records") == [json.loads(line) for line in open("it/metrics.jsonl")]': ["True"],
    'resumed = selfplay.train(resume="it", games=800, progress=False)\nlen(resumed.records)': ["4"],
    'selfplay.train(run_dir="other", stop_when=lambda: True, progress=False)': ["Run(other, interrupted"],
    'sys.modules["pandas"] = None\ntry:\n    run.frame()\nexcept ImportError as error:\n    print(error)': ["pandas"],
    f"!{sys.executable} -m selfplay prove rule": ["NOT unbeatable"],
    """\
env = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent="rule")
_ = env.reset(), env.step(0)
env
""": ["<svg "],
    "tictactoe.game_svg(tictactoe.Rules(1, 2, 2), [0])": ["<svg "],
}
"""The cells of a notebook, and what each shows among other things."""


@pytest.mark.slow
def test_a_notebook_shows_one_line_while_it_trains_and_tables_after_it(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    for cell, (source, expected) in zip(cells, CELLS.items(), strict=True):
        shown = "\n".join(
            output["text"] if "text" in output else "\n".join(map(" ".join, output["data"].items()))
            for output in cell.outputs
        )
        assert [part for part in expected if part not in shown] == [], (source, shown)
        assert not re.search(r"[\x00-\x08\x0b-\x0c\x0e-\x1f]", shown)  # no cursor moves in a notebook
    assert len(cells[0].outputs) == 1


def test_a_plot_is_that_of_the_folder_and_the_player_of_a_large_board_has_no_table(tmp_path: Path) -> None:
    run = selfplay.train("minimax-q", games=400, eval_every=200, run_dir=tmp_path / "it", progress=False)
    assert png(run.plot()) == (run.folder / "progress.png").read_bytes()
    assert make(config_with(rows=4, cols=4, k=4)).player()._repr_html_() is None  # its evaluation may take a minute


def test_a_mistake_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    InteractiveShell().run_cell("import selfplay\nselfplay.DQNConfig(seed=-1)")
    [line] = "".join(capsys.readouterr()).splitlines()
    assert "seed" in line
