"""The number of ways to beat a player is the same number everywhere."""

import re
from pathlib import Path
from typing import Any

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import selfplay
from selfplay.cli import prove
from selfplay.judging.agents import player_policy
from selfplay.judging.verdict import exact_score, verdict_text
from selfplay.learning.folder import METRICS
from selfplay.web.history import history
from selfplay.web.mistakes import evaluation
from tests.runs import SHORT, metrics

WAYS = "ways to beat it"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> selfplay.Run:
    """A run whose player is not proved, and still marks taken cells."""
    return selfplay.train(**SHORT, run_dir=tmp_path_factory.mktemp("runs") / "it", progress=False)


def before(words: str, text: str) -> int:
    """Return the number before some words."""
    [number] = re.findall(rf"([\d,]+) {words}", text)
    return int(number.replace(",", ""))


def in_row(name: str, text: str) -> int:
    """Return the sum of both seats in the row of a table, of HTML or of a terminal."""
    [(first, second)] = re.findall(rf"{name}\W+(?:td\W+)*([\d,]+)\W+(?:td\W+)*([\d,]+)", text)
    return int(first.replace(",", "")) + int(second.replace(",", ""))


def test_it_is_the_same_in_python_the_terminal_the_metrics_the_page_and_a_notebook(
    run: selfplay.Run, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict: Any = run.verdict
    prove.main([str(run.folder)])
    printed, html = capsys.readouterr().out, run._repr_html_()
    events = EventAccumulator(str(run.folder), {"scalars": 0})
    events.Reload()
    numbers = {
        "verdict": verdict.ways_to_beat,
        "its seats": verdict.first.ways_to_beat + verdict.second.ways_to_beat,
        "terminal": before(WAYS, exact_score(verdict)[0]),
        "what is said": before(WAYS, verdict_text(verdict)),
        "metrics.jsonl": metrics(run.folder)[-1]["eval/ways_to_beat"],
        "TensorBoard": events.Scalars("eval/ways_to_beat")[-1].value,
        "the page": sum(evaluation(player_policy(run.player))["ways"]),
        "its time bar": history(run.folder)[-1]["ways"],
        "notebook": in_row(WAYS, html),
        "selfplay prove": in_row(WAYS, printed),
    }
    parts = {"by a line": 0, "by its own illegal move": 0}
    for name in parts:
        found = {before(name, exact_score(verdict)[0]), in_row(name, html), in_row(name, printed)}
        [parts[name]] = found
    assert set(numbers.values()) == {sum(parts.values())}, numbers
    assert min(parts.values()) > 0


def test_a_run_that_was_written_with_the_name_of_before_opens_with_its_verdict(run: selfplay.Run) -> None:
    path: Path = run.folder / METRICS
    path.write_text(path.read_text().replace("eval/ways_to_beat", "eval/games_lost"))
    assert selfplay.open(run.folder).verdict == run.verdict
    assert history(run.folder)[-1]["ways"] == run.verdict.ways_to_beat
