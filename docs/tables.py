"""The tables of `docs/environments` and the lists of `docs/api`, from the code.

A page names the function that makes a table, for cog, which writes it below; CONTRIBUTING has the command. The code
decides which rows a table has, if their first cell is code, and the columns with facts. The rest is prose and stays as
it is. The lines about names are filled in too.
"""

import inspect
import pkgutil
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from gymnasium.vector import AutoresetMode

from tictactoe import (
    Rewards,
    TicTacToeEnv,
    TicTacToeVectorEnv,
    TicTacToeVersusEnv,
    TicTacToeVersusVectorEnv,
    batch,
    tictactoe_v0,
)
from tictactoe.gym import base_vector, turn
from tictactoe.opponents import OPPONENTS
from tictactoe.rendering import RENDER_MODES, VECTOR_RENDER_MODES
from tictactoe.rewards import PRESETS

ENVIRONMENTS: Mapping[str, list[Callable[..., Any]]] = {
    "turn": [TicTacToeEnv],
    "versus": [TicTacToeVersusEnv],
    "vector": [TicTacToeVectorEnv, TicTacToeVersusVectorEnv],
    "pettingzoo": [tictactoe_v0.raw_env],
}
"""The environments on each page."""
BASES = {"turn": [], "versus": ["turn"], "vector": ["turn", "versus"], "pettingzoo": ["turn"]}
"""The pages whose arguments are not said again."""
BOARD: Mapping[str, Any] = {"rows": 4, "cols": 5}
SIZES = {"4": "rows", "5": "cols", "20": "rows * cols"}
"""Names of the numbers in shapes on such boards."""

Facts: TypeAlias = Mapping[str, Mapping[str, str]]
"""Columns with facts by the first cell of the row."""


def code(text: object) -> str:
    """Return a text marked as code, with double quotes."""
    return f"`{text}`".replace("'", '"')


def formula(text: object) -> str:
    """Return a shape or space as code, with names in place of sizes."""
    return code(re.sub(r"\b\d+\b", lambda size: SIZES.get(size[0], size[0]), str(text)))


def one_of(values: Iterable[object]) -> str:
    """Return the values that an argument may have."""
    return ", ".join(code(repr(value)) for value in values)


def defaults(environment: Callable[..., Any]) -> dict[str, Any]:
    """Return the arguments of an environment with their defaults, autoreset modes by name."""
    values = {name: argument.default for name, argument in inspect.signature(environment).parameters.items()}
    return {name: value.value if isinstance(value, AutoresetMode) else value for name, value in values.items()}


def arguments(page: str) -> Facts:
    """Return the arguments of a page's environments that are not as in the turn view, or in the versus view."""
    modes = VECTOR_RENDER_MODES if page == "vector" else RENDER_MODES
    allowed = {
        "rewards": f"{one_of(PRESETS)}, a `tictactoe.Rewards`, or a dict of its fields",
        "perspective": one_of(batch.PERSPECTIVES),
        "opponent": one_of(OPPONENTS),
        "autoreset_mode": one_of(mode.value for mode in AutoresetMode),
        "render_mode": one_of([None, *modes]),
    }
    rows = {
        code(name): {"default": code(repr(value))} | ({"allowed": allowed[name]} if name in allowed else {})
        for environment in ENVIRONMENTS[page]
        for name, value in defaults(environment).items()
    }
    known = [row for base in BASES[page] for row in arguments(base).items()]
    return dict(row for row in rows.items() if row not in known)


def with_types(values: Mapping[str, Any]) -> Facts:
    """Return the keys of an info with types and shapes."""
    return {
        code(key): {"type": code(getattr(value, "dtype", type(value).__name__)), "shape": formula(np.shape(value))}
        for key, value in values.items()
    }


@cache
def of_environment(page: str) -> dict[str, Facts]:
    """Return the facts about the environments of a page."""
    many = page == "vector"
    make = ENVIRONMENTS[page][0]
    facts: dict[str, Facts] = {
        "arguments": arguments(page),
        "options": {code(name): {} for name in (base_vector if many else turn).OPTIONS},
        "information": with_types(TicTacToeEnv(**BOARD).reset()[1]),
    }
    if page == "pettingzoo":
        plain = make()
        agent = plain.possible_agents[0]
        shape = plain.observation_space(agent)["observation"].shape
        glance = {
            "Agents": plain.possible_agents,
            "Action values": plain.action_space(agent),
            "Observation shape": shape,
        }
    else:
        plain = make(num_envs=4) if many else make()
        glance = {"Action space": plain.action_space, "Observation space": plain.observation_space}
    facts["at a glance"] = {name: {"": code(fact)} for name, fact in glance.items()}
    facts["rewards"] = {
        code(field): {code(f'"{name}"'): f"{getattr(preset, field):g}" for name, preset in PRESETS.items()}
        for field in Rewards.__dataclass_fields__
    }
    return facts


@cache
def of_batch() -> dict[str, Facts]:
    """Return the functions on arrays with their arguments."""
    functions: dict[str, Mapping[str, str]] = {}
    for name, function in inspect.getmembers(batch, inspect.isfunction):
        if function.__module__ == batch.__name__ and not name.startswith(("_", "check_")):
            parameters = inspect.signature(function).parameters.values()
            parts = (str(part.replace(annotation=part.empty)) for part in parameters)
            functions[code(f"{name}({', '.join(parts)})")] = {}
    return {"functions": functions}


def filled(page: str, name: str, old: str) -> str:
    """Return a table of a page with the facts as the code has them."""
    facts = of_batch() if page == "batch" else of_environment(page)
    return table(old, facts[name])


def listed(old: str) -> str:
    """Return a list of names with the first line of the docstring of each."""

    def line(match: re.Match[str]) -> str:
        documentation = inspect.getdoc(pkgutil.resolve_name(match[1]))
        return f"- `{match[1]}`: {documentation.splitlines()[0]}" if documentation else match[0]

    return re.sub(r"^- `([\w.]+)`:.*$", line, old, flags=re.MULTILINE)


def table(old: str, facts: Facts) -> str:
    """Return a table with these facts, and with the prose and the order of the old one; new rows come last."""
    head, line, *rows = ([cell.strip() for cell in row.strip("|").split("|")] for row in old.splitlines())
    rows = [row for row in rows if row[0] in facts or not row[0].startswith("`")]
    rows += [[name] + [""] * (len(head) - 1) for name in facts if name not in {row[0] for row in rows}]
    lines = [head]
    for first, *cells in rows:
        lines.append([first, *map(facts.get(first, {}).get, head[1:], cells)])
    top, *others = ("|" + "|".join(f" {cell} " if cell else " " for cell in cells) + "|\n" for cells in lines)
    return "".join([top, f"|{'|'.join(line)}|\n", *others])
