"""What holds for all tests: they end, and Ctrl-C reaches the programs that they start."""

import runpy
import signal
from pathlib import Path

import pytest


def test_every_test_has_a_time_limit(pytestconfig: pytest.Config) -> None:
    assert 60 <= float(pytestconfig.getini("timeout")) <= 3_600


def test_programs_hear_ctrl_c_where_the_shell_had_it_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # as a script's shell does with what it runs behind it
    try:
        runpy.run_path(str(Path(__file__).with_name("conftest.py")))
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler  # children of a handler get the default
    finally:
        signal.signal(signal.SIGINT, before)
