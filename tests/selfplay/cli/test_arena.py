"""`selfplay arena`: the table, the file of results, and who may meet whom."""

import contextlib
import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import selfplay
from selfplay.cli import arena
from selfplay.cli.arena_matches import Result
from tests.runs import read, refused, save, saved
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Let two untrained players meet, one of them without a mask, so that it plays taken cells."""
    runs = tmp_path_factory.mktemp("runs")
    saved(runs / "plain")
    saved(runs / "masked", mask=True)
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as output:
        patch.chdir(runs)
        patch.setenv("COLUMNS", "80")
        arena.main(["plain", "masked", "random", "optimal", "--out", "arena"])
    return runs, output.getvalue()


def test_the_table_shows_every_player_and_result(held: tuple[Path, str]) -> None:
    _, output = held
    rows = {line.split()[0]: line.split()[1:] for line in output.splitlines() if line.strip()}
    assert rows["moves"] == ["first", "plain", "masked", "random", "optimal"]
    assert rows["random"][2:] == ["58/13/29", "0/22/78"]
    assert rows["optimal"][2:] == ["97/3/0", "0/100/0"]
    assert "arena/results.csv" in output


def test_results_without_a_folder_go_to_one_of_their_own_in_runs() -> None:
    folder = arena.default_folder(Rules(3, 4, 3))
    assert folder.parent == Path("runs")
    assert "3x4x3" in folder.name


def test_every_pairing_is_in_the_results_and_agrees_with_the_exact_evaluation(held: tuple[Path, str]) -> None:
    runs, _ = held
    lines = read(runs / "arena" / "results.csv")
    shares = {
        (line.pop("first"), line.pop("second")): {name: float(share or "nan") for name, share in line.items()}
        for line in lines
    }
    assert len(shares) == len(lines) == 16
    assert all(np.isnan(share["games"]) for share in shares.values())
    for name in ("plain", "masked"):
        verdict = selfplay.evaluate(selfplay.load(runs / name), Rules())
        first, second = shares[name, "random"], shares["random", name]
        own = [first["win"], first["draw"], first["loss"], second["loss"], second["draw"], second["win"]]
        seats = (verdict.first, verdict.second)
        assert own == pytest.approx([end for seat in seats for end in (seat.win, seat.draw, seat.loss)], abs=1e-12)
        assert (first["illegal_by_first"] > 0) == (name == "plain")
        assert first["illegal_by_second"] == 0


@pytest.mark.usefixtures("players")
def test_a_large_board_is_sampled_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("one", "3"), ("two", "4")):
        arena.main(["large", "random", "--games", "500", "--seed", seed, "--out", name])
    assert "~" in capsys.readouterr().out
    one, two = (read(Path(name, "results.csv")) for name in ("one", "two"))
    assert one != two
    assert [line["games"] for line in one] == ["", "500", "500", "500"]


@pytest.fixture
def players(here: Path) -> Path:
    saved(here / "a")
    saved(here / "wide", rows=3, cols=4)
    large = config_with(rows=4, cols=5, k=3, mask=True)
    save(here / "large", large, make(large).player())
    return here


@pytest.mark.parametrize(
    ("args", "named"),
    [
        ("nobody random", "nobody"),
        ("a wide", "wide plays 3,4,3"),
        ("large optimal", "optimal"),
        ("random a random", "random"),
        ("a random --games 0", "games"),
        ("a random --out wide", "wide"),
        ("a random --out /dev/null/x", "/dev/null/x"),
    ],
)
def test_a_mistake_is_named_and_leaves_nothing(players: Path, args: str, named: str) -> None:
    before = sorted(players.rglob("*"))
    assert named in refused(arena.main, args.split())
    assert sorted(players.rglob("*")) == before


@pytest.mark.usefixtures("players")
def test_players_without_a_board_play_that_of_a_run() -> None:
    players = arena.enter(["heuristic", "wide", "rule"], "absolute")
    assert [*players] == ["heuristic", "wide", "rule"]
    assert {player.rules for player in players.values()} == {Rules(3, 4, 3)}
    assert {player.rules for player in arena.enter(["random", "optimal"], "absolute").values()} == {Rules()}


def test_shares_are_never_rounded_to_what_they_are_not() -> None:
    shares = {0: "0", 0.005: "<1", 0.006: "1", 0.128: "13", 0.994: "99", 0.995: ">99", 1: "100"}
    assert {share: arena.percent(share) for share in shares} == shares


def test_names_are_shown_as_they_are_and_in_full() -> None:
    names = ["[bold]x[/bold]", "runs/dqn-3x3x3-0-mask-20260101-120000", "\u65e5\u672c", "$a^b$"]
    results = {(one, other): Result(0.58, 0.13, 0.29, (0.004, 0.1)) for one in names for other in names}
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(arena.table(results))
    text = console.export_text()
    assert text.count("58/13/29") == text.count("!<1+10") == len(results)
    assert text.count("[bold]x") == 2
    assert "…" not in text
