"""Who can be chosen: named players, runs and built-ins. What is damaged says so, and what changes is loaded anew."""

import json
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import selfplay
from selfplay.algorithms import snapshot_steps
from selfplay.position import Position
from selfplay.tensor_file import write_tensors
from selfplay.training.folder import MODEL
from selfplay.web import catalogue, wrong
from selfplay.web.catalogue import Catalogue
from tests.malicious_files import MALICIOUS_FILES, MARKER
from tests.runs import refused, save, saved
from tests.selfplay.cli.test_own_agents import AGENTS
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.web.serving import serving
from tictactoe import Rules

ALWAYS = ["shipped", "random", "heuristic", "rule", "optimal"]
EMPTY = "board=" + "." * 9


def of(*named: str, runs: Path | None = None, rules: Rules | None = None) -> Catalogue:
    return Catalogue(named, runs, "absolute", rules or Rules())


def named(entries: list[dict[str, Any]]) -> list[str]:
    return [entry["name"] for entry in entries]


def test_without_runs_there_are_shipped_and_the_built_in_opponents(tmp_path: Path) -> None:
    entries = of(runs=tmp_path / "nothing").entries()
    assert named(entries) == ALWAYS
    assert [entry["index"] for entry in entries] == list(range(5))
    assert [entry["kind"] for entry in entries] == ["dqn", *["built-in"] * 4]
    assert [entry["values"] for entry in entries] == [entry["run"] for entry in entries] == [True, *[False] * 4]
    assert all(entry["error"] is entry["kept"] is None for entry in entries)
    assert all((entry["rows"], entry["cols"], entry["k"]) == (3, 3, 3) for entry in entries)


def test_who_was_named_comes_first_once_and_keeps_its_number(tmp_path: Path) -> None:
    saved(tmp_path / "one", mask=True)
    both = of(str(tmp_path / "one") + "/", "rule", "shipped", "rule", runs=tmp_path)
    assert named(both.entries()) == ["one", "rule", "shipped", "random", "heuristic", "optimal"]
    numbers = {entry["name"]: entry["index"] for entry in both.entries()}
    saved(tmp_path / "another", rows=3, cols=4, k=3, seed=7)
    entries = {entry["name"]: entry for entry in both.entries()}
    assert {name: entries[name]["index"] for name in numbers} == numbers
    another = entries["another"]
    assert (another["rows"], another["cols"], another["k"], another["kind"]) == (3, 4, 3, "dqn")
    assert another["differs"].endswith("seed 7")
    assert "mask" in entries["one"]["differs"]


def test_a_name_that_is_nobodys_is_refused(tmp_path: Path) -> None:
    assert "is neither a run folder" in refused(of, "nobody")
    assert "cannot be imported" in refused(of, "no_such_module:agent")
    (tmp_path / "empty").mkdir()
    assert "config.json" in refused(of, str(tmp_path / "empty"))


def test_own_agents_are_loaded_by_name_and_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "web_agents.py").write_text(AGENTS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [place for place in sys.path if place])
    names = [f"web_agents:{name}" for name in ("stubborn", "uniform", "fails", "draws")]
    with serving(*names) as served:
        entries = served.ask("/api/players").json["players"]
        assert named(entries) == [*names, *ALWAYS]
        assert [entry["kind"] for entry in entries[:4]] == ["own"] * 4
        assert not any(entry["values"] or entry["run"] for entry in entries[:4])
        stubborn, uniform, fails, draws = (entry["index"] for entry in entries[:4])
        shown = served.ask(f"/api/look?player={stubborn}&board=X........").json
        assert (shown["move"], shown["gives_away"]) == (0, True)
        assert shown["reply"] in range(1, 9)
        assert served.ask(f"/api/look?player={uniform}&board=X........").json["moves"] == list(range(1, 9))
        lost = served.ask(f"/api/lost?player={stubborn}").json
        assert len(lost["lines"]) == sum(min(number, 100) for number in lost["number"])
        for path in (f"look?player={fails}&{EMPTY}", f"wrong?player={fails}", f"lost?player={draws}"):
            answer = served.ask(f"/api/{path}")
            assert answer.status == 400
            assert "\n" not in answer.json["error"].strip()
        assert "answers the same positions differently" in served.ask(f"/api/wrong?player={draws}").json["error"]


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
@pytest.mark.parametrize("plant", MALICIOUS_FILES)
def test_a_damaged_run_is_an_entry_with_an_error(file: str, plant: str, tmp_path: Path) -> None:
    runs = tmp_path / "runs"
    saved(runs / "damaged")
    (runs / "damaged" / file).unlink()
    MALICIOUS_FILES[plant](runs / "damaged" / file)
    known = of(runs=runs)
    entry = known.entries()[0]
    assert entry["name"] == "damaged"
    assert entry["error"]
    assert "\n" not in entry["error"]
    assert refused(known.chosen, entry["index"])
    assert not list(tmp_path.rglob(MARKER))
    json.dumps(entry, allow_nan=False)


def test_a_run_without_a_player_yet_says_so_and_has_one_later(tmp_path: Path) -> None:
    saved(tmp_path / "young")
    content = (tmp_path / "young" / MODEL).read_bytes()
    (tmp_path / "young" / MODEL).unlink()
    known = of(runs=tmp_path)
    assert "did the run end?" in known.entries()[0]["error"]
    (tmp_path / "young" / MODEL).write_bytes(content)
    assert known.entries()[0]["error"] is None


def test_a_player_whose_file_has_changed_is_loaded_and_proved_anew(tmp_path: Path) -> None:
    config = saved(tmp_path / "run", seed=1)
    with serving(runs=tmp_path) as served:
        number = served.ask("/api/players").json["players"][0]["index"]
        paths = f"/api/look?player={number}&{EMPTY}", f"/api/wrong?player={number}", f"/api/lost?player={number}"
        before = [served.ask(path).json for path in paths]
        assert [served.ask(path).json for path in paths] == before
        write_tensors(tmp_path / "run" / MODEL, make(config_with(seed=2)).player().tensors())
        now = [served.ask(path).json for path in paths]
        assert now[0]["values"] == pytest.approx(
            selfplay.load(tmp_path / "run").q_values(opening())[0].tolist(), abs=1e-6
        )
        assert all(one != other for one, other in zip(before, now, strict=True))
    assert config.seed == 1


def opening() -> Any:
    return Position(Rules()).observation


def test_kept_players_are_looked_at_as_they_were(tmp_path: Path) -> None:
    selfplay.train(mask=True, total_steps=6_400, eval_every=1_600, run_dir=tmp_path / "run", seed=1000)
    steps = snapshot_steps(tmp_path / "run")
    assert len(steps) == 3
    with serving(runs=tmp_path) as served:
        entry = served.ask("/api/players").json["players"][0]
        assert entry["kept"] == {"unit": "plies", "steps": list(steps)}
        for number, at in enumerate(steps):
            shown = served.ask(f"/api/look?player={entry['index']}&{EMPTY}&kept={number}").json
            values = selfplay.load(tmp_path / "run", steps=at).q_values(opening())[0]
            assert shown["values"] == pytest.approx(values.tolist(), abs=1e-5)
        answer = served.ask(f"/api/look?player={entry['index']}&{EMPTY}&kept=3")
        assert (answer.status, answer.json["error"]) == (400, "run: has kept 3 players, and 3 is counted from 0")
        shipped = served.ask("/api/players").json["players"][1]["index"]
        assert served.ask(f"/api/look?player={shipped}&{EMPTY}&kept=0").status == 400


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("look?player=99&" + EMPTY, "there is no player 99"),
        ("look?player=-1&" + EMPTY, "player must be a number from 0, got '-1'"),
        ("look?player=1e3&" + EMPTY, "player must be a number from 0, got '1e3'"),
        ("look?player=9999999&" + EMPTY, "player must be a number from 0, got '9999999'"),
        ("look?player=%D9%A1&" + EMPTY, "player must be a number from 0"),
        ("look?player=shipped&" + EMPTY, "player must be a number from 0, got 'shipped'"),
        ("look?player=0", "board is missing"),
        ("look?" + EMPTY, "player is missing"),
        ("look?player=0&player=1&" + EMPTY, "a parameter stands there twice"),
        ("look?player=0&x=1&" + EMPTY, "there is no parameter 'x'"),
        ("look?player=0&board=X", "a board of 3,3,3 is 9 characters out of .XO"),
        ("look?player=0&kept=a&" + EMPTY, "kept must be a number from 0, got 'a'"),
        ("look?player=1&kept=0&" + EMPTY, "random: has no folder in which players are kept"),
        ("wrong?player=99", "there is no player 99"),
        ("lost", "player is missing"),
        ("players?x=1", "there is no parameter 'x'"),
    ],
)
def test_a_mistake_is_one_line(question: str, why: str) -> None:
    with serving() as served:
        answer = served.ask(f"/api/{question}")
        assert answer.status == 400
        assert answer.json["error"].startswith(why)


def test_only_the_newest_runs_are_listed_and_few_players_stay_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalogue, "MOST_RUNS", 2)
    monkeypatch.setattr(catalogue, "MOST_LOADED", 2)
    config = config_with()
    player = make(config).player()
    for number in range(4):
        save(tmp_path / f"run-{number}", config, player)
    (tmp_path / "other").mkdir()
    (tmp_path / "file").write_text("")
    known = of(runs=tmp_path)
    assert len([entry for entry in known.entries() if entry["name"].startswith("run-")]) == 2
    assert len(known._loaded) == 2


def test_a_proof_is_made_once_however_many_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, go_on = [], threading.Event()
    found = wrong.findings

    def slow(*args: Any) -> Any:
        asked.append(args)
        assert go_on.wait(30)
        return found(*args)

    monkeypatch.setattr(wrong, "findings", slow)
    with serving() as served:
        got: list[int] = []
        waiting = [
            threading.Thread(target=lambda: got.append(served.ask("/api/wrong?player=0").status)) for _ in range(60)
        ]
        for thread in waiting:
            thread.start()
        # While all of them wait, and they are more than there are threads for answers, a move is answered.
        assert served.ask(f"/api/look?player=0&{EMPTY}").status == 200
        assert got == []
        go_on.set()
        for thread in waiting:
            thread.join()
        assert got == [200] * 60
        assert served.ask("/api/lost?player=0").status == 200
    assert len(asked) == 1
