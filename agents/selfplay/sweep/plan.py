"""The plan of a sweep, from a file and flags: its settings, its seeds, and the runs that they make.

A setting is written NAME=VALUE, with the names of `selfplay train`. `set` is for all runs. `vary` trains every
combination of its values, and `each` one value at a time and none of them.
"""

import contextlib
import dataclasses
import itertools
import math
import operator
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

from selfplay.errors import UserError
from selfplay.files import read_small
from selfplay.learning.algorithms import ALGORITHMS, Config, configured, settings_of
from selfplay.learning.metrics import LARGEST_NUMBER
from selfplay.settings import LARGEST, Bounds, CountOrZero, check, converted
from selfplay.sweep.search_space import Range
from tictactoe.names import did_you_mean

LARGEST_FILE = 1 << 20
"""Bytes of a sweep's file."""
MOST_RUNS = 100_000
LONGEST_NAME = 150
"""Characters of the name of a run before its seed."""
UNPROVED_PENALTY = float(LARGEST)
"""Added to the objective of a run without a proof, and twice for a failed run; larger than that of any proved run."""
SEEDS = r"(\d{1,18})(?:\.\.(\d{1,18}))?"
TABLES = ("set", "vary", "each")
NOT_SWEPT = frozenset({"seed", "run_dir", "from_table"})
"""Settings that a sweep cannot vary: it sets them itself, or their values are paths."""

State = Literal["waiting", "running", "done", "failed", "dropped"]
"""State of a run; a search drops the remaining runs of a setting whose first seeds were worse than those of others."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Hold what a sweep trains; all of it can be written as JSON."""

    algorithm: str = "dqn"
    seeds: tuple[int, ...] = tuple(range(10))
    set: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    vary: Mapping[str, Range | Sequence[Any]] = dataclasses.field(default_factory=dict)
    each: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    search: Annotated[int, Bounds(0, MOST_RUNS)] = 0
    """Number of settings that a search tries; 0 trains every combination."""
    objective: Literal["steps", "updates"] = "steps"
    """What a search minimizes: steps or updates to a proof."""

    @property
    def unit(self) -> str:
        """Return the unit of steps, plies or games."""
        return ALGORITHMS[self.algorithm].unit


@dataclasses.dataclass
class Run:
    """Hold what one run of a sweep trains, and its state."""

    name: str
    """Name of its folder."""
    setting: str
    """The settings that differ, in words; equal for the seeds of a setting."""
    values: dict[str, Any]
    """The settings that differ."""
    seed: int
    state: State = "waiting"
    why: str = ""
    """Why it failed or was dropped."""
    proved: CountOrZero | None = None
    """Steps to the first evaluation from which the proof held."""
    objective: Annotated[float, Bounds(0, 2 * LARGEST_NUMBER)] = 0.0
    """What a search minimizes, once the run has ended."""
    starts: CountOrZero = 0
    """Workers that have started or resumed it."""
    host: str = ""
    """Host of its last worker."""
    seconds: Annotated[float, Bounds(0, 1e8)] = 0.0
    """Time that its last worker spent on it."""

    @property
    def end(self) -> str:
        """Return its state, or that it is proved."""
        return self.state if self.proved is None else "proved"


def read_file(path: Path) -> dict[str, Any]:
    """Return the content of a sweep's file.

    Raises:
        OSError: it cannot be read.
        UserError: it is not TOML, or has a key that no sweep has.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        content = tomllib.loads(read_small(path, LARGEST_FILE).decode())
    except (ValueError, RecursionError) as error:  # not TOML, or not even text
        raise UserError(f"{path}: is not TOML ({error})") from None
    known = [*vars(Plan())]
    for name, value in content.items():
        if name not in known:
            raise UserError(f"{path}: there is no {name!r} in a sweep; it has {', '.join(known)}")
        if name in TABLES and not isinstance(value, dict):
            raise UserError(f"{path}: {name} must be a table of settings, got {value!r}")
    return content


def make(content: Mapping[str, Any], flags: Mapping[str, Any]) -> Plan:
    """Return the plan of a file; flags replace what it says, and `set`, `vary` and `each` setting by setting.

    Raises:
        UserError: there is no such algorithm or setting, or a value does not fit.
    """
    fields = {**content, **{name: value for name, value in flags.items() if value is not None}}
    for table in TABLES:
        words = dict(_split(table, word) for word in flags.get(table, ()))
        fields[table] = {name.replace("-", "_"): value for name, value in {**content.get(table, {}), **words}.items()}
    plan = Plan(**fields)
    plan = dataclasses.replace(plan, seeds=parse_seeds(plan.seeds))
    _check(plan)
    return dataclasses.replace(
        plan,
        set={name: _parse(plan, name, value) for name, value in plan.set.items()},
        vary={name: _parse_all(plan, name, values) for name, values in plan.vary.items()},
        each={name: _parse_all(plan, name, values) for name, values in plan.each.items()},
    )


def as_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as `make` takes it, in types that JSON has."""
    vary = {name: str(values) if isinstance(values, Range) else values for name, values in plan.vary.items()}
    return dataclasses.asdict(plan) | {"vary": vary}


def parse_seeds(given: object) -> tuple[int, ...]:
    """Return seeds from "0..99", "1,2,5" or both, a number, or a list of numbers.

    Raises:
        UserError: it is none of these, or names a seed twice.
    """
    words = ",".join(map(str, given)) if isinstance(given, list | tuple) else str(given)
    ranges = [range(int(first), int(last or first) + 1) for first, last in re.findall(SEEDS, words)]
    seeds = tuple(itertools.islice(itertools.chain(*ranges), MOST_RUNS + 1))
    well_formed = re.fullmatch(rf" *{SEEDS} *(, *{SEEDS} *)*", words) and all(ranges)
    if not (well_formed and len(set(seeds)) == len(seeds) <= MOST_RUNS):
        raise UserError(f"--seeds must be like 0..99 or 1,2,5, in increasing order and each seed once, got {given!r}")
    return seeds


def all_runs(plan: Plan) -> list[Run]:
    """Return every run of a sweep, seed by seed so that settings can be compared early; none for a search.

    Raises:
        UserError: there are too many, or a setting is refused.
    """
    if plan.search:
        return []
    alone = [{}, *({name: value} for name, values in plan.each.items() for value in values)]
    number = len(plan.seeds) * len(alone) * math.prod(map(len, plan.vary.values()))
    if number > MOST_RUNS:
        raise UserError(f"a sweep has at most {MOST_RUNS:,} runs, and this one would have {number:,}; vary less")
    settings: dict[Config, dict[str, Any]] = {}
    for one in alone:
        for combination in itertools.product(*plan.vary.values()):
            values = {**dict(zip(plan.vary, combination, strict=True)), **one}
            settings.setdefault(config_of(plan, values, plan.seeds[0]), values)
    return [run_of(values, seed) for seed in plan.seeds for values in settings.values()]


def check_runs(plan: Plan, runs: Sequence[Run]) -> None:
    """Refuse the runs of a record from elsewhere if they are not those of its plan.

    Raises:
        UserError: they are not the runs of the plan.
    """
    expected = all_runs(plan)
    for values in {label(run.values): run.values for run in runs if plan.search}.values():
        if values.keys() != plan.vary.keys() or not all(values[name] in plan.vary[name] for name in values):
            raise UserError(f"{label(values)} is not among the settings of its search")
        expected += [run_of(values, seed) for seed in plan.seeds]
    made = operator.attrgetter("name", "setting", "values", "seed")
    if list(map(made, runs)) != list(map(made, expected)):
        raise UserError("its runs are not those of its plan")


def run_of(values: dict[str, Any], seed: int) -> Run:
    """Return the run of a setting and a seed; its name is one that a folder can have."""
    setting = label(values)
    name = setting.replace(", ", ",")
    if len(name) > LONGEST_NAME:
        name = f"{name[:LONGEST_NAME]}-{zlib.crc32(name.encode()):08x}"
    return Run(f"{name},seed={seed}", setting, values, seed)


def config_of(plan: Plan, values: Mapping[str, Any], seed: int) -> Config:
    """Return the settings of one run.

    Raises:
        UserError: they are refused; it says which were.
    """
    try:
        return configured(plan.algorithm, {**plan.set, **values, "seed": seed})
    except UserError as error:
        raise UserError(f"{label(values)}: {error}") from None


def label(values: Mapping[str, Any]) -> str:
    """Return settings in words, between which a narrow terminal breaks a line."""
    return ", ".join(f"{name}={text(value)}" for name, value in values.items()) or "default"


def text(value: object) -> str:
    """Return a value as it is written in a flag of a sweep."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "x".join(map(str, value)) or "none"
    return str(value)


def _check(plan: Plan) -> None:
    """Refuse a plan that names what does not exist, or the same setting twice."""
    known = vars(settings_of(str(plan.algorithm))()).keys() - NOT_SWEPT
    check(plan)
    named = [*plan.set, *plan.vary, *plan.each]
    for name in named:
        if name not in known:
            near = did_you_mean(name, known) or f"; it has {', '.join(sorted(known))}"
            raise UserError(f"{plan.algorithm} has no setting {name!r} for a sweep{near}")
        if named.count(name) > 1:
            raise UserError(f"{name} is given twice; a setting is set for all, varied, or tried each by itself")
    if plan.search and plan.each:
        raise UserError("a search has no each; give the values to choose from with vary")
    if plan.search and not plan.vary:
        raise UserError("a search needs something to choose from: --vary NAME=LOWEST..HIGHEST or NAME=VALUE,VALUE")


def _split(table: str, word: str) -> tuple[str, Any]:
    """Return the name and value, or values, of NAME=VALUE or NAME=VALUE,VALUE."""
    name, _, value = word.partition("=")
    if not (name and value):
        raise UserError(f"--{table} must be NAME=VALUE{'' if table == 'set' else ',VALUE,...'}, got {word!r}")
    return name, value if table == "set" else value.split(",")


def _parse_all(plan: Plan, name: str, given: object) -> Any:
    """Return the values of one setting; in a search these may be a range."""
    values = given if isinstance(given, list | tuple) else [given]
    if not values:
        raise UserError(f"{name} has no values; give some as NAME=VALUE,VALUE")
    ends = text(values[0]).split("..")
    if len(values) > 1 or len(ends) != 2 or type(_default(plan, name)) not in (int, float):
        return [_parse(plan, name, value) for value in values]
    if not plan.search:
        raise UserError(f"{name} cannot be a range without --search; give its values as NAME=VALUE,VALUE")
    low, high = (_parse(plan, name, end) for end in ends)
    if not low < high:
        raise UserError(f"{values[0]}: the end of a range must be above its beginning")
    return Range(low, high)


def _default(plan: Plan, name: str) -> Any:
    """Return the default of a setting, whose type a value must have."""
    return getattr(ALGORITHMS[plan.algorithm](), name)


PARSERS: Mapping[type, Callable[[str], Any]] = {
    bool: {"true": True, "false": False}.__getitem__,
    int: int,
    float: float,
    tuple: lambda word: () if word == "none" else tuple(map(int, word.split("x"))),
}
"""Values of words on the command line, by the type of the setting."""


def _parse(plan: Plan, name: str, value: Any) -> Any:
    """Return a value as the setting has it, from a word of the command line or from TOML or JSON.

    Raises:
        UserError: the setting cannot have it, with any values of the others.
    """
    shown = text(value)
    if isinstance(value, str):
        with contextlib.suppress(KeyError, ValueError):  # a word of another type is refused below
            value = PARSERS[type(_default(plan, name))](value)
    try:
        return converted(name, value, get_type_hints(ALGORITHMS[plan.algorithm], include_extras=True)[name])
    except UserError as error:
        raise UserError(f"{name}={shown}: {error}") from None
