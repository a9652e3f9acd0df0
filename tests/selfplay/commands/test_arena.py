"""`selfplay arena` as a user runs it: everything it prints and leaves, and every mistake in one line."""

import csv
import io
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import selfplay
from selfplay.commands import train
from selfplay.commands.arena import command as arena
from selfplay.commands.arena import tournament
from selfplay.commands.arena.heat_map import score_figure, score_text
from selfplay.commands.arena.matches import Result
from selfplay.commands.arena.ratings import Rating
from selfplay.commands.arena.tables import markdown, percent, rating_table, result_note, result_table
from selfplay.errors import UserError
from selfplay.runs import folder as run_folder
from selfplay.runs.pictures import png
from selfplay.tensor_file import write_tensors
from tests.runs import saved
from tests.selfplay.dqn.scripted import config_with, make
from tictactoe import Rules

TINY = ("--total-steps", "400", "--num-envs", "16", "--warmup", "64", "--hidden", "16")


def run(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *args]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def held(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Train two tiny players, one of them without a mask, so that it plays taken cells, and let them meet."""
    folder = tmp_path_factory.mktemp("arena")
    for name, flags in (("plain", ()), ("masked", ("--mask",))):
        train.main([*TINY, *flags, "--run-dir", str(folder / "runs" / name)])
    players = "runs/plain", "runs/masked", "random", "optimal"
    done = run("-m", "selfplay", "arena", *players, "--out", "runs/arena", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return folder / "runs", done.stdout


def read(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_what_is_printed(held: tuple[Path, str]) -> None:
    _, output = held
    for expected in (
        "4 players on 3,3,3, 16 pairings",
        "random has 0",
        "95 % interval",
        "58/13/29",
        "!: games ended by a taken cell",
        "All results are exact",
        "runs/arena holds results.csv",
    ):
        assert expected in output
    assert "…" not in output


def test_every_pairing_is_in_the_results_and_agrees_with_the_exact_evaluation(held: tuple[Path, str]) -> None:
    runs, _ = held
    lines = {(line["first"], line["second"]): line for line in read(runs / "arena" / "results.csv")}
    names = {"plain", "masked", "random", "optimal"}
    assert lines.keys() == {(first, second) for first in names for second in names}
    for line in lines.values():
        assert sum(float(line[share]) for share in ("win", "draw", "loss")) == pytest.approx(1, abs=1e-12)
        assert float(line["score"]) == pytest.approx(float(line["win"]) + float(line["draw"]) / 2, abs=1e-12)
        assert not line["games"]
        assert line["win_low"] == line["win_high"] == line["win"]
    assert Fraction(float(lines["random", "random"]["win"])).limit_denominator(10_000) == Fraction(737, 1260)
    assert {float(lines["optimal", other]["loss"]) for other in names} == {0}
    assert {float(lines[other, "optimal"]["win"]) for other in names} == {0}
    illegal = 0.0
    for name in ("plain", "masked"):
        proof = selfplay.evaluate(selfplay.load(runs / name), Rules())
        first, second = lines[name, "random"], lines["random", name]
        for seat, line, results in ((proof.first, first, "win draw loss"), (proof.second, second, "loss draw win")):
            found = [float(line[result]) for result in results.split()]
            assert found == pytest.approx([seat.win, seat.draw, seat.loss], abs=1e-12)
        illegal += float(first["illegal_by_first"])
        assert (float(first["illegal_by_first"]) > 0) == (proof.first.illegal > 0) == (name == "plain")
        assert float(first["illegal_by_second"]) == 0
    assert illegal > 0


def test_ratings_are_in_order_and_relative_to_random(held: tuple[Path, str]) -> None:
    runs, _ = held
    lines = read(runs / "arena" / "ratings.csv")
    assert [line["rank"] for line in lines] == ["1", "2", "3", "4"]
    elos = [float(line["elo"]) for line in lines]
    assert elos == sorted(elos, reverse=True)
    assert lines[0]["player"] == "optimal"
    assert {line["player"]: float(line["elo"]) for line in lines}["random"] == 0
    assert all(float(line["elo_low"]) <= float(line["elo"]) <= float(line["elo_high"]) for line in lines)


def test_the_folder_holds_a_picture_and_a_record_for_tensorboard(held: tuple[Path, str]) -> None:
    folder = held[0] / "arena"
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    assert names == {"results.csv", "ratings.csv", "scores.png"}
    assert (folder / "scores.png").read_bytes().startswith(b"\x89PNG")
    events = EventAccumulator(str(folder))
    events.Reload()
    tags = events.Tags()
    assert tags["images"] == ["arena/scores"]
    assert tags["tensors"] == ["arena/tables/text_summary"]
    text = events.Tensors("arena/tables/text_summary")[0].tensor_proto.string_val[0].decode()
    assert "| 58/13/29 |" in text
    assert "| 1 | optimal |" in text
    for line in read(folder / "ratings.csv"):
        for tag, field in (("elo", "elo"), ("elo_low", "elo_low"), ("elo_high", "elo_high")):
            assert events.Scalars(f"{tag}/{line['player']}")[0].value == pytest.approx(float(line[field]), rel=1e-6)


def test_what_nobody_reads_is_saved(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "selfplay", "arena", "random", "heuristic", "--out", "arena"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as playing:
        assert playing.stdout is not None
        assert playing.stderr is not None
        playing.stdout.close()
        assert not playing.stderr.read()
    assert playing.returncode == 0
    assert len(read(tmp_path / "arena" / tournament.RESULTS)) == 4
    assert (tmp_path / "arena" / tournament.SCORES).exists()


@pytest.mark.usefixtures("players")
def test_a_large_board_is_sampled_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("one", "two"):
        arena.main(["large", "random", "--games", "500", "--seed", "3", "--out", name])
        output = capsys.readouterr().out
        assert "~: sampled in 500 games each" in output
        assert "(Wilson)" in output
    assert Path("one/results.csv").read_text() == Path("two/results.csv").read_text()
    for line in read(Path("one/results.csv")):
        exact = line["first"] == line["second"] == "large"
        assert line["games"] == ("" if exact else "500")
        low, win, high = (float(line[field]) for field in ("win_low", "win", "win_high"))
        assert low <= win <= high
        assert (low == high) == exact


def saved_large(folder: Path) -> None:
    config = config_with(rows=4, cols=5, k=3, mask=True)
    run_folder.create(folder)
    run_folder.write_config(folder, config, {})
    write_tensors(folder / run_folder.MODEL, make(config).player().tensors())


@pytest.fixture
def players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path / "a")
    saved(tmp_path / "other" / "a", mask=True)
    saved(tmp_path / "wide", rows=3, cols=4)
    saved_large(tmp_path / "large")
    (tmp_path / "empty").mkdir()
    (tmp_path / "again").symlink_to(tmp_path / "a")
    return tmp_path


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["nobody", "random"], "nobody: is neither a run folder, nor one of shipped, random, heuristic, optimal"),
        (["Random", "a"], "Random: is neither a run folder, nor one of shipped, random, heuristic, optimal"),
        (["empty", "random"], "empty/config.json: cannot be read"),
        (["a", "wide"], "wide plays 3,4,3, but a plays 3,3,3: give players of one board"),
        (["large", "optimal"], "optimal: knows boards of up to 16 cells, but large plays 4,5,3; leave it out"),
        (["a", "random", "./a"], "./a is a, which is there already; every player also meets itself"),
        (["a", "again"], "again is a, which is there already"),
        (["random", "a", "random"], "random is there already"),
        (["a"], "an arena needs at least two players, got 1"),
        ([], "an arena needs at least two players, got 0"),
        (["a", "random", "--out", "other"], "other: has files in it already; choose a new or empty --out"),
        (["a", "random", "--out", "/dev/null/x"], "choose another --out"),
        (["a", "random", "--games", "0"], "--games must be at least 1, got 0"),
        (["a", "random", "--seed", "-1"], "--seed must be 0 or more, got -1"),
        (["a", "random", "--game", "5"], "perhaps you meant --games"),
    ],
    ids=" ".join,
)
def test_a_mistake_is_one_line(players: Path, args: list[str], gist: str) -> None:
    before = sorted(players.rglob("*"))
    with pytest.raises(UserError) as caught:
        arena.main(args)
    assert gist in str(caught.value)
    assert "\n" not in str(caught.value)
    assert sorted(players.rglob("*")) == before


def test_a_mistake_has_status_2(tmp_path: Path) -> None:
    done = run("-m", "selfplay", "arena", "nobody", "random", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("selfplay arena: nobody: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.usefixtures("players")
def test_players_are_called_by_their_folder_unless_two_have_the_same_name() -> None:
    assert tournament.enter(["a", "random"], "absolute").names == ["a", "random"]
    assert tournament.enter(["./again/", "random"], "absolute").names == ["a", "random"]
    assert tournament.enter(["a", "other/a", "random"], "absolute").names == ["a", "other/a", "random"]
    assert tournament.enter(["random", "optimal"], "absolute").rules == Rules()
    assert tournament.enter(["heuristic", "wide"], "absolute").rules == Rules(3, 4, 3)


def test_a_run_folder_called_as_a_built_in_opponent_is_not_taken_for_it() -> None:
    assert tournament.short_names(["runs/random", "heuristic", "optimal"]) == ["runs/random", "heuristic", "optimal"]


def test_a_bar_in_a_name_does_not_break_tensorboards_table() -> None:
    table = Table("player")
    table.add_row("a|b")
    assert markdown(table).endswith("| a\\|b |")


@pytest.mark.usefixtures("players")
def test_without_random_the_mean_is_0_and_the_folder_has_a_name_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    arena.main(["heuristic", "optimal"])
    assert "the mean of all players is 0" in capsys.readouterr().out
    (folder,) = Path("runs").iterdir()
    assert folder.name.startswith("arena-3x3x3-")
    elos = [float(line["elo"]) for line in read(folder / "ratings.csv")]
    assert sum(elos) == pytest.approx(0, abs=1e-6)
    assert elos[0] > 50


def test_shares_and_scores_are_never_rounded_to_what_they_are_not() -> None:
    shares = {
        0: "0",
        1e-9: "<1",
        0.005: "<1",
        0.006: "1",
        0.128: "13",
        0.994: "99",
        0.995: ">99",
        0.9999: ">99",
        1: "100",
    }
    assert {share: percent(share) for share in shares} == shares
    scores = {0: "0", 1e-9: "0.001", 0.1284: "0.128", 0.5: "0.5", 0.5001: "0.500", 1 - 1e-9: "0.999", 1: "1"}
    assert {score: score_text(score) for score in scores} == scores


def test_the_results_of_eight_players_fit_80_characters() -> None:
    results = [[Result(0.58, 0.13, 0.29, (0.004, 0.1)) for _ in range(8)] for _ in range(8)]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(result_table(results))
    text = console.export_text()
    assert text.count("58/13/29") == text.count("!<1+10") == 64
    assert markdown(result_table(results)).count("| 58/13/29<br>!<1+10 |") == 8 * 4
    assert "!: games ended by a taken cell" in result_note(results)


def test_odd_names_are_shown_as_they_are() -> None:
    names = ["[bold]x[/bold]", "$a^b$"]
    ratings = [Rating(0, 0, 0), Rating(0, 0, 0)]
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(rating_table(names, ratings))
    text = console.export_text()
    assert all(name in text for name in names)
    assert names[0] in markdown(rating_table(names, ratings))
    assert png(score_figure(["$a^b$", "$"], np.zeros((2, 2)), "x")).startswith(b"\x89PNG")


def test_a_name_in_letters_that_the_font_lacks_is_drawn_without_a_warning() -> None:
    assert png(score_figure(["\u65e5\u672c", "random"], np.eye(2), "scores")).startswith(b"\x89PNG")
