"""Write agents/selfplay/typed.pyi: what type checkers and editors are told of `train` and `training`.

Run it after a setting has changed: `python -m docs.typed_settings`. A test compares the file with the dataclasses.
"""

from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import selfplay
from selfplay.algorithms import ALGORITHMS
from selfplay.own.config import OwnConfig
from selfplay.settings import Device, RunSettings, declared

PLACE = Path(selfplay.__file__).parent / "typed.pyi"
TYPED = {
    int: "Int",
    float: "Float",
    bool: "bool | np.bool_",
    tuple: "Int | Sequence[Int] | NDArray[Any]",
    Path: "Place",
}
"""What people type for a setting, by the type that its dataclass declares."""

HEAD = '''\
"""What type checkers are told of `train` and `training`; written by docs/typed_settings.py."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias, TypedDict, overload

import numpy as np
import torch
from numpy.typing import NDArray
from selfplay.algorithms import Config
from selfplay.dqn.network import NetworkFactory
from selfplay.own.config import Learner, OwnConfig
from selfplay.training.loop import Record
from selfplay.training.result import Run
from tictactoe import Rules
from typing_extensions import Unpack

Int: TypeAlias = float | np.integer[Any]
Float: TypeAlias = float | np.floating[Any] | np.integer[Any]
Place: TypeAlias = str | os.PathLike[str]

class RunOptions(TypedDict, total=False):
    resume: Place | Run | None
    force: bool
    checkpoint_interval: float
    stop_when: Callable[[], bool]
    progress: bool
'''
OWN = "learner: Learner | Callable[..., Learner]"
NETWORK = "network: NetworkFactory | None = None"


def typed(hint: Any) -> str:
    """Return what people type for a setting of this type."""
    kind, _, optional = declared(hint)
    if get_origin(kind) is Literal:
        text = f"Literal[{', '.join(map(repr, get_args(kind)))}]" + (" | torch.device" if kind == Device else "")
    else:
        text = TYPED[get_origin(kind) or kind]
    return f"{text} | None" if optional else text


def dictionary(name: str, kind: type[RunSettings]) -> str:
    """Return the typed dictionary of an algorithm's settings, and that of its settings and options of a run."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind) if field.name not in ("learner", "options")]
    own = kind is OwnConfig
    lines = [f"    {each}: {typed(hints[each])}" for each in names if not own or each not in ("rows", "cols", "k")]
    lines += [] if own else ["    rules: Rules"]
    head = f"class {name}Settings(TypedDict, total=False):\n" + "\n".join(lines)
    return f"{head}\n\nclass {name}Training({name}Settings, RunOptions, total=False): ...\n"


def overload(function: str, *parameters: str, first: str = "", rest: str = "") -> str:
    """Return one overload of a function: its first parameter, those that are given by name, and all others."""
    result = {"train": "Run", "training": "Iterator[Record]"}[function]
    named = (("*",) if parameters else ()) + parameters
    others = (f"**settings: {rest}",) if rest else ()
    return f"@overload\ndef {function}({', '.join((first, '/', *named, *others))}) -> {result}: ...\n"


def overloads(function: str) -> str:
    """Return the overloads of a function: each algorithm, a config object, and a learner of the user."""
    suffix = "Training" if function == "train" else "Settings"
    lines = []
    for name, kind in ALGORITHMS.items():
        algorithm, given = ("Literal['dqn'] | None = None", (NETWORK,)) if name == "dqn" else (f"Literal[{name!r}]", ())
        rest = f"Unpack[{kind.__name__.removesuffix('Config')}{suffix}]"
        lines.append(overload(function, *given, first=f"algorithm: {algorithm}", rest=rest))
    lines.append(overload(function, NETWORK, first="algorithm: Config", rest="Any"))
    lines.append(overload(function, OWN, first="algorithm: OwnConfig | None = None", rest=f"Unpack[Own{suffix}]"))
    if function == "train":
        lines.append(overload(function, "resume: Place | Run", NETWORK, first="algorithm: None = None", rest="Any"))
    return "".join(lines)


def stub() -> str:
    """Return the content of typed.pyi."""
    kinds = [(kind.__name__.removesuffix("Config"), kind) for kind in (*ALGORITHMS.values(), OwnConfig)]
    functions = (overloads(function) for function in ("train", "training"))
    return "\n".join([HEAD, *(dictionary(name, kind) for name, kind in kinds), *functions])


if __name__ == "__main__":
    PLACE.write_text(stub())
