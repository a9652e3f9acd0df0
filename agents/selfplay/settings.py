"""Settings of a run of any algorithm; values are converted to the types of the fields, or refused in one line."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, get_args, get_origin, get_type_hints

from selfplay.errors import UserError, setting_name
from tictactoe import Rules
from tictactoe.names import did_you_mean

LARGEST = 10**12
"""Upper bound for counts."""
GIGABYTE = 10**9


@dataclass(frozen=True)
class Bounds:
    """Hold the bounds of a number, or of how many values a list has: `Annotated[int, Bounds(1)]`."""

    low: float
    high: float = LARGEST
    above: bool = False
    """Whether `low` itself is too low."""

    def __contains__(self, number: float) -> bool:
        return (self.low < number if self.above else self.low <= number) and number <= self.high

    def __str__(self) -> str:
        return f"{f'above {self.low:,} and at most' if self.above else f'between {self.low:,} and'} {self.high:,}"


Count: TypeAlias = Annotated[int, Bounds(1)]
CountOrZero: TypeAlias = Annotated[int, Bounds(0)]
Seed: TypeAlias = Annotated[int, Bounds(0, 2**63 - 1)]
Fraction: TypeAlias = Annotated[float, Bounds(0, 1)]
StepSize: TypeAlias = Annotated[float, Bounds(0, 1, above=True)]
Seconds: TypeAlias = Annotated[float, Bounds(0, 10**9, above=True)]
Device: TypeAlias = Literal["auto", "cpu", "cuda"]


def require(condition: bool, name: str, wanted: str, value: Any) -> None:
    """Raise a UserError that says what the setting must be, unless the condition holds."""
    if not condition:
        raise UserError(f"{setting_name(name)} must be {wanted}, got {value!r}")


def check(config: Any) -> None:
    """Convert each value of a dataclass to what its field declares, in place, and refuse what cannot be converted.

    Raises:
        UserError: a value is of another type or choice, or out of bounds.
    """
    hints = get_type_hints(type(config), include_extras=True)
    for field in fields(config):
        value = converted(field.name, getattr(config, field.name), hints[field.name])
        object.__setattr__(config, field.name, value)  # the dataclass may be frozen


def converted(name: str, value: Any, hint: Any) -> Any:
    """Return a value as a field of this type holds it, in plain Python.

    NumPy's numbers and whole floats become integers; lists, arrays and single values a tuple; a text, another PathLike
    and a run a path, with the home folder for ~; and a `torch.device` its name.

    Raises:
        UserError: the field cannot hold it.
    """
    try:
        return _converted(value, hint)
    except ValueError as wanted:
        near = did_you_mean(value, get_args(declared(hint)[0]))
        raise UserError(f"{setting_name(name)} must be {wanted}, got {value!r}{near}") from None


def as_path(place: object, name: str = "folder") -> Path:
    """Return the path that a text, another PathLike or a run means; `name` is that of the argument.

    Raises:
        UserError: it is none of these.
    """
    return Path(converted(name, place, Path))


def _converted(value: Any, hint: Any) -> Any:
    """Do what `converted` does, but raise a ValueError that only says what the value must be."""
    kind, bounds, optional = declared(hint)
    if hasattr(value, "tolist"):  # an array or a number of NumPy, or a tensor
        value = value.tolist()
    if optional and value is None:
        return None
    arguments, base = get_args(kind), get_origin(kind) or kind
    if base is Literal:
        value = str(value).removesuffix(":0") if kind == Device else value
        if not any(value == choice and type(value) is type(choice) for choice in arguments):
            raise ValueError(f"one of {', '.join(map(str, arguments))}")
        return value
    if base is tuple:
        items = value if isinstance(value, list | tuple | range) else [value]
        try:
            value = tuple(_converted(item, arguments[0]) for item in items)
        except ValueError as wanted:
            raise ValueError(f"values, each {wanted}") from None
    elif base is Path and isinstance(place := getattr(value, "folder", value), str | os.PathLike):
        value = Path(os.path.expanduser(place))  # noqa: PTH111 (leaves a ~ that means nobody as it is)
    elif base is int and isinstance(value, float) and value.is_integer():
        value = int(value)
    of_type = isinstance(value, base) or (base is float and isinstance(value, int))
    if not of_type or isinstance(value, bool) != (base is bool):
        raise ValueError(f"of type {base.__name__}")
    for limits in bounds:
        if (len(value) if base is tuple else value) not in limits:
            raise ValueError(f"{limits} values" if base is tuple else str(limits))
    return float(value) if base is float else value


def declared(hint: Any) -> tuple[Any, Sequence[Bounds], bool]:
    """Return the type that a field declares, its bounds, and whether it may be None."""
    arguments = get_args(hint)
    if NoneType in arguments:
        return *declared(arguments[0])[:2], True
    kind, *notes = arguments if get_origin(hint) is Annotated else (hint,)
    return kind, [note for note in notes if isinstance(note, Bounds)], False


def board(rows: int, cols: int, k: int) -> Rules:
    """Return the rules that settings name.

    Raises:
        UserError: there is no such board.
    """
    try:
        return Rules(rows, cols, k)
    except ValueError as error:
        raise UserError(str(error)) from None


def machine_bytes() -> int | None:
    """Return how much memory this machine has, in use or not, if the system says so."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else None


@dataclass(frozen=True)
class RunSettings:
    """Hold the settings that every algorithm has.

    Raises:
        UserError: a value is not allowed, by itself or together with the others.
    """

    algorithm: ClassVar[str]
    """Name on the command line and in config.json."""
    unit: ClassVar[str] = "games"
    """Unit of the steps, plies or games."""
    length_setting: ClassVar[str] = "games"
    """The setting for the steps after which a run ends at the latest."""
    groups: ClassVar[Mapping[str, str]] = MappingProxyType(
        {"run": "seed run_dir", "game": "rows cols k seat opponent", "length": "games greedy_games eval_every"}
    )
    """The headings of `--help` with the settings under each; all others are under "learning"."""

    seed: Seed = 0
    """Seed of every random number of the run."""
    run_dir: Path | None = None
    """Folder of this run; it must be new or empty. Default: a new folder under runs/, named by algorithm, board, seed,
    changed settings and time."""

    def __post_init__(self) -> None:
        check(self)

    @property
    def eval_every(self) -> int:
        """Return the steps between exact evaluations."""
        raise NotImplementedError

    @property
    def rules(self) -> Rules:
        """Return the rules of the board, 3,3,3 where it cannot be set."""
        return board(getattr(self, "rows", 3), getattr(self, "cols", 3), getattr(self, "k", 3))

    @property
    def defaults(self) -> "RunSettings":
        """Return the settings that these are compared with."""
        return type(self)()

    @property
    def length(self) -> int:
        """Return the steps after which a run ends at the latest."""
        return int(getattr(self, self.length_setting))

    @property
    def stop(self) -> str:
        """Return what must be proved to end the run early: unbeatable, optimal or never."""
        return "never"


def check_changes(before: RunSettings, now: RunSettings, place: str) -> None:
    """Refuse to resume a run with other settings; its length may grow, since nothing before the end depends on it.

    Raises:
        UserError: some differ; all differences are shown.
    """
    differences = [
        f"{setting_name(field.name)} was {old!r} and now is {new!r}"
        for field in fields(now)
        if field.name != "run_dir" and (old := getattr(before, field.name)) != (new := getattr(now, field.name))
        if field.name != now.length_setting or old > new
    ]
    if differences:
        force = setting_name("force", True)
        raise UserError(f"{place}: other settings than those of the run: {'; '.join(differences)} ({force} takes them)")
