"""Make the mistakes of docs/why-does-my-dqn-not-learn.md on purpose, and evaluate exactly what they lead to.

    python -m benchmarks.symptoms --docs docs               # all of them, with the seeds 0 to 4
    python -m benchmarks.symptoms --symptoms mask opponent  # some of them

Every row is a run of the recipe docs/recipes/self_play_dqn.py with other settings.
"""

import csv
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby, product
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import tyro

import selfplay
from benchmarks import data, harness
from benchmarks.data import Result
from selfplay.files import write_csv
from tictactoe import Rewards

RECIPE = "self_play_dqn"
PLIES = 512_000
PROVED, ILLEGAL = "proved", "ways by its own illegal move"
TAKEN = "states where it marks a taken cell"
FINES = (-10.0, -1.0, -0.5, 0.0)
"""Rewards for a taken cell."""
Changes: TypeAlias = Mapping[str, Any]
"""Settings of the recipe that are not its defaults."""

RIGHT: Changes = {}
OWN_TURN = {"wait_for_reply": True, "sign": 1}
VERSUS_RANDOM = {"opponent": "random", "sign": 1}
ROWS: Mapping[str, Mapping[str, Changes]] = {
    "opponent": {
        "itself": RIGHT,
        "random": VERSUS_RANDOM,
        "heuristic": {"opponent": "heuristic", "sign": 1},
        "optimal": {"opponent": "optimal", "sign": 1},
        "random, always X": {**VERSUS_RANDOM, "seat": 0},
        "random, reward `allow` -1": {**VERSUS_RANDOM, "rewards": Rewards()},
    },
    "next": {
        "opponent's turn, minus": RIGHT,
        "opponent's turn, plus": {"sign": 1},
        "own next turn, plus": OWN_TURN,
        "own next turn, minus": {"wait_for_reply": True},
        "own next turn, the loser's last move left out": {**OWN_TURN, "loser_learns": False},
        "a draw costs as much as a loss": {"rewards": Rewards(allow=0, draw=-1, loss=-1)},
    },
    "illegal": {
        f"illegal {fine:g}": {"mask": "nothing", "rewards": Rewards(illegal=fine, allow=0, loss=-1)} for fine in FINES
    },
    "mask": {
        "moves and targets": RIGHT,
        "moves only": {"mask": "moves"},
        "moves only, own next turn": {**OWN_TURN, "mask": "moves"},
        "moves, and targets by the mask before the move": {"mask": "moves-and-stale-targets"},
    },
    "epsilon": {
        "epsilon 0.1": {"epsilon": 0.1},
        "epsilon 0.5": RIGHT,
        "epsilon 1": {"epsilon": 1.0},
    },
}
"""The mistakes of each table of the page."""


def trained(changes: Changes, seed: int, plies: int) -> selfplay.Verdict:
    """Train the recipe for some plies, and return the verdict on its player at the end."""
    return verdict_of(harness.recipe(RECIPE)["Settings"](seed=seed, total_plies=plies, evaluate_every=plies, **changes))


@cache
def verdict_of(settings: Any) -> selfplay.Verdict:
    """Return the verdict on the player of the recipe with these settings, which several tables may show."""
    verdict: selfplay.Verdict = harness.recipe(RECIPE)["main"](settings)
    return verdict


def measure(row: tuple[str, str], seed: int, plies: int) -> Result:
    """Return what a table says of one of its rows."""
    symptom, what = row
    changes = ROWS[symptom][what]
    if "opponent" in changes:
        plies //= 2  # the opponent plays the other half
    verdict = trained(changes, seed, plies)
    result: Result = {
        PROVED: verdict.unbeatable,
        "ways by a line as X": verdict.first.losses,
        "ways by a line as O": verdict.second.losses,
        ILLEGAL: verdict.first.illegal + verdict.second.illegal,
    }
    if "opponent" in changes:
        for mark, seat in (("X", verdict.first), ("O", verdict.second)):
            result[f"% not lost to random as {mark}"] = 100 * (1 - (seat.loss or 0))
    if symptom == "illegal":
        result[f"{TAKEN}, at a quarter"] = trained(changes, seed, plies // 4).illegal_states
        result[f"{TAKEN}, at the end"] = verdict.illegal_states
    return result


def table_of(results: Mapping[str, Sequence[Result]]) -> list[list[str]]:
    """Return a symptom's table; taken cells have a column only where they ended some game."""
    if any(result[ILLEGAL] for of_row in results.values() for result in of_row):
        return harness.summary(results)
    return harness.summary(
        {
            what: [{name: value for name, value in result.items() if name != ILLEGAL} for result in of_row]
            for what, of_row in results.items()
        }
    )


def read(docs: Path) -> dict[str, dict[str, list[Result]]]:
    """Return what docs/symptoms.csv holds, by symptom and row: a result for each seed."""
    found: dict[str, dict[str, list[Result]]] = {}
    with (docs / "symptoms.csv").open(newline="") as file:
        for (symptom, what, _), lines in groupby(csv.DictReader(file), itemgetter("symptom", "what", "seed")):
            result: Result = {line["measure"]: float(line["value"]) for line in lines}
            result[PROVED] = result[PROVED] == 1
            found.setdefault(symptom, {}).setdefault(what, []).append(result)
    return found


def main(
    symptoms: tuple[str, ...] = tuple(ROWS),
    seeds: tuple[int, ...] = tuple(range(5)),
    plies: int = PLIES,
    docs: Path | None = None,
) -> None:
    """Run the recipe with each mistake, and print a table for each symptom as it ends.

    Args:
        symptoms: Which of them.
        seeds: Seeds of every row.
        plies: Length of a run; less for a quick look.
        docs: Folder to write symptoms.csv into, in place of what it holds of the same symptoms.
    """
    measured_on = harness.start("Why does my DQN not learn?", seeds=seeds)
    rows: list[Sequence[object]] = [("symptom", "what", "seed", "measure", "value")]

    def measured(row: tuple[str, str], seed: int) -> Result:
        result = measure(row, seed, plies)
        rows.extend((*row, seed, name, round(float(value), 4)) for name, value in result.items())
        return result

    for symptom in symptoms:
        results = harness.in_turns(product([symptom], ROWS[symptom]), seeds, measured)
        print(harness.markdown(table_of({what: of_row for (_, what), of_row in results.items()})))
    if docs is not None:
        path = docs / "symptoms.csv"
        if path.exists():
            with path.open(newline="") as file:
                for *row, value in list(csv.reader(file))[1:]:
                    if row[0] not in symptoms:
                        rows.append((*row, float(value)))
        write_csv(path, rows)
        data.save(docs, "symptoms", dict.fromkeys(symptoms, ()), measured_on)


if __name__ == "__main__":
    tyro.cli(main)
