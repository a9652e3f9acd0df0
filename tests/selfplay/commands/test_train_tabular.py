"""`python train.py` with each published learner: the same run folder, help, mistakes and interruptions as the DQN's."""

import dataclasses
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import selfplay
from selfplay.algorithms import ALGORITHMS
from selfplay.commands import prove, train
from selfplay.dqn.config import DQNConfig
from selfplay.errors import UserError
from selfplay.tabular.config import MinimaxQConfig, TDBackupConfig
from tests.runs import ROOT, check_tensorboard, interrupt

OWN_FILES = {
    "minimax-q": {"table.csv"},
    "afterstate-q": {"curves.csv", "curves.png"},
    "td-value": {"curves.csv", "curves.png"},
    "td-backup": {"groups.csv", "groups.png", "values.png"},
}
EACH = pytest.mark.parametrize("algorithm", OWN_FILES)


@pytest.fixture(scope="module", params=OWN_FILES)
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    algorithm: str = request.param
    folder = tmp_path_factory.mktemp("training") / "it"
    train.main([algorithm, "--games", "20000", "--eval-every", "8000", "--run-dir", str(folder)])
    return algorithm, folder


def test_every_learner_is_an_algorithm() -> None:
    assert list(ALGORITHMS) == ["dqn", *OWN_FILES]


def test_what_the_run_folder_holds(finished: tuple[str, Path]) -> None:
    algorithm, folder = finished
    names = {path.name for path in folder.iterdir() if not path.name.startswith("events.out.tfevents")}
    common = {"config.json", "model.safetensors", "metrics.jsonl", "evaluation.json", "progress.png", "checkpoint"}
    assert names == common | OWN_FILES[algorithm]
    assert json.loads((folder / "config.json").read_text())["algorithm"] == algorithm
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["games"] for line in lines][:3] == [8_000, 16_000, 20_000]
    assert lines[0]["time/games_per_s"] > 0
    evaluation = json.loads((folder / "evaluation.json").read_text())
    assert lines[-1]["eval/optimal_states"] == evaluation["optimal_states"]
    assert evaluation == selfplay.evaluate(selfplay.load(folder), selfplay.load(folder).rules).as_dict()


def test_what_tensorboard_shows(finished: tuple[str, Path]) -> None:
    _, folder = finished
    check_tensorboard(folder, "games")


def test_the_saved_player_is_proved_again(finished: tuple[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    _, folder = finished
    prove.main([str(folder)])
    states = json.loads((folder / "evaluation.json").read_text())["optimal_states"]
    assert f"Its move is optimal in {states:,} of 4,520 decision states" in capsys.readouterr().out


@EACH
def test_what_is_printed_and_where_the_run_lies(
    algorithm: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    train.main([algorithm, "--seed", "7", "--games", "3000", "--eval-every", "1500"])
    output = capsys.readouterr().out
    (folder,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(rf"{algorithm}-3x3x3-7-games-3000-eval-every-1500-\d{{8}}-\d{{6}}", folder.name)
    for expected in (
        "A game of the player against itself",
        "lost game lines",
        "NOT unbeatable",
        f"-m selfplay prove runs/{folder.name}",
        "-m tensorboard.main --logdir runs",
        f"-m selfplay train {algorithm} --help",
    ):
        assert expected in output
    assert re.search(r"3,000 games: lost game lines [\d,]+ as X, [\d,]+ as O; illegal game lines [\d,]+ as X", output)


def test_a_proof_that_held_is_dated(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--rows", "1", "--cols", "3", "--games", "200", "--eval-every", "100", "--run-dir", str(tmp_path / "it")]
    train.main(["td-backup", *flags])
    output = capsys.readouterr().out
    assert "PROVED UNBEATABLE AND OPTIMAL" in output
    assert "It was proved from 100 games and" in output


def test_minimax_q_goes_on_from_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again = tmp_path / "first", tmp_path / "again"
    train.main(["minimax-q", "--games", "1000", "--run-dir", str(first)])
    train.main(["minimax-q", "--games", "0", "--from-table", str(first / "table.csv"), "--run-dir", str(again)])
    assert (again / "table.csv").read_bytes() == (first / "table.csv").read_bytes()
    assert (again / "evaluation.json").read_bytes() == (first / "evaluation.json").read_bytes()
    with pytest.raises(UserError, match="has files in it already"):
        train.main(["minimax-q", "--games", "1000", "--run-dir", str(first)])
    (tmp_path / "bad.csv").write_text("1,2,3\n")
    with pytest.raises(UserError, match=r"bad\.csv, line 1: must hold 9 numbers, but holds 3"):
        train.main(["minimax-q", "--from-table", str(tmp_path / "bad.csv"), "--run-dir", str(tmp_path / "third")])
    assert not (tmp_path / "third").exists()
    assert "0 games: lost game lines" in capsys.readouterr().out


def test_flags_are_read_for_the_algorithm_that_is_named() -> None:
    assert train.read(["minimax-q"])[0] == MinimaxQConfig()
    assert train.read(["td-backup", "--rows", "4", "--cols", "2"])[0] == TDBackupConfig(rows=4, cols=2)
    assert isinstance(train.read(["dqn", "--seed", "3"])[0], DQNConfig)


@pytest.mark.parametrize(
    ("args", "gist"),
    [
        (["minimaxq"], "there is no algorithm 'minimaxq'; choose one of dqn, minimax-q, afterstate-q, td-value, td-b"),
        (["minimax-q", "--gams", "3"], "perhaps you meant --games; selfplay train minimax-q --help lists every flag"),
        (["td-value", "--opponent", "me"], "invalid choice 'me' for argument '--opponent'"),
        (["afterstate-q", "--seat", "2"], "invalid choice '2' for argument '--seat'"),
        (["td-backup", "--rows", "5", "--cols", "4"], "a table for a 5x4 board holds 3^20 values of 8 bytes"),
        (["td-backup", "--rows", "1000000", "--cols", "100000"], "holds 3^100000000000 values"),
        (["minimax-q", "--eval-every", "0"], "--eval-every must be at least 1, got 0"),
        (["minimax-q", "--games", "0"], "--games must be at least 1, or 0 with --from-table, got 0"),
        (["minimax-q", "--rows", "4"], "Unrecognized options: --rows, 4"),
    ],
)
def test_a_mistake_is_one_line(args: list[str], gist: str) -> None:
    with pytest.raises(UserError) as caught:
        train.read(args)
    assert gist in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_mistake_ends_the_program_with_status_2(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "train.py"), "minimax-Q"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("python train.py: there is no algorithm 'minimax-Q'")
    assert done.stderr.count("\n") == 1


def help_of(args: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("COLUMNS", "200")
    with pytest.raises(SystemExit) as stop:
        train.read([*args, "--help"])
    assert not stop.value.code
    return capsys.readouterr().out


def test_the_help_shows_the_dqns_settings_and_names_the_others(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of([], capsys, monkeypatch)
    assert "Train a DQN" in text
    assert "--memory-size INT" in text
    for algorithm in OWN_FILES:
        assert re.search(rf"^  train {algorithm} +Train .*\.$", text, re.MULTILINE), algorithm


@EACH
def test_the_help_of_a_learner_documents_every_setting(
    algorithm: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = help_of([algorithm], capsys, monkeypatch)
    assert f"usage: selfplay train {algorithm}" in text
    for field in dataclasses.fields(ALGORITHMS[algorithm].settings):
        flag = f"--{field.name.replace('_', '-')}"
        entry = re.search(rf"^\W+{flag}( [A-Z{{]|, --no-).*?\(default: ", text, re.DOTALL | re.MULTILINE)
        assert entry, flag
        assert re.search(r"[A-Z]\w+ [a-z]+", entry.group()), flag


def test_an_interrupted_run_leaves_its_player(tmp_path: Path) -> None:
    folder = interrupt(["minimax-q", "--games", "1000000000000", "--eval-every", "20000"], tmp_path, evaluations=3)
    player = selfplay.load(folder)
    last = json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])
    assert selfplay.evaluate(player, player.rules).optimal_states > 0.8 * last["eval/optimal_states"]
