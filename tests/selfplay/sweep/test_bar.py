"""The bar of a sweep."""

import io

import pytest
from rich.console import Console

from selfplay.sweep import bar


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_terminal_shows_how_many_runs_have_ended_and_which_are_under_way(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = io.StringIO()
    monkeypatch.setattr(bar, "open_console", lambda: Console(file=screen, force_terminal=is_terminal, width=100))
    with bar.Bar(5) as shown:
        shown.show(2, ["mask=true,seed=1", "default,seed=2"])
    for text in ("2/5", "mask=true,seed=1", "default,seed=2"):
        assert (text in screen.getvalue()) == is_terminal
    assert is_terminal or not screen.getvalue()
