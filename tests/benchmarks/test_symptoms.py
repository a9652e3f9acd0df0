"""The mistakes made on purpose: each does what it says and nothing else, and the data file holds what was measured."""

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.dqn import DQN, Settings, Transitions
from benchmarks.learning.learners import ties_with_itself
from benchmarks.symptoms import __main__ as command, experiments, loops, table
from benchmarks.symptoms.experiments import EXPERIMENTS
from benchmarks.symptoms.loops import BOARDS, SelfPlay, Versus

PLIES = 40
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> list[Transitions]:
    """Return what a loop stores; its moves are random, and it learns nothing."""
    told = []
    monkeypatch.setattr(DQN, "remember", lambda _self, new: told.append(new))
    monkeypatch.setattr(loops, "EPSILON", 1.0)
    return told


def play(how: SelfPlay, told: list[Transitions]) -> Transitions:
    """Play some plies on every board, and return all transitions as one."""
    told.clear()
    loops.self_play(how, seed=0, plies=PLIES * BOARDS)
    return Transitions(*(np.concatenate(parts) for parts in zip(*told, strict=True)))


def marks(observations: Any) -> Any:
    """Return how many cells are empty, the mover's and the opponent's, [B, 3]."""
    return observations.reshape(len(observations), 9, 3).sum(axis=1)


def test_the_opponents_turn_follows_every_move(remembered: list[Transitions]) -> None:
    found = play(SelfPlay(), remembered)
    assert len(found.action) == PLIES * BOARDS
    on = found.goes_on
    before, after = marks(found.observation[on]), marks(found.next_observation[on])
    assert (after == before[:, [0, 2, 1]] + np.array([-1, 0, 1])).all()  # whose marks were mine are now the opponent's
    assert (found.next_legal[on].sum(axis=1) == after[:, 0]).all()
    assert set(found.reward.tolist()) == {0, 1}
    assert (found.reward[on] == 0).all()


def test_my_own_next_turn_follows_a_move_and_the_loser_is_told(remembered: list[Transitions]) -> None:
    found = play(SelfPlay(follows="own next turn"), remembered)
    on = found.goes_on
    before, after = marks(found.observation[on]), marks(found.next_observation[on])
    assert (after == before + np.array([-2, 1, 1])).all()
    assert (found.next_legal[on].sum(axis=1) == after[:, 0]).all()
    assert (found.reward == 1).sum() == (found.reward == -1).sum() > 50
    assert not found.goes_on[found.reward != 0].any()
    untold = play(SelfPlay(follows="own next turn", loser_told=False), remembered)
    assert not (untold.reward < 0).any()
    assert (~found.goes_on).sum() == 2 * (~untold.goes_on).sum()


def test_a_stale_mask_is_that_of_the_position_before(remembered: list[Transitions]) -> None:
    for stale in (True, False):
        found = play(SelfPlay(stale_mask=stale), remembered)
        empty = found.observation.reshape(-1, 9, 3)[..., 0] == 1
        assert (found.next_legal == empty).all(axis=1).tolist() == [stale] * len(empty)
    for masked in ("moves", "nothing"):
        assert play(SelfPlay(masked=masked), remembered).next_legal.all()


def test_a_line_on_the_last_cell_can_be_missed(remembered: list[Transitions]) -> None:
    for last_cell_wins in (True, False):
        found = play(SelfPlay(last_cell_wins=last_cell_wins), remembered)
        last = marks(found.observation)[:, 0] == 1
        assert last.sum() > 50
        assert (found.reward[last] == 1).any() == last_cell_wins
        assert (found.reward[~last] == 1).any()


def test_an_untrained_opponent_spoils_its_games_and_a_random_one_none() -> None:
    assert loops.versus(Versus("untrained", masked="nothing"), seed=0, plies=PLIES * BOARDS)[1] > 0.2
    assert loops.versus(Versus(), seed=0, plies=PLIES * BOARDS)[1] == 0


def test_the_loop_learns_and_the_seed_counts() -> None:
    position = np.eye(3, dtype=np.float32)[[[0] * 9]].reshape(1, 27)
    learned = [loops.self_play(SelfPlay(), seed, 20 * BOARDS)[0] for seed in (0, 0, 1)]
    values = [loops.values(dqn, position).tolist() for dqn in (*learned, loops.make_dqn(0, -1))]
    assert values[0] == values[1] != values[2]
    assert values[0] != values[3]


def test_a_table_learns_and_hears_of_the_moves_after_which_it_lost() -> None:
    assert table.evaluate(table.learn("itself", "opponent's turn", 1.0, 60_000, seed=0)).games_lost < 20
    learned = [table.learn("random", "own next turn", 0.1, 300, seed=seed) for seed in (0, 0, 1)]
    assert learned[0] == learned[1] != learned[2]
    of_both = table.learn("itself", "own next turn", 1.0, 300, seed=0)
    numbers = [value for of_position in of_both.values() for value in of_position.values()]
    assert min(numbers) < 0 < max(numbers)


def plays(*cells: int) -> Any:
    """Return an agent that plays these cells in order."""
    return SimpleNamespace(act=lambda observation: np.array([cells[9 - int(observation[..., 0].sum())]]))


def test_only_a_draw_is_a_tie() -> None:
    assert ties_with_itself(plays(0, 1, 2, 4, 3, 5, 7, 6, 8))
    assert not ties_with_itself(plays(0, 3, 1, 4, 2, 5, 6, 7, 8))
    assert not ties_with_itself(plays(0, 1, 2, 4, 3, 5, 7, 6, 7))


def verdict(*seats: tuple[int, int, float]) -> Any:
    """Return an evaluation with the games lost and illegal games of each seat, and its losses to random moves."""
    first, second = (SimpleNamespace(losses=lost, illegal=illegal, loss=loss) for lost, illegal, loss in seats)
    total = sum(lost + illegal for lost, illegal, _ in seats)
    return SimpleNamespace(first=first, second=second, games_lost=total, unbeatable=total == 0)


def test_what_becomes_of_the_first_proof_is_counted_from_it_on(monkeypatch: pytest.MonkeyPatch) -> None:
    history = [
        SimpleNamespace(steps=steps, evaluation=verdict((lost, 0, 0), (0, lost // 2, 0)), player=lost)
        for steps, lost in ((100, 9), (200, 0), (300, 3), (400, 1), (500, 0), (600, 2))
    ]
    monkeypatch.setattr(experiments, "records", lambda *_: history)
    end = {"proved": False, "games lost as X": 2, "games lost as O": 0, "illegal games": 1}
    assert experiments.past_proof("", 0, 1.0) == end | {
        "plies to the first proof": 200,
        "evaluations from then on, % not proved": pytest.approx(60),
        "most games lost then": 4,
    }
    monkeypatch.setattr(experiments, "ties_with_itself", lambda lost: lost in (0, 1, 2))
    assert experiments.ties("", 0, 1.0) == end | {
        "evaluations at which it ties with itself": 4,
        "of these, it could be beaten at": 2,
        "most games lost then": 3,
    }


def test_what_a_random_opponent_does_not_win_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiments, "versus", lambda *_: (verdict((1, 2, 0.25), (4, 8, 0.125)), 0.5))
    assert experiments.single(Versus(), 0, 1.0) == {
        "proved": False,
        "games lost as X": 1,
        "games lost as O": 4,
        "illegal games": 10,
        "% not lost to random as X": 75,
        "% not lost to random as O": 87.5,
        "% of games the opponent spoilt": 50,
    }


def test_a_run_is_looked_at_after_a_quarter_and_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def self_play(_how: SelfPlay, _seed: int, plies: int, watch: Any) -> tuple[list[Any], Any]:
        return [watch(ply, ply) for ply in range(BOARDS, plies + 1, BOARDS)], verdict((0, 0, 0), (0, 0, 0))

    monkeypatch.setattr(experiments, "self_play", self_play)
    monkeypatch.setattr(experiments, "target_size", lambda ply: ply)
    found = experiments.own(SelfPlay(), 0, 10 * BOARDS / experiments.PLIES, watched=experiments.SIZE)
    assert {
        f"{experiments.SIZE}, at a quarter": 2 * BOARDS,
        f"{experiments.SIZE}, at the end": 640,
    }.items() <= found.items()


def test_the_size_of_the_target_is_that_of_the_newest_2_000_positions() -> None:
    dqn = DQN(Settings(memory_size=3_000), seed=0)
    dqn.target_network = lambda inputs: inputs[:, :9]  # type: ignore[assignment]
    number = np.arange(4_000)
    values = np.repeat(-number[:, None] - 1.0, 27, axis=1).astype(np.float32)
    values[:, 8] = 10_000  # the highest, of a cell that the target leaves out
    legal = np.arange(9) < np.full((4_000, 1), 8)
    nothing = np.zeros(4_000, np.float32)
    dqn.remember(Transitions(values, number, nothing, number % 2 == 0, values, legal))
    assert experiments.target_size(dqn) == number[2_000::2].mean() + 1


def learned(*symptoms: str) -> Iterator[tuple[str, Any]]:
    """Yield the name of each row that is learned, and what it is learned with."""
    for symptom in symptoms:
        for name, row in EXPERIMENTS[symptom].items():
            if not name.startswith("exact"):
                yield name, row.args if symptom == "table" else row.args[0]  # type: ignore[attr-defined]


def test_each_row_learns_as_its_name_says() -> None:
    for name, (opponent, follows, epsilon) in learned("table"):
        assert (name.split(" ")[0], name.endswith(f" {epsilon:g}")) == (follows.split(" ")[0], True)
        assert (opponent == "random") == ("random opponent" in name)
    for name, how in learned("next", "mask"):
        own = "own next turn" in name
        assert (how.follows == "own next turn", how.sign == 1) == (own, "plus" in name or (own and "minus" not in name))
        assert (how.loser_told, how.stale_mask) == ("left out" not in name, "before" in name)
        assert how.masked == ("moves" if "only" in name else "moves and targets")
    for name, how in learned("illegal"):
        assert (how.masked, f"illegal {how.rewards.illegal:g}") == ("nothing", name)
    for name, how in learned("opponent", "block"):
        if name != "itself":
            assert (how.opponent in name, how.seat) == (True, 0 if "always X" in name else "random")
            assert how.rewards.allow == (-1 if "-1" in name else 0)


def test_the_data_file_holds_every_row_and_what_is_exact_comes_out_again() -> None:
    measured = command.read(DOCS)
    assert {symptom: rows.keys() for symptom, rows in measured.items()} == {
        symptom: rows.keys() for symptom, rows in EXPERIMENTS.items()
    }
    for symptom, rows in measured.items():
        for what, results in rows.items():
            if what.startswith("exact"):
                assert [EXPERIMENTS[symptom][what](0, 1.0)] == [pytest.approx(result, abs=1e-4) for result in results]
            else:
                assert len(results) == 5


def test_other_symptoms_keep_their_rows_in_the_data_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = {"proved": True, "illegal games": 0.0, "x": -2.0}
    what = {name: {"row": lambda _seed, _part: result} for name in ("a", "b")}
    monkeypatch.setattr(command, "EXPERIMENTS", what)
    for symptom in ("a", "b", "a"):
        command.main([symptom, "--seeds", "0", "--docs", str(tmp_path)])
    assert command.read(tmp_path) == {name: {"row": [result]} for name in ("a", "b")}
