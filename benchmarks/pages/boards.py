"""Figures of larger boards: who wins, what a rule does, what is proved by training, and by a repair."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from benchmarks.data import Result, data_file, saved_results
from benchmarks.environment import rule, search
from benchmarks.harness import markdown, number, spread, summary
from benchmarks.learning import bigger_boards, repaired

Rows: TypeAlias = Mapping[str, Sequence[Result]]

TIMED = {
    "proved": "proved",
    "seconds": "seconds of training",
    "all seconds": "seconds in all",
    "win/draw/loss % against heuristic": "win/draw/loss % against heuristic, as X; as O",
}
"""Columns of the table of seconds by the names that they were measured under."""


def figures(docs: Path) -> dict[str, str]:
    """Return the figures of larger boards from the data files that there are."""
    parts = {search.TITLE: searched, rule.TITLE: followed, bigger_boards.TITLE: trained, repaired.TITLE: corrected}
    there = (title for title in parts if data_file(docs, title).exists())
    return {name: text for title in there for name, text in parts[title](saved_results(docs, title)).items()}


def searched(results: Rows) -> dict[str, str]:
    """Return who wins which board."""
    return {"boards.search.table": table("board", _by_board(results))}


def followed(results: Rows) -> dict[str, str]:
    """Return where the rule can lose, by board and seat."""
    return {"boards.rule.table": table("board, seat", per_seat(_by_board(results)))}


def trained(results: Rows) -> dict[str, str]:
    """Return the seconds to a proof, and the games against the heuristic."""
    rows = {
        f"`{flags}`": [{new: result[old] for old, new in TIMED.items()} for result in results[row]]
        for row, flags in bigger_boards.ROWS.items()
    }
    return {"boards.timed.table": table("`python train.py`", rows)}


def corrected(results: Rows) -> dict[str, str]:
    """Return what a repair did for each seed, and in how many moves those that are proved were corrected."""
    ends = [result for [result] in results.values()]
    proved = [result for result in ends if result["end"] == repaired.PROVED]
    return {
        "boards.repaired.table": table("seed", dict(sorted(results.items()))),
        "boards.repaired.seeds": number(len(ends), 0),
        "boards.repaired.proved": number(len(proved), 0),
        "boards.repaired.corrected": from_to([result["corrected"] for result in proved]) if proved else "no",
        "boards.repaired.beaten": from_to([result["beaten from"] for result in ends]),
        "boards.repaired.positions": from_to([result["of its positions"] for result in ends]),
    }


def table(first: str, results: Rows) -> str:
    """Return a table in Markdown of what each column shows over the seeds; the first column has a name of its own."""
    header, *lines = summary(results)
    return markdown([[first, *header[1:]], *lines])


def from_to(values: Sequence[float]) -> str:
    """Return the range of some counts in words."""
    _, least, most = spread(values)
    return number(least, 0) if least == most else f"{number(least, 0)} to {number(most, 0)}"


def per_seat(results: Rows) -> dict[str, list[Result]]:
    """Return a row for each seat."""
    return {
        f"{row}, {'XO'[seat]}": [{name: value[seat] for name, value in result.items()} for result in of_row]
        for row, of_row in results.items()
        for seat in (0, 1)
    }


def _by_board(results: Rows) -> dict[str, Sequence[Result]]:
    return {row.replace("x", ","): of_row for row, of_row in results.items()}
