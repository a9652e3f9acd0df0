"""Settings of a run: what their fields may hold, and what all algorithms have in common.

A setting is a field of a frozen dataclass. Its annotation says what it may hold, which pydantic checks, and its
docstring is the help of its flag. Settings are written flat, in flags, keyword arguments and config.json alike: the
board's `rows`, `cols` and `k` are there among the others, although a dataclass holds them as `rules`.
"""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, TypeVar, cast

from pydantic import BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError, model_validator
from pydantic.dataclasses import dataclass
from pydantic_core import ArgsKwargs, ErrorDetails
from typing_extensions import dataclass_transform

from selfplay.errors import UserError
from tictactoe import Rules
from tictactoe.names import did_you_mean
from tictactoe.rules import UnknownRuleError, refuse_unknown_rules

LARGEST = 10**12
"""Upper bound for counts."""
SHORT_NAMES = {"lr": "learning_rate"}
"""Names that others give to a setting: a flag may be called so, and elsewhere it is suggested."""
BOARD = tuple(each.name for each in fields(Rules))
"""The settings of a board, which a dataclass holds as `rules`."""
BOARD_NAME = re.compile(rf"^({'|'.join(BOARD)})\b")
"""One of them at the beginning of a message."""
STRICT = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid")
"""True is no number, "3" is not 3, and there are no other settings than the fields."""

Kind = TypeVar("Kind")


# What a value may be


def whole(value: Any) -> Any:
    """Return a whole float, such as 1e6, as an integer, and anything else as it is."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def expanded(place: Any) -> Path:
    """Return the path that a text, another PathLike or a run means, with the home folder for ~.

    Raises:
        ValueError: it is none of these.
    """
    place = getattr(place, "folder", place)
    if not isinstance(place, str | os.PathLike):
        raise ValueError(f"must be a path, got {place!r}")
    return Path(os.path.expanduser(place))  # noqa: PTH111 (leaves a ~ that means nobody as it is)


Integer: TypeAlias = Annotated[int, BeforeValidator(whole)]
Count: TypeAlias = Annotated[Integer, Field(ge=1, le=LARGEST)]
CountOrZero: TypeAlias = Annotated[Integer, Field(ge=0, le=LARGEST)]
Seed: TypeAlias = Annotated[Integer, Field(ge=0, lt=2**63)]
Fraction: TypeAlias = Annotated[float, Field(ge=0, le=1)]
StepSize: TypeAlias = Annotated[float, Field(gt=0, le=1)]
Seconds: TypeAlias = Annotated[float, Field(gt=0, le=10**9)]
Place: TypeAlias = Annotated[Path, BeforeValidator(expanded)]
Stop: TypeAlias = Literal["unbeatable", "optimal", "never"]


# How it is checked


class SettingsError(UserError):
    """Settings that are refused.

    The `template` has the name of each setting in backticks, so that a command line can name the flag instead.
    """

    def __init__(self, template: str) -> None:
        super().__init__(re.sub(r"`(\w+)`", r"\1", template))
        self.template = template

    @property
    def as_flags(self) -> UserError:
        """Return the message with the names of the flags."""
        return UserError(re.sub(r"`(\w+)`", lambda name: f"--{name[1].replace('_', '-')}", self.template))


def require(condition: bool, name: str, wanted: str, value: Any) -> None:
    """Raise a SettingsError that says what the setting must be, unless the condition holds."""
    if not condition:
        raise SettingsError(f"`{name}` must be {wanted}, got {value!r}")


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def checked(kind: type[Kind]) -> type[Kind]:
    """Make a frozen dataclass with fields that pydantic checks; it raises a SettingsError that names all mistakes."""
    made: Any = dataclass(kind, frozen=True, config=STRICT)
    initialize = made.__init__

    def explained(self: Any, *args: Any, **values: Any) -> None:
        try:
            initialize(self, *map(plain, args), **{name: plain(value) for name, value in values.items()})
        except ValidationError as error:
            raise SettingsError(explanation(error, [each.name for each in fields(made)])) from None

    explained.__annotations__ = {each.name: each.type for each in fields(made)}  # of which tyro makes flags
    made.__init__ = explained
    return cast("type[Kind]", made)


def plain(value: Any) -> Any:
    """Return numbers of NumPy or torch as Python's, and an array or a list as a tuple."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple | range):
        return tuple(plain(item) for item in value)
    return value


def converted(name: str, value: Any, hint: Any) -> Any:
    """Return a value as a field of this type holds it; `name` is that of the argument.

    Raises:
        SettingsError: the field cannot hold it.
    """
    try:
        return TypeAdapter(hint, config=STRICT).validate_python(plain(value))
    except ValidationError as error:
        raise SettingsError(explanation(error, (), name)) from None


def as_path(folder: object) -> Path:
    """Return the path that a text, another PathLike or a run means.

    Raises:
        SettingsError: it is none of these.
    """
    return Path(converted("folder", folder, Place))


def explanation(error: ValidationError, names: Sequence[str], name: str = "") -> str:
    """Return the template of a SettingsError about the values that pydantic has refused.

    `names` are those of all settings, and `name` is that of the value if pydantic knows of none.
    """
    return "; ".join(_mistake(mistake, names, str((*mistake["loc"], name)[0])) for mistake in error.errors())


def _mistake(mistake: ErrorDetails, names: Sequence[str], name: str) -> str:
    value = mistake["input"]
    if mistake["type"] == "unexpected_keyword_argument":
        known = [*names, *BOARD] if "rules" in names else names
        near = did_you_mean(SHORT_NAMES.get(name, name), known) or f"; there are {', '.join(known)}"
        return f"there is no setting `{name}`{near}"
    if mistake["type"] == "value_error":  # of a check of our own
        raised = mistake["ctx"]["error"]
        text = getattr(raised, "template", str(raised))
        return f"`{name}`: {text}" if name else re.sub(BOARD_NAME, r"`\1`", text)
    wanted = re.sub(r"^\w+ should", "must", mistake["msg"])
    near = did_you_mean(value, re.findall("'([^']*)'", wanted))
    return f"`{name}` {wanted}, got {value!r}{near}"


# The settings of every algorithm


@checked
class RunSettings:
    """The settings that every algorithm has.

    Raises:
        SettingsError: a value is not allowed, by itself or together with the others, or there is no such setting.
    """

    algorithm: ClassVar[str]
    """Name on the command line and in config.json."""
    unit: ClassVar[str] = "games"
    """The unit of the steps of a run: plies, games or steps."""
    length_setting: ClassVar[str] = "games"
    """The setting for the steps after which a run ends at the latest."""

    seed: Seed = 0
    """Seed of every random number of the run."""

    @model_validator(mode="before")
    @classmethod
    def _complete(cls, given: ArgsKwargs) -> ArgsKwargs:
        return ArgsKwargs(given.args, cls.completed(given.kwargs or {}))

    @classmethod
    def completed(cls, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings that were given together with those that follow from them, such as the board.

        Raises:
            ValueError: there is no such board.
        """
        has_board = "rules" in (each.name for each in fields(cls))
        return with_board(settings, Rules()) if has_board else dict(settings)

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
    def length(self) -> int:
        """Return the steps after which a run ends at the latest."""
        return int(getattr(self, self.length_setting))


@checked
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
    """The proof, by three evaluations in a row, that ends the run early."""


def with_board(settings: Mapping[str, Any], default: Rules) -> dict[str, Any]:
    """Return the settings with `rules` in place of the sizes of the board, which change those of `rules` or `default`.

    Raises:
        ValueError: there is no such board.
    """
    given = dict(settings)
    sizes = {name: given.pop(name) for name in BOARD if name in given}
    rules = given.get("rules", default)
    require(isinstance(rules, Rules), "rules", "a tictactoe.Rules", rules)
    return {**given, "rules": replace(rules, **sizes)}


def to_json(config: RunSettings) -> dict[str, Any]:
    """Return the settings by name, ready for JSON; the board's are among them."""
    settings: dict[str, Any] = TypeAdapter(type(config)).dump_python(config, mode="json")
    board: dict[str, Any] = settings.pop("rules", {})
    return settings | board


def check_known_rules(rules: Rules, part: str) -> None:
    """Refuse rules with a field that a part of the code does not know.

    Raises:
        UserError: such a field does not have its default; the message names the field and the part.
    """
    try:
        refuse_unknown_rules(rules, part)
    except UnknownRuleError as error:
        raise UserError(str(error)) from None
