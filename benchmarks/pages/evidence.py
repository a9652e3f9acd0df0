"""Figures of the CSV files in docs/evidence, and of the defaults."""

import csv
import math
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from benchmarks.harness import cell, markdown, number
from selfplay.dqn.config import DQNConfig
from selfplay.sweep import plan as plans
from selfplay.sweep.statistics import compare, interquartile_mean, proportion, proved_curve

DEFAULT = DQNConfig()
TITLES = {
    "flags": "changed",
    "proved": "proved",
    "plies.median": "plies, median",
    "updates.mean": "updates",
    "samples.mean": "samples, thousands",
    "seconds.mean": "seconds",
    "plies.most": "most plies",
    "plies.apart": "difference in plies",
    "plies.fewer": "fewer with",
    "plies.more": "more with",
    "samples.apart": "difference in samples",
    "beaten.ever": "seeds beaten again",
    "beaten.mean": "% beaten again",
    "beaten.apart": "difference",
    "optimal.mean": "% optimal everywhere",
    "optimal.apart": "difference",
}
TO_PROOF = "flags proved plies.median updates.mean samples.mean"
ON_3X3X3 = f"{TO_PROOF} seconds.mean"
APART = "plies.apart plies.fewer plies.more"
TABLES = {
    "proof": f"{ON_3X3X3} plies.most",
    "defaults": f"{ON_3X3X3} {APART} samples.apart",
    "sensitivity": ON_3X3X3,
    "large": f"{TO_PROOF} {APART}",
    "unmasked": f"{TO_PROOF} {APART}",
    "past": "flags beaten.ever beaten.mean beaten.apart optimal.mean optimal.apart",
}
"""Columns of the table of each CSV file."""
DIGITS = {"samples": 1, "seconds": 2, "beaten": 2, "optimal": 2}

Setting: TypeAlias = dict[str, dict[int, float]]
"""What the runs of a setting took to a proof or did after it, by kind and seed; infinity for one without a proof."""


def figures(docs: Path) -> dict[str, str]:
    """Return the figures of every CSV file, and of the defaults."""
    defaults = {
        name: number(value, 0) if type(value) is int else plans.text(value) for name, value in vars(DEFAULT).items()
    }
    found: dict[str, Any] = {
        "share": {str(many): f"{100 * proportion(many, many).low:.0f} %" for many in (5, 10, 100)},
        "default": {name.replace("_", "-"): text for name, text in defaults.items()},
    }
    texts = {name: (docs / "evidence" / f"{name}.csv").read_text() for name in TABLES}
    runs = [run for text in texts.values() for run in csv.DictReader(text.splitlines())]
    found["evidence"] = {
        "runs": number(len(runs), 0),
        "models": number(len({run["model_sha256"] for run in runs}), 0),
        "hours": number(sum(float(run.get("worker_seconds", 0)) for run in runs) / 3600),
    }
    return dict(flat(found | {name: of_file(name, text) for name, text in texts.items()}))


def flat(texts: Mapping[str, Any], names: str = "") -> Iterator[tuple[str, str]]:
    """Yield the texts of nested dictionaries, the names joined by dots."""
    for name, value in texts.items():
        yield from flat(value, f"{names}{name}.") if isinstance(value, dict) else [(names + name, value)]


@cache
def of_file(name: str, text: str) -> dict[str, Any]:
    """Return what each setting took, their table, and by the interval which took fewer or more than the first."""
    lines = list(csv.DictReader(text.splitlines()))
    settings: dict[str, Setting] = {}
    for line in lines:
        setting = settings.setdefault(line["setting"], {})
        for kind, amount in amounts(name, line).items():
            setting.setdefault(kind, {})[int(line["seed"])] = amount
    first, *_ = settings.values()
    rows = {label: dict(flat(of_setting(label, setting, first))) for label, setting in settings.items()}
    found: dict[str, Any] = {re.sub(r"[^a-z0-9.]+", "-", row["flags"].lower()).strip("-"): row for row in rows.values()}
    for kind in first:
        sides: dict[str, list[str]] = {"fewer": [], "more": [], "open": []}
        for row in [*rows.values()][1:]:
            sides[row[f"{kind}.side"]].append(row["flags"])
        found[kind] = {side: ", ".join(of_side) or "none" for side, of_side in sides.items()}
    table = [[row[column] for column in TABLES[name].split()] for row in (TITLES, *rows.values())]
    proved = [line["end"] for line in lines].count("proved")
    found["proved"] = f"{number(proved, 0)} of {number(len(lines), 0)}"
    return {**found, "table": markdown(table), "comparisons": str(len(rows) - 1)}


def amounts(name: str, line: Mapping[str, str]) -> dict[str, float]:
    """Return what a run took to its proof, or the percentages of its evaluations from the first proof on."""
    if name == "past":
        percent = 100 / int(line["since_proof"])
        return {"beaten": percent * int(line["not_proved"]), "optimal": percent * int(line["all_optimal"])}
    batch = re.search(r"batch_size=(\d+)", line["setting"])
    samples = int(line["updates"]) * (int(batch[1]) if batch else DEFAULT.batch_size)
    found = {"plies": float(line["steps"]), "updates": float(line["updates"]), "samples": samples / 1000}
    found |= {"seconds": float(line["seconds"])} if "seconds" in line else {}
    return {kind: amount if line["end"] == "proved" else math.inf for kind, amount in found.items()}


def of_setting(label: str, setting: Setting, first: Setting) -> dict[str, Any]:
    """Return what a setting took, alone and beside the first setting on equal seeds."""
    found: dict[str, Any] = {"flags": flags(label)}
    for kind, by_seed in setting.items():
        every, digits = [*by_seed.values()], DIGITS.get(kind, 0)
        proved = [math.isfinite(amount) for amount in every]
        (_, fewer, more, _), apart = compare(first[kind], by_seed)
        found["proved"] = f"{sum(proved)} of {len(proved)}"
        found[kind] = {
            "median": proved_curve(every, proved).median().text(digits),
            "mean": interquartile_mean(every).text(digits),
            "least": number(min(every), digits),
            "most": number(max(every), digits),
            "ever": cell([amount > 0 for amount in every]),
            "apart": apart.text(digits, "+"),
            "fewer": str(fewer),
            "more": str(more),
            "side": "fewer" if apart.high < 0 else "open" if apart.low <= 0 else "more",
        }
    return found


def flags(label: str) -> str:
    """Return the settings of a sweep's label as flags, without those that are the default."""
    if "=" not in label:
        return "nothing" if label == "default" else label
    words = []
    for name, value in (word.split("=") for word in label.split(",")):
        if value != plans.text(getattr(DEFAULT, name)):
            words.append(f"--{name.replace('_', '-')} {value.removesuffix('.0')}".removesuffix(" true"))
    return f"`{' '.join(words)}`" if words else "nothing"
