"""The mistakes made on purpose: each does what it says and nothing else, and the page shows what was measured."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.measuring import tables
from benchmarks.symptoms import __main__ as command, endless, loops, measures, numbers, table
from benchmarks.symptoms.experiments import EXPERIMENTS
from benchmarks.symptoms.learner import Learner, Transitions
from benchmarks.symptoms.loops import BOARDS, SPARSE, SelfPlay, Versus
from tictactoe import Rewards

PLIES = 40
DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def remembered(monkeypatch: pytest.MonkeyPatch) -> list[Transitions]:
    """Return what a loop tells its learner, which draws its moves and learns nothing."""
    told: list[Transitions] = []
    monkeypatch.setattr(Learner, "remember", lambda _self, new: told.append(new))
    monkeypatch.setattr(Learner, "learn", lambda _self: None)
    monkeypatch.setattr(loops, "EPSILON", 1.0)
    return told


def transitions(told: list[Transitions]) -> Transitions:
    """Return all of them as one."""
    return Transitions(*(np.concatenate(parts) for parts in zip(*told, strict=True)))


def marks(observations: Any) -> Any:
    """Return how many cells are empty, the mover's and the opponent's, [B, 3]."""
    return observations.reshape(len(observations), 9, 3).sum(axis=1)


def play(how: SelfPlay, told: list[Transitions]) -> Transitions:
    """Play some plies on every board."""
    told.clear()
    loops.self_play(how, seed=0, plies=PLIES * BOARDS)
    return transitions(told)


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
    wins, losses = (found.reward == 1).sum(), (found.reward == -1).sum()
    assert wins == losses > 50
    assert not found.goes_on[found.reward != 0].any()


def test_the_losers_last_move_can_be_left_out(remembered: list[Transitions]) -> None:
    told = play(SelfPlay(follows="own next turn"), remembered)
    untold = play(SelfPlay(follows="own next turn", loser_told=False), remembered)
    assert not (untold.reward < 0).any()
    assert (~told.goes_on).sum() == 2 * (~untold.goes_on).sum() > 100


def test_a_stale_mask_is_that_of_the_position_before(remembered: list[Transitions]) -> None:
    found = play(SelfPlay(stale_mask=True), remembered)
    empty = found.observation.reshape(-1, 9, 3)[..., 0] == 1
    assert (found.next_legal == empty).all()
    right = play(SelfPlay(), remembered)
    assert not (right.next_legal == (right.observation.reshape(-1, 9, 3)[..., 0] == 1)).all(axis=1).any()


@pytest.mark.parametrize("masked", ["moves", "nothing"])
def test_without_a_mask_the_target_looks_at_all_cells(remembered: list[Transitions], masked: Any) -> None:
    assert play(SelfPlay(masked=masked), remembered).next_legal.all()


def test_a_line_on_the_last_cell_can_be_missed(remembered: list[Transitions]) -> None:
    for how, wins in ((SelfPlay(), True), (SelfPlay(last_cell_wins=False), False)):
        found = play(how, remembered)
        last = marks(found.observation)[:, 0] == 1
        assert last.sum() > 50
        assert (found.reward[last] == 1).any() == wins
        assert (found.reward[~last] == 1).any()


def test_an_untrained_opponent_spoils_its_games_and_a_random_one_none() -> None:
    _, _, spoilt = loops.versus(Versus("untrained", masked="nothing"), seed=0, plies=PLIES * BOARDS)
    assert spoilt > 0.2
    _, _, spoilt = loops.versus(Versus(), seed=0, plies=PLIES * BOARDS)
    assert spoilt == 0


def test_the_loop_learns_and_the_seed_counts() -> None:
    position = np.eye(3, dtype=np.float32)[[[0] * 9]].reshape(1, 27)
    values = [loops.self_play(SelfPlay(), seed, 20 * BOARDS)[0].values(position).tolist() for seed in (0, 0, 1)]
    assert values[0] == values[1] != values[2]
    assert values[0] != Learner(0, -1).values(position).tolist()


def test_right_rewards_end_in_optimal_play_and_their_values_are_the_games() -> None:
    proof = endless.judged(endless.against_the_best(endless.paid(SPARSE)))
    assert proof.optimal
    assert proof.unbeatable
    values = endless.against_random(endless.paid(SPARSE), SPARSE.loss)
    against = endless.judged(values).first
    assert endless.opening(values)["worth of the corner"] == pytest.approx(against.win - against.loss)
    assert against.loss == 0


def test_a_draw_that_counts_as_a_loss_leaves_x_nothing_to_fight_for() -> None:
    values = endless.against_the_best(endless.paid(Rewards(draw=-1.0, allow=0.0)))
    proof = endless.judged(values)
    assert set(endless.opening(values).values()) == {-1}
    assert (proof.first.losses, proof.second.losses) == (7_920, 0)


def test_a_cheap_taken_cell_is_as_good_as_a_lost_position() -> None:
    counted = [
        endless.judged(endless.against_the_best(endless.paid(Rewards(illegal=price, allow=0.0)), barred=False))
        for price in (-10.0, -0.5, 0.0)
    ]
    assert counted[0].illegal_states == 0
    assert counted[0].optimal
    assert counted[1].illegal_states > 0
    assert counted[1].unbeatable
    assert counted[2].first.illegal > 0
    assert counted[2].second.illegal > 0


def test_a_table_learns_both_seats_by_itself_and_one_game_at_a_time() -> None:
    learned = table.learn("itself", "opponent's turn", 1.0, 2, seed=0)
    assert any(value for values in learned.values() for value in values.values())
    assert table.learn("random", "own next turn", 0.1, 300, seed=0) == table.learn(
        "random", "own next turn", 0.1, 300, seed=0
    )
    assert table.judged(table.learn("itself", "opponent's turn", 1.0, 60_000, seed=0)).games_lost < 20


def test_a_table_hears_of_the_moves_after_which_it_has_lost() -> None:
    learned = table.learn("itself", "own next turn", 1.0, 300, seed=0)
    numbers_learned = [value for values in learned.values() for value in values.values()]
    assert min(numbers_learned) < 0 < max(numbers_learned)


def test_ties_are_told_from_wins_and_from_taken_cells() -> None:
    class Plays:
        def __init__(self, cells: list[int]) -> None:
            self.cells = cells

        def act(self, observation: Any, action_mask: Any = None) -> Any:
            del action_mask
            return np.array([self.cells[9 - int(each[..., 0].sum())] for each in observation])

    assert measures.ties_with_itself(Plays([0, 1, 2, 4, 3, 5, 7, 6, 8]))
    assert not measures.ties_with_itself(Plays([0, 3, 1, 4, 2, 5, 6, 7, 8]))
    assert not measures.ties_with_itself(Plays([0, 1, 2, 4, 3, 5, 7, 6, 7]))


def test_numbers_are_written_and_read_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["last", "mask", "--part", "0.01", "--seeds", "0", "1", "--docs", str(tmp_path)])
    found = numbers.read(tmp_path / "symptoms.csv")
    assert {(each.what, each.seed) for each in found if each.symptom == "last"} == {
        ("exact", 0), ("learned", 0), ("learned", 1),
    }  # fmt: skip
    printed = capsys.readouterr().out
    assert "lost lines as X" in printed
    assert "size of what the target takes" in printed


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([3.0, 4.0], "4 (3 to 4)"),
        ([0.123, 0.5], "0.311 (0.123 to 0.500)"),
        ([99.73, 97.0], "98.4 (97.0 to 99.7)"),
        ([1.25, 1.25], "1.25"),
    ],
)
def test_numbers_have_the_digits_that_are_worth_showing(values: list[float], shown: str) -> None:
    assert numbers.cell("something", values) == shown
    assert numbers.cell(numbers.PROVED, [1.0, 0.0]) == "1 of 2"


@pytest.mark.parametrize("symptom", EXPERIMENTS)
def test_the_page_shows_what_was_measured(symptom: str) -> None:
    found = [each for each in numbers.read(DOCS / "symptoms.csv") if each.symptom == symptom]
    assert {each.what for each in found} == set(EXPERIMENTS[symptom])
    assert {each.seed for each in found} == set(range(5))
    page = (DOCS / "why-does-my-dqn-not-learn.md").read_text()
    assert tables.markdown(numbers.header(found), numbers.table_rows(found)) in page
