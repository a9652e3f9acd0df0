"""Rules that differ from the usual ones in one field, for the tests of every part that plays by them."""

from dataclasses import dataclass, fields

from tictactoe import Rules

OTHER_VALUES = {"rows": 2, "cols": 2, "k": 2}
"""For each field of `Rules` a value that is not the default; a new field needs one, and the rule book must know it."""
VARIANTS = [Rules(**{field.name: OTHER_VALUES[field.name]}) for field in fields(Rules)]
"""The usual rules with one of these values each."""


@dataclass(frozen=True)
class InventedRules(Rules):
    """Rules with a field that no part of the code knows; parts that must know every field refuse `invented=True`."""

    invented: bool = False
