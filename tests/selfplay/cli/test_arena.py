"""`selfplay arena` as a user runs it: everything it prints and leaves, and every mistake in one line."""

import contextlib
import io
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import selfplay
from selfplay.cli import arena, arena_ratings as ratings
from selfplay.cli.arena_matches import Result
from selfplay.cli.arena_ratings import Rating
from selfplay.cli.arena_tables import percent, rating_table, result_note, result_table
from selfplay.players import run_folder
from tests.runs import read, refused, save, saved, unread
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

pytestmark = pytest.mark.usefixtures("in_a_command")


@pytest.fixture(scope="module", autouse=True)
def few_resamples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ratings, "RESAMPLES", 50)
        yield


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Let two untrained players meet, one of them without a mask, so that it plays taken cells."""
    runs = tmp_path_factory.mktemp("runs")
    saved(runs / "plain")
    saved(runs / "masked", mask=True)
    with contextlib.redirect_stdout(io.StringIO()) as output:
        arena.main([str(runs / "plain"), str(runs / "masked"), "random", "optimal", "--out", str(runs / "arena")])
    return runs, output.getvalue()


def test_what_is_printed(held: tuple[Path, str]) -> None:
    runs, output = held
    expected = ["4 players on 3,3,3, 16 pairings", "random has 0", "58/13/29", "!: games that end with a taken cell"]
    expected += ["columns second; a cell is the row's result. All results are exact", f"{runs}/arena holds results.csv"]
    expected += ["1 drawn game is added to every 100 of two players"]
    assert [text for text in expected if text not in " ".join(output.split())] == []
    assert "…" not in output


def test_every_pairing_is_in_the_results_and_agrees_with_the_exact_evaluation(held: tuple[Path, str]) -> None:
    runs, _ = held
    lines = read(runs / "arena" / "results.csv")
    shares = {
        (line.pop("first"), line.pop("second")): {name: float(share or "nan") for name, share in line.items()}
        for line in lines
    }
    assert len(shares) == len(lines) == 16
    for share in shares.values():
        assert np.isnan(share["games"])
        assert share["score"] == pytest.approx(share["win"] + share["draw"] / 2, abs=1e-12)
        assert share["win_low"] == share["win_high"] == share["win"]
    for name in ("plain", "masked"):
        verdict = selfplay.evaluate(selfplay.load(runs / name), Rules())
        first, second = shares[name, "random"], shares["random", name]
        own = [first["win"], first["draw"], first["loss"], second["loss"], second["draw"], second["win"]]
        seats = (verdict.first, verdict.second)
        assert own == pytest.approx([end for seat in seats for end in (seat.win, seat.draw, seat.loss)], abs=1e-12)
        assert (first["illegal_by_first"] > 0) == (name == "plain")
        assert first["illegal_by_second"] == 0


def test_ratings_are_in_order_and_relative_to_random(held: tuple[Path, str]) -> None:
    best, *_, last = read(held[0] / "arena" / "ratings.csv")
    assert (best["rank"], best["player"], last["rank"], last["player"]) == ("1", "optimal", "4", "plain")
    assert float(best["elo_low"]) < float(best["elo"]) < float(best["elo_high"])


def test_the_folder_holds_tables_and_a_record_for_tensorboard(held: tuple[Path, str]) -> None:
    folder = held[0] / "arena"
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert names == {"results.csv", "ratings.csv"}
    events = EventAccumulator(str(folder))
    events.Reload()
    text = events.Tensors("arena/tables/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "58/13/29" in text
    assert "1   optimal" in text
    for line in read(folder / "ratings.csv"):
        for name in ("elo", "elo_low", "elo_high"):
            [event] = events.Scalars(f"{name}/{line['player']}")
            assert event.value == pytest.approx(float(line[name]), rel=1e-6)


def test_what_nobody_reads_is_saved(tmp_path: Path) -> None:
    ended = unread("-m", "selfplay", "arena", "random", "heuristic", "--out", "arena", cwd=tmp_path)
    assert ended == (0, "")
    assert len(read(tmp_path / "arena" / "results.csv")) == 4


@pytest.mark.usefixtures("players")
def test_a_large_board_is_sampled_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name, seed in (("one", "3"), ("two", "4")):
        arena.main(["large", "random", "--games", "500", "--seed", seed, "--out", name])
    output = capsys.readouterr().out
    assert "~: sampled in 500 games each" in " ".join(output.split())
    assert "(Wilson)" in output
    one, two = (read(Path(name, "results.csv")) for name in ("one", "two"))
    assert one != two
    for line in one:
        exact = line["first"] == line["second"] == "large"
        assert line["games"] == ("" if exact else "500")
        assert (float(line["win_low"]) == float(line["win"]) == float(line["win_high"])) == exact


@pytest.fixture
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "a")
    saved(tmp_path / "other" / "a", mask=True)
    saved(tmp_path / "wide", rows=3, cols=4)
    large = config_with(rows=4, cols=5, k=3, mask=True)
    save(tmp_path / "large", large, make(large).player())
    (tmp_path / "empty").mkdir()
    (tmp_path / "again").symlink_to(tmp_path / "a")
    return tmp_path


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        ("nobody random", "nobody is neither a run folder, nor one of shipped, random, heuristic, rule, optimal"),
        ("empty random", "empty/config.json: cannot be read"),
        ("a wide", "wide plays 3,4,3, but a plays 3,3,3: give players of one board"),
        ("large optimal", "search each position of 4,5,3, a board of over 16 cells, which takes too long for an arena"),
        ("a random ./a", "./a: a is listed already; give each player once, it also meets itself"),
        ("a again", "again: a is listed already"),
        ("random a random", "random: random is listed already"),
        ("a", "an arena needs at least two players, got 1"),
        ("a random --out other", "other: has files in it already; choose a new or empty --out"),
        ("a random --out /dev/null/x", "choose another --out"),
        ("a random --games 0", "--games must be between 1 and 1,000,000,000,000, got 0"),
    ],
)
def test_a_mistake_is_one_line(players: Path, args: str, gist: str) -> None:
    before = sorted(players.rglob("*"))
    assert gist in refused(arena.main, args.split())
    assert sorted(players.rglob("*")) == before


@pytest.mark.usefixtures("players")
def test_players_are_called_by_their_folder_unless_two_have_the_same_name() -> None:
    assert arena.short_names(["./again/", "random"]) == ["a", "random"]
    assert arena.short_names(["a", "other/a", "shipped"]) == ["a", "other/a", "shipped"]
    saved(Path("other/random"))
    assert arena.short_names(["other/random", "optimal"]) == ["other/random", "optimal"]
    saved(Path("other/b\u202e"))
    assert arena.short_names(["other/b\u202e"]) == ["b\\u202e"]


@pytest.mark.usefixtures("players")
def test_players_without_a_board_play_that_of_a_run() -> None:
    players = arena.enter(["heuristic", "wide", "rule"], "absolute")
    assert [player.name for player in players] == ["heuristic", "wide", "rule"]
    assert {player.rules for player in players} == {Rules(3, 4, 3)}
    assert {player.rules for player in arena.enter(["random", "optimal"], "absolute")} == {Rules()}


def test_a_folder_that_vanishes_is_not_taken_for_a_module(players: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found_and_gone(name: str) -> Path | None:
        folder = run_folder(name)
        shutil.rmtree(name, ignore_errors=True)
        return folder

    saved(players / "theirs:player")
    (players / "theirs.py").write_text("raise SystemExit")
    monkeypatch.setattr(arena, "run_folder", found_and_gone)
    assert "theirs:player is neither a run folder, nor" in refused(arena.enter, ["theirs:player", "random"], "absolute")


@pytest.mark.usefixtures("players")
def test_without_random_the_mean_is_0_and_the_folder_has_a_name_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    arena.main(["heuristic", "rule"])
    assert "the mean of all players is 0" in capsys.readouterr().out
    (folder,) = Path("runs").glob("arena-3x3x3-*")
    best, worst = (float(line["elo"]) for line in read(folder / "ratings.csv"))
    assert best == pytest.approx(-worst) != 0


def test_shares_are_never_rounded_to_what_they_are_not() -> None:
    shares = {0: "0", 0.005: "<1", 0.006: "1", 0.128: "13", 0.994: "99", 0.995: ">99", 1: "100"}
    assert {share: percent(share) for share in shares} == shares


def printed(*content: object) -> str:
    console = Console(width=80, file=io.StringIO(), record=True)
    console.print(*content)
    return console.export_text()


def test_the_results_of_eight_players_fit_80_characters() -> None:
    names = "abcdefgh"
    results = {(one, other): Result(0.58, 0.13, 0.29, (0.004, 0.1)) for one in names for other in names}
    text = printed(result_table(results, names))
    assert text.count("58/13/29") == text.count("!<1+10") == 64
    assert "!: games that end with a taken cell" in result_note(results)


def test_odd_names_are_shown_as_they_are() -> None:
    names = ["[bold]x[/bold]", "$a^b$", "$", "\u65e5\u672c"]
    text = printed(rating_table(dict.fromkeys(names, Rating(0, 0, 0))))
    assert all(name in text for name in names)
