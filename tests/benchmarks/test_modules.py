"""Modules and functions on the way through the code."""

import numpy as np

from benchmarks.modules import called
from tictactoe import Rules, planes


def has_line() -> bool:
    return bool(Rules().has_line(7))


def both() -> None:
    has_line()
    planes.bits(9, np.array([7]))


def test_modules_and_functions_of_the_packages_are_counted() -> None:
    one, two = called(has_line), called(both)
    assert one["modules of tictactoe"] == 1
    assert two["modules of tictactoe"] > 1
    assert two["functions"] > one["functions"]
    assert two["modules of selfplay"] == 0


def test_what_follows_the_last_function_is_not_counted() -> None:
    assert called(both, last=has_line) == called(has_line)
