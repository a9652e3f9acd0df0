"""Settings of a run: what their fields may hold, and what all algorithms have in common.

A setting is a field of a frozen dataclass. Its annotation says what it may hold, its docstring is the help of its flag.
Settings are written flat, in flags, keyword arguments and config.json alike: the board's `rows`, `cols` and `k` are
there among the others, although a dataclass holds them as `rules`.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

from selfplay.errors import UserError
from tictactoe import Rewards, Rules
from tictactoe.names import did_you_mean
from tictactoe.rewards import PRESETS as NAMED_REWARDS, named_rewards
from tictactoe.rules import UnknownRuleError, refuse_unknown_rules

LARGEST = 10**12
"""Upper bound for counts."""
GIGABYTE = 10**9
SHORT_NAMES = {"lr": "learning_rate"}
"""What others call a setting: a flag may be called so, and elsewhere it is suggested."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of a number, or of how many values a tuple has: `Annotated[int, Bounds(1)]`."""

    low: float
    high: float = LARGEST
    above: bool = False
    """Whether `low` itself is too low."""

    def __contains__(self, number: float) -> bool:
        high_enough = self.low < number if self.above else self.low <= number
        return high_enough and number <= self.high

    def __str__(self) -> str:
        if self.above:
            return f"above {self.low:,} and at most {self.high:,}"
        return f"between {self.low:,} and {self.high:,}"


Count: TypeAlias = Annotated[int, Bounds(1)]
CountOrZero: TypeAlias = Annotated[int, Bounds(0)]
Seed: TypeAlias = Annotated[int, Bounds(0, 2**63 - 1)]
Fraction: TypeAlias = Annotated[float, Bounds(0, 1)]
StepSize: TypeAlias = Annotated[float, Bounds(0, 1, above=True)]
Seconds: TypeAlias = Annotated[float, Bounds(0, 10**9, above=True)]
Device: TypeAlias = Literal["auto", "cpu", "cuda"]
Stop: TypeAlias = Literal["unbeatable", "optimal", "never"]
Config = TypeVar("Config", bound="RunSettings")


# The settings of every algorithm


@dataclass(frozen=True)
class RunSettings:
    """The settings that every algorithm has.

    Raises:
        UserError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str]
    """Name on the command line and in config.json."""
    unit: ClassVar[str] = "games"
    """What the steps of a run are: plies, games or steps."""
    length_setting: ClassVar[str] = "games"
    """The setting for the steps after which a run ends at the latest."""

    seed: Seed = 0
    """Seed of every random number of the run."""
    run_dir: Path | None = None
    """Folder of this run; it must be new or empty. Default: a new folder in runs_dir, named by algorithm, board, seed,
    changed settings and time."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def rules(self) -> Rules:
        """Return the rules of the board: 3,3,3 where it is no setting."""
        return Rules()

    @property
    def stop(self) -> Stop:
        """Return what must be proved to end the run early."""
        return "never"

    @property
    def eval_every(self) -> int:
        """Return the steps between exact evaluations, which are a setting of each algorithm."""
        raise NotImplementedError

    @property
    def defaults(self) -> "RunSettings":
        """Return the settings that these are compared with."""
        return type(self)()

    @property
    def length(self) -> int:
        """Return the steps after which a run ends at the latest."""
        return int(getattr(self, self.length_setting))


@dataclass(frozen=True)
class CustomConfig(RunSettings):
    """Train your own learner, from Python."""

    algorithm: ClassVar[str] = "custom"
    unit: ClassVar[str] = "steps"
    length_setting: ClassVar[str] = "total_steps"

    learner: str = ""
    """Its class, as module:name."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """Its `settings`."""
    rules: Rules = Rules()
    """The board that it plays on."""
    total_steps: Count = 100_000
    """Steps after which the run ends at the latest."""
    eval_every: Count = 5_000
    """Steps between exact evaluations."""
    stop: Stop = "unbeatable"
    """What must be proved by three evaluations running to end the run early."""


def flat(config: RunSettings) -> dict[str, Any]:
    """Return the settings by name, ready for JSON; the board's are among them, the place of the folder is not."""
    settings: dict[str, Any] = {}
    for name, value in asdict(config).items():
        if name == "rules":
            settings |= value
        elif name != "run_dir":
            settings[name] = str(value) if isinstance(value, Path) else value
    return settings


def setting_names(kind: type[RunSettings]) -> list[str]:
    """Return the names of an algorithm's settings as they are typed: those of its board, if it has one, among them."""
    names = []
    for each in fields(kind):
        names += [of_board.name for of_board in fields(Rules)] if each.name == "rules" else [each.name]
    return names


def value_of(config: RunSettings, name: str) -> Any:
    """Return the value of a setting by its name as it is typed."""
    return getattr(config.rules if name in {each.name for each in fields(Rules)} else config, name)


def changed(config: Config, settings: Mapping[str, Any]) -> Config:
    """Return the settings with some changed, which are named as in `flat`; `rules` may name a whole board.

    Raises:
        UserError: there is no such setting, or it cannot have that value.
    """
    known = setting_names(type(config))
    of_board = {each.name for each in fields(Rules)} & settings.keys()
    given = dict(settings)
    if given.get("rules") is None:
        given.pop("rules", None)
    elif of_board:
        raise UserError(f"rules and {', '.join(sorted(of_board))} both name the board; leave out one")
    elif "rules" not in {each.name for each in fields(config)}:
        require(
            given["rules"] == config.rules, "rules", f"Rules({config.rules}) for {config.algorithm}", given["rules"]
        )
        del given["rules"]
    for name in given:
        if name not in [*known, "rules"]:
            near = did_you_mean(SHORT_NAMES.get(name, name), known) or f"; it has {', '.join(known)}"
            raise UserError(f"{config.algorithm} has no setting {name}{near}")
    if of_board:
        given["rules"] = board({**asdict(config.rules), **{name: given.pop(name) for name in of_board}})
    return replace(config, **given)


def board(sizes: Mapping[str, Any]) -> Rules:
    """Return the rules with these fields.

    Raises:
        UserError: there is no such board.
    """
    try:
        return Rules(**sizes)
    except ValueError as error:
        raise UserError(str(error)) from None


def check_known_rules(rules: Rules, part: str) -> None:
    """Refuse rules with a field that a part of the code does not know.

    Raises:
        UserError: such a field does not have its default; the message names the field and the part.
    """
    try:
        refuse_unknown_rules(rules, part)
    except UnknownRuleError as error:
        raise UserError(str(error)) from None


def check_changes(before: RunSettings, now: RunSettings, place: str) -> None:
    """Refuse to resume a run with other settings; its length may grow, since nothing before the end depends on it.

    Raises:
        UserError: some differ; all differences are shown.
    """
    old, new = flat(before), flat(now)
    differences = [name for name in new if old[name] != new[name]]
    if now.length_setting in differences and now.length > before.length:
        differences.remove(now.length_setting)
    if differences:
        shown = "; ".join(f"{name} was {old[name]!r} and now is {new[name]!r}" for name in differences)
        raise UserError(f"{place}: other settings than those of the run: {shown} (force takes them)")


# How a value is written


def parse_value(word: str) -> Any:
    """Return the value of a word: "true", "0.5" and "12" as in JSON, "64x32" as a tuple, and anything else as it is."""
    if re.fullmatch(r"\d+(x\d+)+", word):
        return tuple(int(number) for number in word.split("x"))
    try:
        return json.loads(word)
    except ValueError:
        return word


def written(value: object) -> str:
    """Return a value as it is written in flags, the inverse of `parse_value`."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return "x".join(map(str, value)) or "[]"
    if isinstance(value, Rewards):
        default = asdict(Rewards())
        return ":".join(f"{name}={number}" for name, number in asdict(value).items() if number != default[name])
    return str(value)


# What a field may hold


def require(condition: bool, name: str, wanted: str, value: Any) -> None:
    """Raise a UserError that says what the setting must be, unless the condition holds."""
    if not condition:
        raise UserError(f"{name} must be {wanted}, got {value!r}")


def check(config: Any) -> None:
    """Convert each value of a dataclass to what its field declares, in place, and refuse what cannot be converted.

    Raises:
        UserError: a value is of another type or choice, or out of bounds.
    """
    hints = get_type_hints(type(config), include_extras=True)
    for each in fields(config):
        value = converted(each.name, getattr(config, each.name), hints[each.name])
        object.__setattr__(config, each.name, value)  # the dataclass may be frozen


def converted(name: str, value: Any, hint: Any) -> Any:
    """Return a value as a field of this type holds it, in plain Python.

    NumPy's numbers and whole floats become integers; lists, arrays and single values a tuple; a text, another PathLike
    and a run a path, with the home folder for ~; and a `torch.device` its name.

    Raises:
        UserError: the field cannot hold it.
    """
    try:
        return _converted(value, hint)
    except _UnfitError as wanted:
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        raise UserError(f"{name} must be {wanted}, got {value!r}{did_you_mean(value, choices)}") from None


class _UnfitError(Exception):
    """What a value must be, and is not."""


def as_path(place: object, name: str = "folder") -> Path:
    """Return the path that a text, another PathLike or a run means; `name` is that of the argument.

    Raises:
        UserError: it is none of these.
    """
    return Path(converted(name, place, Path))


def _converted(value: Any, hint: Any) -> Any:
    """Do what `converted` does, but raise an error that only says what the value must be."""
    if hasattr(value, "tolist"):  # an array or a number of NumPy, or a tensor
        value = value.tolist()
    if Rewards in get_args(hint):
        return _rewards(value)
    if NoneType in get_args(hint):
        return None if value is None else _converted(value, get_args(hint)[0])
    kind = get_origin(hint) or hint
    if kind is Annotated:
        inner, *notes = get_args(hint)
        held = _annotated(value, inner, notes)
        return float(held) if inner is float else held
    if kind is Literal:
        return _choice(value, get_args(hint))
    if kind is tuple:
        return _tuple(value, get_args(hint)[0])
    if kind is Path:
        return _path(value)
    if kind in (int, float):
        return _number(value, kind)
    if not isinstance(value, kind):
        raise _UnfitError(f"of type {kind.__name__}")
    return value


def _annotated(value: Any, hint: Any, notes: list[Any]) -> Any:
    """Return a value within the bounds among the notes; other notes are those of the flags."""
    held = _converted(value, hint)
    for bounds in notes:
        if isinstance(bounds, Bounds):
            many = isinstance(held, tuple)
            if (len(held) if many else held) not in bounds:
                raise _UnfitError(f"{bounds} values" if many else str(bounds))
    return held


def _choice(value: Any, choices: tuple[Any, ...]) -> Any:
    if "cuda" in choices:
        value = str(value).removesuffix(":0")  # a torch.device, or its name
    for choice in choices:
        if value == choice and type(value) is type(choice):
            return choice
    raise _UnfitError(f"one of {', '.join(map(str, choices))}")


def _rewards(value: Any) -> str | Rewards:
    """Return the name of rewards if they are a preset, else the rewards; they may be written as allow=0:loss=-1.

    Raises:
        UserError: it names no rewards, or a reward is not a finite number.
    """
    if isinstance(value, str) and "=" in value:
        words = (word.partition("=") for word in value.split(":"))
        value = {name: parse_value(number) for name, _, number in words}
    try:
        rewards = named_rewards(value)
    except (TypeError, ValueError) as error:
        raise UserError(str(error)) from None
    return next((name for name, preset in NAMED_REWARDS.items() if preset == rewards), rewards)


def _tuple(value: Any, hint: Any) -> tuple[Any, ...]:
    items = value if isinstance(value, list | tuple | range) else [value]
    try:
        return tuple(_converted(item, hint) for item in items)
    except _UnfitError as wanted:
        raise _UnfitError(f"values, each {wanted}") from None


def _path(value: Any) -> Path:
    place = getattr(value, "folder", value)
    if not isinstance(place, str | os.PathLike):
        raise _UnfitError("of type Path")
    return Path(os.path.expanduser(place))  # noqa: PTH111 (leaves a ~ that means nobody as it is)


def _number(value: Any, kind: type) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _UnfitError(f"of type {kind.__name__}")
    if kind is int and isinstance(value, float):
        if not value.is_integer():
            raise _UnfitError("of type int")
        return int(value)
    return value  # an integer becomes a float only once its bounds are known: a large one would overflow


def machine_bytes() -> int | None:
    """Return how much memory this machine has, in use or not, if the system says so."""
    if not hasattr(os, "sysconf"):
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
