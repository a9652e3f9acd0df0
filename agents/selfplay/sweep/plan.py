"""The plan of a sweep: its seeds, its settings, and the runs that they make.

A setting is written NAME=VALUE, with the names of `selfplay train`: learning_rate=0.006, mask=true, hidden=128x64.
"""

import itertools
import json
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import tyro

from selfplay.errors import UserError
from selfplay.files import read_small, write_whole
from selfplay.runs.algorithms import Config, settings_of
from selfplay.runs.folder import written
from selfplay.settings import BOARD, CountOrZero, RunSettings, checked

FILE = "sweep.json"
LARGEST_FILE = 1 << 20
"""Bytes of a plan's file."""
MOST_SEEDS = 100_000
LONGEST_NAME = 150
"""Characters of the name of a run's folder before its seed."""

Words: TypeAlias = Annotated[tuple[str, ...], tyro.conf.UseAppendAction]
"""A flag that can be given several times."""
OwnPart: TypeAlias = Annotated[str, tyro.conf.Fixed, tyro.conf.Suppress]
"""The name of code that a program gives; no flag sets it."""


@checked
class Plan:
    """The plan of a sweep, in the words of its flags. `sweep.json` holds these fields."""

    algorithm: str = "dqn"
    """Algorithm of `selfplay train`."""
    seeds: str = "0..9"
    """Seeds of every setting, as in 0..99 or 1,2,5."""
    set: Words = ()
    """NAME=VALUE: a setting of all runs."""
    vary: Words = ()
    """NAME=VALUE,VALUE,...: every combination of these values is trained. In a search also NAME=LOWEST..HIGHEST."""
    each: Words = ()
    """NAME=VALUE,VALUE,...: each value is trained by itself, and also a setting with none of them."""
    search: CountOrZero = 0
    """Number of settings to try, which Optuna samples from --vary; 0 trains every combination. After one, three, nine,
    ... seeds only the best third of the settings continues."""
    objective: Literal["steps", "updates"] = "steps"
    """The number that a search minimizes: steps (plies, or games) or updates to the first evaluation from which the
    proof held. A run without a proof counts for more than any with one."""
    network: OwnPart = ""
    """The custom network of its runs, as module:name; nothing imports it."""
    agent: OwnPart = ""
    """Their custom agent, as module:name; nothing imports it."""

    def __post_init__(self) -> None:
        names = [name for flag in ("set", "vary", "each") for name, _ in pairs(self, flag)]
        for name in names:
            if name == "seed":
                raise UserError("seed: a sweep sets it for each run; see --seeds")
            if names.count(name) > 1:
                raise UserError(f"{name} is given twice")
        parse_seeds(self.seeds)  # refuses what is none


class Range(NamedTuple):
    """The ends of a range to sample from, both included: of integers if they are integers."""

    low: float
    high: float


class PlannedRun(NamedTuple):
    """One run of a sweep."""

    setting: str
    """The settings that differ, as in "mask=true,hidden=64x32"; equal for the seeds of a setting."""
    config: Config

    @property
    def name(self) -> str:
        """The name of its folder, which differs from that of every other run."""
        name = re.sub(r"[^\w.,=+-]", "-", self.setting)[:LONGEST_NAME]
        if name != self.setting:
            name += f"-{zlib.crc32(self.setting.encode()):08x}"
        return f"{name},seed={self.config.seed}"


def write(plan: Plan, folder: Path) -> None:
    """Write a plan into the folder of its sweep."""
    content = {field.name: getattr(plan, field.name) for field in fields(Plan)}
    write_whole(folder / FILE, (json.dumps(content, indent=1) + "\n").encode())


def read(folder: Path) -> Plan:
    """Return the plan of the sweep in a folder.

    Raises:
        UserError: there is none, it cannot be read, or it names a setting or a value that there is not.
    """
    path = folder / FILE
    try:
        plan = Plan(**json.loads(read_small(path, LARGEST_FILE)))
        runs_or_space(plan)  # refuses values that no run can have
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); is this the folder of a sweep?") from None
    except (ValueError, TypeError, RecursionError) as error:
        raise UserError(f"{path}: is not the plan of a sweep ({error})") from None
    return plan


def runs_or_space(plan: Plan) -> tuple[list[PlannedRun], dict[str, Range | list[str]]]:
    """Return every run of a sweep, or the space that its search samples from.

    Raises:
        UserError: there is no such algorithm or setting, or a value does not fit.
    """
    if plan.search:
        return [], search_space(plan)
    return all_runs(plan), {}


def all_runs(plan: Plan) -> list[PlannedRun]:
    """Return every run of a sweep that is no search, seed by seed so that settings can be compared early.

    Raises:
        UserError: there is no such algorithm or setting, or a value does not fit.
    """
    vary: dict[str, list[Any]] = {}
    for name, text in pairs(plan, "vary"):
        if re.fullmatch(r"[-+.\de]+\.\.[-+.\de]+", text):
            raise UserError(f"{name}={text}: a range needs --search NUMBER; without a search name the values")
        vary[name] = read_values(text)
    alone: list[dict[str, Any]] = [{}]
    for name, text in pairs(plan, "each"):
        alone += [{name: value} for value in read_values(text)]
    seeds = parse_seeds(plan.seeds)
    settings: dict[Config, dict[str, Any]] = {}  # equal ones are trained once
    for one in alone:
        for combination in itertools.product(*vary.values()):
            values = {**dict(zip(vary, combination, strict=True)), **one}
            settings.setdefault(make_run(plan, values, seeds[0]).config, values)
    return [make_run(plan, values, seed) for seed in seeds for values in settings.values()]


def search_space(plan: Plan) -> dict[str, Range | list[str]]:
    """Return the ranges, and the values as words, that a search samples from.

    Raises:
        UserError: there is no such algorithm or setting, or a value does not fit.
    """
    if plan.each or not plan.vary:
        raise UserError("a search samples from --vary NAME=LOWEST..HIGHEST or NAME=VALUE,VALUE, and takes no --each")
    space: dict[str, Range | list[str]] = {}
    for name, text in pairs(plan, "vary"):
        words = re.split(r"\.\.|,", text)
        # As the setting has them: 0 and 1 are the ends of a range of fractions if it is a fraction.
        values = [value_of(make_run(plan, {name: read_value(word)}, seed=0).config, name) for word in words]
        if ".." not in text:
            space[name] = words
            continue
        low, high = values[0], values[-1]
        if len(values) != 2 or type(low) not in (int, float) or not low < high:
            raise UserError(f"{name}={text}: a range must be two numbers, the lower one first")
        space[name] = Range(low, high)
    return space


def make_run(plan: Plan, values: Mapping[str, Any], seed: int) -> PlannedRun:
    """Return the run with these values of the settings that differ.

    Raises:
        UserError: there is no such algorithm or setting, or a value does not fit.
    """
    same = {name: read_value(text) for name, text in pairs(plan, "set")}
    try:
        config = settings_of(plan.algorithm)(**{**same, **values, "seed": seed})
    except UserError as error:
        raise UserError(f"{label(values)}: {error}" if values else error) from None
    return PlannedRun(label({name: value_of(config, name) for name in values}), config)


def value_of(config: RunSettings, name: str) -> Any:
    """Return the value of a setting by its name as it is typed."""
    return getattr(config.rules if name in BOARD else config, name)


def pairs(plan: Plan, flag: Literal["set", "vary", "each"]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text after = of each word of a flag.

    Raises:
        UserError: a word is not NAME=VALUE.
    """
    for word in getattr(plan, flag):
        name, _, text = word.partition("=")
        if not (name and text):
            raise UserError(f"--{flag} must be NAME=VALUE, or NAME=VALUE,VALUE for several, got {word!r}")
        yield name.replace("-", "_"), text


def read_value(word: str) -> Any:
    """Return what a word such as "true", "0.5" or "12" means in JSON, and any other word as it is."""
    try:
        return json.loads(word)
    except ValueError:
        return word


def read_values(text: str) -> list[Any]:
    """Return the values in a text such as "0.5,1"."""
    return [read_value(word) for word in text.split(",")]


def parse_seeds(text: str) -> list[int]:
    """Return the seeds in a text such as "0..99" or "1,2,5".

    Raises:
        UserError: it has another form, names none, or names one twice.
    """
    refusal = UserError(f"seeds must be like 0..99 or 1,2,5, each once and at most {MOST_SEEDS:,}, got {text!r}")
    seeds: list[int] = []
    for word in text.split(","):
        match = re.fullmatch(r" *(\d{1,18})(?:\.\.(\d{1,18}))? *", word)
        if match is None:
            raise refusal
        first, last = int(match[1]), int(match[2] or match[1])
        if not 0 <= last - first < MOST_SEEDS:
            raise refusal
        seeds += range(first, last + 1)
    if len(set(seeds)) < len(seeds):
        raise refusal
    return seeds


def label(values: Mapping[str, Any]) -> str:
    """Return settings in words, "default" if there are none."""
    return ",".join(f"{name}={written(value)}" for name, value in values.items()) or "default"
