"""Every script measures, prints and writes, at the smallest settings; mistakes in its flags are named first."""

import importlib
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import harness
from benchmarks.environment import speed
from benchmarks.learning import article_speed, bigger_boards, repaired, targets
from benchmarks.peers import tuning
from docs import draw_page
from selfplay import DQNConfig
from selfplay.errors import UserError
from tests.runs import saved

QUICK = "--mask --num-envs 16 --hidden 8 --batch-size 32 --warmup 64 --memory-size 1000 --eval-every 512"
SEARCH = "--trials 1 --seeds 1000 --seconds 0.05 --evaluations 2 --final-seconds 0.1 --final-evaluations 2"
SCRIPTS: dict[str, tuple[str, list[str]]] = {
    "environment.speed": (
        "--rounds 1 --seconds 0.001",
        ["make_vec, 1,024, 4,4,4 / make_vec, 1,024, 3,3,3"],
    ),
    "environment.search": ("--boards 3x3x3 7x7x5 --times 1 --max-positions 5000", ["3x3x3", "not known"]),
    "environment.rule": ("--boards 3x3x3 --games 100", ["3x3x3", "never", "yes", "25", "70"]),
    "learning.article_speed": ("--steps 150 --seeds 1000", ["ours; theirs", "ratio"]),
    "learning.bigger_boards": ("--rows 1x3x3 --seeds 1000 --total-steps 4096 --games 20", ["1 of 1", "plies in all"]),
    "learning.learners": ("--shorten 1000 --seeds 1000", ["td-backup", "ties with itself"]),
    "learning.published": ("--seeds 1000 --match-up-seeds 1000 --shorten 100 --docs", ["| 58.5 | 28.8 | 12.7 |"]),
    "learning.repaired": ("--rows 3 --seeds 1000", ["certified positions", "| proved |", "| unbeatable |"]),
    "learning.targets": ("--seeds 1000 --total-steps 1024 --docs", ["negamax", "independent", "article"]),
    "learning.time_to_unbeatable": (
        "--modes mask --seeds 1000 --total-steps 2048 --unit-steps 200",
        ["mask", "unit", "one exact evaluation", "never"],
    ),
    "page": ("--times 1", ["requests 10,", "it needs no server"]),
    "peers": (
        "--players ours cleanrl-style --seeds 1000 --seconds 0.2 --evaluations 2 --docs",
        ["| ours, seed 1000 |", "not within"],
    ),
    "peers.tuning": (f"--players ours {SEARCH} --docs", ["ours, trial 0: ", "best of ours"]),
    "symptoms": (
        "last mask ties --part 0.01 --seeds 1000 --docs",
        ["games lost as X", "of these, it could be beaten at"],
    ),
}
"""Flags of each script, and some of what it prints."""
DOCS = Path(__file__).parents[2] / "docs"


def load(script: str) -> ModuleType:
    module = f"benchmarks.{script}"
    return importlib.import_module(f"{module}.__main__" if script in ("peers", "symptoms") else module)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make what no flag makes smaller small."""
    monkeypatch.setattr(bigger_boards, "ROWS", {"1x3x3": f"--rows 1 --cols 3 --k 3 {QUICK}"})
    monkeypatch.setattr(repaired, "FLAGS", f"--total-steps 1024 {QUICK}")
    monkeypatch.setattr("selfplay.train", lambda run_dir: saved(Path(run_dir)))
    monkeypatch.setattr(targets, "DQNConfig", lambda **settings: DQNConfig(**settings | {"eval_every": 512}))
    monkeypatch.setattr(article_speed, "WARM_UP_STEPS", 120)
    for name in ("ONE_BOARD_PLIES", "MANY_BOARDS_PLIES"):
        monkeypatch.setattr(speed, name, 32)
    monkeypatch.setattr(speed, "BOARDS", (1, 64))
    monkeypatch.setattr(tuning, "train_fresh", lambda *args: (tuning.train(*args), ""))
    monkeypatch.setattr(harness, "pin_to_one_core", lambda _: None)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_measures_prints_and_writes(
    script: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    flags, expected = SCRIPTS[script]
    if script == "peers.tuning":
        pytest.importorskip("optuna")  # of the extras `bench` and `sweep`
    if script == "page":  # two of its drivers cannot be in a process
        monkeypatch.setattr(draw_page, "chromium", partial(nullcontext, request.getfixturevalue("browser")))
    args = flags.split()
    if args[-1] == "--docs":
        args.append(str(tmp_path))
    if script == "peers.tuning":
        args += ["--dir", str(tmp_path / "search")]
    load(script).main(args)
    printed = capsys.readouterr().out
    assert [text for text in expected if text not in printed] == []
    written = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert bool(written) == ("--docs" in args)
    assert written <= {path.name for path in DOCS.rglob("*")}
    assert any('"commit"' in path.read_text() for path in tmp_path.glob("data/*.json")) == bool(written)
    for picture in tmp_path.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


MISTAKES = [
    ("environment.speed", "--seconds nan", "--seconds must be above 0"),
    ("environment.speed", "--subjects", "--subjects must be at least one"),
    ("environment.search", "--boards 3x3x4", "--boards must be named as in 5x5x4, got '3x3x4'"),
    ("environment.speed", "--docs nowhere", "nowhere: is not a folder; make it first"),
    ("learning.bigger_boards", "--rows 9x9x9", "--rows must be some of 1x3x3"),
    ("learning.waiting", "--seeds none", "none"),
    ("page", "", "no program called chromium is installed"),
    ("peers", "--docs docs --seconds 3", r"docs: its peers.csv holds runs of 30\d s; train as long, or name another"),
    ("peers.tuning", "--docs docs --final-seconds 3", r"docs: its peers.csv holds runs of 30\d s"),
    ("peers.tuning", "--dir pyproject.toml", "pyproject.toml: is not a folder"),
    ("peers.tuning", "--processes 9999", "--processes must be at most the cores"),
    ("sweeps.disturbed", "--pairs 0", "--pairs must be at least 1"),
    ("sweeps.evidence", "", "sweep"),
]


@pytest.mark.usefixtures("in_a_command")
@pytest.mark.parametrize(("script", "args", "message"), MISTAKES)
def test_a_mistake_is_named_before_anything_is_measured(
    script: str, args: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match=message):
        load(script).main(args.split())
