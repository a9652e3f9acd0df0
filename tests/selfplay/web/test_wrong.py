"""The states that are wrong and the lines that are lost are those of the proof, and what is said of them is true."""

from typing import Any

import numpy as np
import pytest

import selfplay
from selfplay.evaluation.agents import AgentPolicy, built_in_policy, player_policy
from selfplay.evaluation.evaluate import evaluate_policy
from selfplay.evaluation.exact import NAMES
from selfplay.evaluation.report import verdict_text
from selfplay.position import Position, read_board
from selfplay.web import wrong
from selfplay.web.wrong import ILLEGAL, findings
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import FirstTwo, ScriptedPlayer, first_empty, random_table, stubborn
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS

SEED = 1000
LOOKED_AT = 400
"""Of all wrong states, one by one."""
VALUES = {name: value for value, name in NAMES.items()} | {"illegal": ILLEGAL}


def scripted(player: Any, rules: Rules | None = None) -> AgentPolicy:
    return AgentPolicy(player, rules or Rules(), "mover", twice=False)


def worth(position: Position) -> int:
    """Return the value of a position to the seat that moves there."""
    return solve(position.rules).lookup(position.mover, position.opponent)[0]


def after(position: Position, cell: int) -> int:
    """Return what a move is worth to the seat that makes it."""
    return -worth(position.after(cell)) if cell in position.empty else ILLEGAL


BAD = [
    pytest.param(lambda: scripted(ScriptedPlayer(first_empty)), id="first empty"),
    pytest.param(lambda: scripted(ScriptedPlayer(stubborn)), id="stubborn"),
    pytest.param(lambda: scripted(random_table(Rules(), SEED, careless=0.1)), id="random"),
    pytest.param(lambda: scripted(FirstTwo()), id="drawing"),
    pytest.param(lambda: built_in_policy(OPPONENTS["rule"], Rules()), id="rule"),
    pytest.param(lambda: player_policy(make(config_with(seed=SEED, symmetry="none")).player()), id="network"),
    pytest.param(lambda: player_policy(make(config_with(seed=SEED, symmetry="canonical")).player()), id="canonical"),
]


@pytest.mark.parametrize("make_judge", BAD)
def test_the_wrong_states_of_a_small_board_are_those_of_the_proof(
    make_judge: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wrong, "MOST_STATES", 10_000)
    judge: AgentPolicy = make_judge()
    found, proof = findings(judge, None).wrong, evaluate_policy(judge)
    assert found["verdict"] == verdict_text(proof)
    assert (found["kind"], found["complete"]) == ("optimal", True)
    assert found["number"] == proof.decision_states - proof.optimal_states == len(found["states"])
    assert sum(state["to"] == "illegal" for state in found["states"]) == proof.illegal_states
    assert len({state["board"] for state in found["states"]}) == len(found["states"])
    lost = [VALUES[state["from"]] - VALUES[state["to"]] for state in found["states"]]
    assert min(lost) > 0
    assert lost == sorted(lost, reverse=True)
    for state in found["states"][:: len(lost) // LOOKED_AT + 1]:
        position = read_board(judge.rules, state["board"])
        assert judge.probabilities(*position.words)[0, state["move"]] > 0
        assert VALUES[state["from"]] == worth(position)
        assert VALUES[state["to"]] == after(position, state["move"])
        assert [cell for cell in position.empty if after(position, cell) == worth(position)] == state["best"]
        assert state["learned"] is None


def test_of_many_states_the_worst_are_shown_with_what_was_learned() -> None:
    player = make(config_with(seed=SEED)).player()
    found = findings(player_policy(player), player).wrong
    assert found["number"] > len(found["states"]) == wrong.MOST_STATES
    assert {(state["from"], state["to"]) for state in found["states"]} == {("win", "illegal")}
    for state in found["states"]:
        values = player.q_values(read_board(Rules(), state["board"]).observation)[0]
        assert state["learned"] == pytest.approx(float(values[state["move"]]), abs=1e-5)
        assert state["move"] == int(values.argmax())


@pytest.mark.parametrize("make_judge", BAD)
def test_lost_lines_are_told_as_they_go(make_judge: Any) -> None:
    judge: AgentPolicy = make_judge()
    player: Any = judge.agent if isinstance(judge, AgentPolicy) and hasattr(judge.agent, "q_values") else None
    proof, found = evaluate_policy(judge), findings(judge, player).lost
    assert found["complete"]
    assert found["number"] == [seat.losses + seat.illegal for seat in (proof.first, proof.second)]
    for seat in (0, 1):
        lines = [line for line in found["lines"] if line["seat"] == seat]
        assert len(lines) == min(found["number"][seat], wrong.MOST_LINES)
        assert [len(line["cells"]) for line in lines] == sorted(len(line["cells"]) for line in lines)
        for line in lines:
            assert_told(judge, player, line)


def assert_told(judge: AgentPolicy, player: Any, line: dict[str, Any]) -> None:
    """Play a line, and compare what is said of each move with the solution of the game."""
    position, turning = Position(judge.rules), None
    for ply, cell in enumerate(line["cells"]):
        if ply % 2 == line["seat"]:
            assert judge.probabilities(*position.words)[0, cell] > 0
            value = after(position, cell)
            assert VALUES[line["exact"][ply]] == value
            if turning is None and value < worth(position):
                turning = ply
            if player is not None:
                learned = player.q_values(position.observation)[0][cell]
                assert line["learned"][ply] == pytest.approx(float(learned), abs=1e-5)
        else:
            assert (line["exact"][ply], line["learned"][ply]) == (None, None)
        last = ply == len(line["cells"]) - 1
        assert (cell not in position.empty) is (last and line["illegal"])
        if cell in position.empty:
            position = position.after(cell)
            assert position.over is last
    assert line["turning"] == turning is not None
    if not line["illegal"]:
        assert position.winner == 1 - line["seat"]


def test_of_an_optimal_player_there_is_nothing_to_list() -> None:
    found = findings(player_policy(selfplay.load("shipped")), None)
    assert (found.wrong["number"], found.wrong["states"]) == (0, [])
    assert (found.lost["number"], found.lost["lines"]) == ([0, 0], [])


def test_on_a_board_that_is_not_solved_the_beaten_positions_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong, "MOST_STATES", 20)
    player = make(config_with(rows=4, cols=4, k=4, symmetry="none", seed=SEED)).player()
    judge = player_policy(player)
    found, whole = findings(judge, player), selfplay.counterexamples(player, player.rules)
    assert (found.wrong["kind"], found.wrong["complete"]) == ("beaten", True)
    assert found.wrong["number"] == len(whole.mover)
    beaten = set(zip(whole.mover.tolist(), whole.opponent.tolist(), strict=True))
    for state in found.wrong["states"]:
        position = read_board(player.rules, state["board"])
        assert (position.mover, position.opponent) in beaten
        assert state["move"] == int(judge.cells(*position.words)[0])
        assert state["from"] in VALUES
        assert state["to"] in VALUES
        assert state["best"]
    given = [VALUES[state["from"]] - VALUES[state["to"]] for state in found.wrong["states"]]
    assert given == sorted(given, reverse=True)
    assert {line["seat"] for line in found.lost["lines"]} == {0, 1}


def test_of_too_many_positions_numbers_are_not_claimed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong, "POSITIONS_OF_MANY_CELLS", 50)
    monkeypatch.setattr(wrong, "SEARCHED", 1)
    rules = Rules(6, 6, 4)
    found = findings(scripted(ScriptedPlayer(first_empty), rules), None)
    assert (found.wrong["complete"], found.lost["complete"]) == (False, False)
    assert found.wrong["number"] >= len(found.wrong["states"]) > 0
    assert found.lost["number"] == [None, None]
    assert found.lost["lines"]
    assert "too many positions to follow" in found.wrong["verdict"]
    assert any(line["turning"] is None and None in line["exact"][line["seat"] :: 2] for line in found.lost["lines"])


def test_a_board_of_64_cells_is_listed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wrong, "POSITIONS_OF_MANY_CELLS", 3)
    monkeypatch.setattr(wrong, "SEARCHED", 1)

    def last_empty(mine: set[int], theirs: set[int]) -> int:
        return max(set(range(64)) - mine - theirs)

    rules = Rules(8, 8, 3)
    found = findings(scripted(ScriptedPlayer(last_empty), rules), None)
    assert found.lost["lines"]
    for state in found.wrong["states"]:
        assert read_board(rules, state["board"]).mover >= 0
    assert any(63 in line["cells"] for line in found.lost["lines"])
    assert np.isin([line["seat"] for line in found.lost["lines"]], (0, 1)).all()
