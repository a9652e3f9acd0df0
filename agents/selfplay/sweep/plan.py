"""What a sweep is to train, out of a file and flags: its settings, its seeds, and the name of each run.

A setting is written as `selfplay train` has it, NAME=VALUE. `set` is the same for all runs, of `vary` every combination
is trained, and of `each` one value at a time, beside none of them.
"""

import dataclasses
import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from selfplay.algorithms import ALGORITHMS, Config, configured
from selfplay.checks import LARGEST
from selfplay.errors import UserError
from selfplay.files import read_small
from selfplay.sweep.ranges import Range, as_range

LARGEST_FILE = 1 << 20
"""Bytes of a sweep's file."""
MOST_RUNS = 100_000
LONGEST_NAME = 150
"""Characters of a run's name before its seed."""
DEFAULT = "default"
"""What a setting is called that differs in nothing."""
OWN = ("seed", "run_dir")
"""Settings of a run that the sweep chooses."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """Hold what a sweep is to train; all of it can be written as JSON."""

    algorithm: str = "dqn"
    seeds: tuple[int, ...] = tuple(range(10))
    set: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    vary: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    each: Mapping[str, Sequence[Any]] = dataclasses.field(default_factory=dict)
    search: int = 0
    """Settings that a search is to try; 0: every combination is trained."""
    objective: str = "steps"
    """What a search is to make small: steps or updates to a proof."""

    @property
    def unit(self) -> str:
        """Return what steps are, plies or games."""
        return ALGORITHMS[self.algorithm].settings.unit


class Setting(NamedTuple):
    """Name what is special about some of a sweep's runs."""

    label: str
    values: dict[str, Any]
    """Of `vary` and `each`."""


class Run(NamedTuple):
    """Say what one run of a sweep is to train."""

    name: str
    """Of its folder."""
    setting: Setting
    seed: int


def read_file(path: Path) -> dict[str, Any]:
    """Return what a sweep's file holds.

    Raises:
        UserError: it cannot be read, is not TOML, or holds what no sweep has.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        found = tomllib.loads(read_small(path, LARGEST_FILE).decode())
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:  # not TOML, or not even text
        raise UserError(f"{path}: is not TOML ({error})") from None
    known = [field.name for field in dataclasses.fields(Plan)]
    for name, value in found.items():
        if name not in known:
            raise UserError(f"{path}: there is no {name!r} in a sweep; it has {', '.join(known)}")
        if name in ("set", "vary", "each") and not isinstance(value, dict):
            raise UserError(f"{path}: {name} must be a table of settings, got {value!r}")
    return found


def make(found: Mapping[str, Any], flags: Mapping[str, Any]) -> Plan:
    """Return the plan of a file, with what flags say in its place; `set`, `vary` and `each` are joined by name.

    Raises:
        UserError: there is no such algorithm or setting, or a value is none of it.
    """
    tables: dict[str, Any] = {}
    for kind in ("set", "vary", "each"):
        tables[kind] = {_setting_name(name): value for name, value in dict(found.get(kind, {})).items()}
        tables[kind] |= dict(_read_word(kind, word) for word in flags.get(kind, ()))
    others = {
        name: next(given for given in (flags.get(name), found.get(name), default) if given is not None)
        for name, default in _DEFAULTS.items()
    }
    others["seeds"] = read_seeds(others["seeds"])
    plan = Plan(**others, **tables)
    _check(plan)
    return dataclasses.replace(
        plan,
        set={name: _fit(plan, name, value) for name, value in plan.set.items()},
        vary={name: _fit_all(plan, name, values) for name, values in plan.vary.items()},
        each={name: _fit_all(plan, name, values) for name, values in plan.each.items()},
    )


_DEFAULTS: Mapping[str, Any] = {
    field.name: field.default for field in dataclasses.fields(Plan) if field.name not in ("set", "vary", "each")
}


def as_json(plan: Plan) -> dict[str, Any]:
    """Return a plan as `make` takes it, of what JSON has."""
    vary = {name: str(values) if isinstance(values, Range) else values for name, values in plan.vary.items()}
    return dataclasses.asdict(dataclasses.replace(plan, vary=vary))


def read_seeds(given: object) -> tuple[int, ...]:
    """Return seeds out of "0..99", "1,2,5" or both, a number, or a list of numbers.

    Raises:
        UserError: it is none of these, or names a seed twice.
    """
    wanted = f"--seeds must be as in 0..99 or 1,2,5, got {given!r}"
    if isinstance(given, str):
        seeds: list[int] = []
        for word in given.split(","):
            if not (match := re.fullmatch(r"\s*(\d{1,18})(?:\.\.(\d{1,18}))?\s*", word)):
                raise UserError(wanted)
            first, last = int(match[1]), int(match[2] or match[1])
            if not 0 <= last - first < MOST_RUNS:
                raise UserError(f"{wanted}; a range goes upwards and has at most {MOST_RUNS:,} seeds")
            seeds += range(first, last + 1)
    else:
        seeds = [given] if isinstance(given, int) else list(given) if isinstance(given, list | tuple) else []
        if not all(isinstance(seed, int) and not isinstance(seed, bool) and 0 <= seed < 2**63 for seed in seeds):
            raise UserError(wanted)
    if not seeds or len(set(seeds)) < len(seeds):
        raise UserError(f"{wanted}; each seed once")
    return tuple(seeds)


def settings(plan: Plan) -> list[Setting]:
    """Return every setting of a sweep that is no search; of those that are the same, the first."""
    columns = [[{name: value} for value in values] for name, values in plan.vary.items()]
    combined = [
        {name: value for part in parts for name, value in part.items()} for parts in itertools.product(*columns)
    ]
    alone: list[dict[str, Any]] = [{}, *({name: value} for name, values in plan.each.items() for value in values)]
    single = {name for name, values in plan.vary.items() if len(values) == 1}
    found: list[Setting] = []
    seen = set()
    for values in ({**some, **one} for one in alone for some in combined):
        config = config_of(plan, values, plan.seeds[0])
        if config not in seen:
            seen.add(config)
            found.append(Setting(label({name: value for name, value in values.items() if name not in single}), values))
    return found


def runs(plan: Plan) -> list[Run]:
    """Return every run of a sweep that is no search: with each seed all settings, so that they can be compared early.

    Raises:
        UserError: they are too many, or a setting is refused.
    """
    number = len(plan.seeds) * (1 + sum(map(len, plan.each.values())))
    for values in plan.vary.values():
        number *= len(values)
    if number > MOST_RUNS:
        raise UserError(f"a sweep has at most {MOST_RUNS:,} runs, and this one would have {number:,}; vary less")
    found = settings(plan)
    named = dict(zip(_unlike(found), found, strict=True))
    return [Run(f"{name},seed={seed}", setting, seed) for seed in plan.seeds for name, setting in named.items()]


def runs_of(plan: Plan, values: dict[str, Any]) -> list[Run]:
    """Return the runs of a setting that a search has come to, one for each seed."""
    setting = Setting(label(values), values)
    [name] = _unlike([setting])
    return [Run(f"{name},seed={seed}", setting, seed) for seed in plan.seeds]


def config_of(plan: Plan, values: Mapping[str, Any], seed: int) -> Config:
    """Return the settings of one run.

    Raises:
        UserError: they are refused; it says which were.
    """
    try:
        flags = {**plan.set, **values, "seed": seed}
        return configured(plan.algorithm, {name: _of_json(name, value) for name, value in flags.items()})
    except UserError as error:
        raise UserError(f"{label(values)}: {error}") from None


def _of_json(name: str, value: Any) -> Any:
    return Path(value) if name == "from_table" else value


def label(values: Mapping[str, Any]) -> str:
    """Return what differs in some words."""
    return ",".join(f"{name}={text(value)}" for name, value in values.items()) or DEFAULT


def text(value: object) -> str:
    """Return a value as a flag of a sweep has it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "x".join(map(str, value)) or "none"
    return str(value)


def _unlike(found: Sequence[Setting]) -> list[str]:
    """Return a name for each setting that a folder can have, and no two the same."""
    names: list[str] = []
    for setting in found:
        name = re.sub(r"[^\w.,=+-]", "-", setting.label, flags=re.ASCII)[:LONGEST_NAME]
        names.append(next(each for each in _numbered(name) if each not in names))
    return names


def _numbered(name: str) -> Iterator[str]:
    yield name
    yield from (f"{name}-{number}" for number in itertools.count(2))


def _check(plan: Plan) -> None:
    """Refuse a plan that names what there is not, or the same setting twice."""
    if not isinstance(plan.algorithm, str) or plan.algorithm not in ALGORITHMS:
        raise UserError(f"there is no algorithm {plan.algorithm!r}; choose one of {', '.join(ALGORITHMS)}")
    if plan.objective not in ("steps", "updates"):
        raise UserError(f"objective must be steps or updates, got {plan.objective!r}")
    if isinstance(plan.search, bool) or not isinstance(plan.search, int) or not 0 <= plan.search <= MOST_RUNS:
        raise UserError(f"search must be 0 to {MOST_RUNS:,} settings to try, got {plan.search!r}")
    known = {field.name for field in dataclasses.fields(ALGORITHMS[plan.algorithm].settings)} - set(OWN)
    named = [*plan.set, *plan.vary, *plan.each]
    for name in named:
        if name not in known:
            raise UserError(f"{plan.algorithm} has no setting {name!r} for a sweep; it has {', '.join(sorted(known))}")
        if named.count(name) > 1:
            raise UserError(f"{name} stands twice; a setting is set for all, varied, or tried each by itself")
    if plan.search and plan.each:
        raise UserError("a search has no each; give what it is to choose from with vary")
    if plan.search and not plan.vary:
        raise UserError("a search needs something to choose from: --vary NAME=LOWEST..HIGHEST or NAME=VALUE,VALUE")


def _setting_name(name: str) -> str:
    return name.replace("-", "_")


def _read_word(kind: str, word: str) -> tuple[str, Any]:
    """Return the name and value, or values, of NAME=VALUE or NAME=VALUE,VALUE."""
    name, equals, value = word.partition("=")
    if not (name and equals and value):
        raise UserError(f"--{kind} must be NAME=VALUE{'' if kind == 'set' else ',VALUE,...'}, got {word!r}")
    return _setting_name(name), value if kind == "set" else value.split(",")


def _fit_all(plan: Plan, name: str, values: object) -> Any:
    """Return the values of one setting; of a search these may be a range."""
    if (found := as_range(values)) is not None:
        if not plan.search:
            raise UserError(f"{name} cannot be a range without --search; give its values as NAME=VALUE,VALUE")
        return found.of_integers() if isinstance(_default(plan, name), int) else found
    many = values if isinstance(values, list | tuple) else [values]
    if not many:
        raise UserError(f"{name} has no value to try")
    fitted = [_fit(plan, name, value) for value in many]
    if len({json.dumps(text(value)) for value in fitted}) < len(fitted):
        raise UserError(f"{name} has a value twice, in {', '.join(map(text, fitted))}")
    return fitted


def _default(plan: Plan, name: str) -> Any:
    return getattr(ALGORITHMS[plan.algorithm].settings(), name)


def _fit(plan: Plan, name: str, value: Any) -> Any:
    """Return a value as the setting has it, out of a word of the command line or of what TOML or JSON hold."""
    default = _default(plan, name)
    if isinstance(value, str):
        value = _of_word(value, default)
    if isinstance(default, tuple):
        value = tuple(value) if isinstance(value, list | tuple) else (value,)
    if isinstance(default, float) and isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST:
        value = float(value)
    if name == "from_table":
        value = str(value)
    return value


def _of_word(word: str, default: object) -> Any:
    """Return what a word means where the default is such; the word itself if it means nothing there."""
    if isinstance(default, bool):
        return {"true": True, "false": False}.get(word.lower(), word)
    for kind in (int, float):
        if isinstance(default, kind):
            try:
                return kind(word)
            except ValueError:
                return word
    if isinstance(default, tuple):
        parts = [] if word == "none" else word.split("x")
        return tuple(map(int, parts)) if all(part.isdecimal() for part in parts) else word
    return word
