"""What a notebook shows: one line while a run trains, then short lines, tables, a frame and a plot."""

import re
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

import selfplay
from selfplay.learning.plots import png
from tests.selfplay.dqn.scripted import config_with, make

LOST = "games lost [0-9,]+ as X, .* states"
VERDICT = rf"Verdict\(NOT unbeatable; {LOST}\)"
LAST = rf"Record\(number=3, steps=600, evaluation={VERDICT}, proofs=0\)"
TABLE = "<p>NOT unbeatable.*</p><table><tr><td></td><td>plays X, .*<tr><td>games lost</td><td>[0-9,]+</td>.*</table>"
NO_CONTROL = r"[^\x00-\x09\x0b-\x1f\x7f]*"
CELLS = {
    """\
import json, sys, gymnasium, selfplay, tictactoe
run = selfplay.train("minimax-q", games=600, eval_every=200, run_dir="it")
""": f"text/plain 600 of at most 600 games; [0-9,]+ games/s; 0:[0-9:]+; {LOST}",
    "run": rf"text/plain Run\(it, {LAST}\)\ntext/html <p>it</p>{TABLE}",
    "run.proof": rf"text/plain {VERDICT}\ntext/html {TABLE}",
    "run.player": rf"text/plain MinimaxQPlayer\(3,3,3, table of 177,147 values\)\ntext/html {TABLE}",
    'selfplay.load("shipped")': r"text/plain QPlayer\(3,3,3, [0-9,]+ weights\)\ntext/html <p>PROVED UNBEATABLE.*",
    "run.plot()": r"text/plain <.*>\nimage/png [\s\S]*",
    """\
run.frame().to_dict("records") == [json.loads(line) for line in open("it/metrics.jsonl")]
""": "text/plain True",
    """\
resumed = selfplay.train(resume="it", games=800, progress=False)
[each.metrics for each in resumed.records[:3]] == [each.metrics for each in run.records]
""": "text/plain True",
    "resumed.records[2].metrics.keys() == resumed.records[3].metrics.keys()": "text/plain True",
    """\
sys.modules["pandas"] = None
try:
    run.frame()
except ImportError as error:
    print(error)
""": r"pandas is not installed, which frame\(\) needs: pip install pandas",
    """\
selfplay.train(run_dir="other", stop_when=lambda: True, progress=False)
""": r"text/plain Run\(other, interrupted, no evaluation yet\)\ntext/html <p>other</p>",
    f"!{sys.executable} -m selfplay prove rule": f"{NO_CONTROL}NOT unbeatable{NO_CONTROL}",
    """\
env = gymnasium.make("tictactoe:TicTacToeVersus-v0", opponent="rule")
_ = env.reset(), env.step(0)
env
""": r'text/plain <.*\ntext/html <svg [^>]*" X  .  .\n . \(O\) .\n .  .  ."[\s\S]*</svg>',
    """\
from sys import displayhook as show
for cell in 0, 1:
    show(tictactoe.game_svg(tictactoe.Rules(1, 2, 2), [cell]))
""": r"text/plain \(X\) .\ntext/html <svg [\s\S]*</svg>\ntext/plain  . \(X\)\ntext/html <svg [\s\S]*</svg>",
}
"""The cells of a notebook, and what each shows."""


def test_a_notebook_shows_one_line_while_it_trains_and_tables_after_it(tmp_path: Path) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    client = NotebookClient(nbformat.v4.new_notebook(cells=cells), resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    for cell, (source, expected) in zip(cells, CELLS.items(), strict=True):
        shown = "\n".join(
            output["text"] if "text" in output else "\n".join(map(" ".join, output["data"].items()))
            for output in cell.outputs
        )
        assert re.fullmatch(expected, shown.replace("\r\n", "\n").rstrip("\n")), (source, shown)


def test_a_plot_is_that_of_the_folder_and_the_player_of_a_large_board_has_no_table(tmp_path: Path) -> None:
    run = selfplay.train("minimax-q", games=400, eval_every=200, run_dir=tmp_path / "it", progress=False)
    assert png(run.plot()) == (run.folder / "progress.png").read_bytes()
    assert make(config_with(rows=4, cols=4, k=4)).player()._repr_html_() is None  # its evaluation may take a minute
