"""The comparison with other libraries judges what their networks play, at the times it says, and keeps what it saw."""

import importlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from benchmarks.cleanrl_style import QNetwork
from benchmarks.peers import __main__ as peers
from benchmarks.peers import judging, report
from benchmarks.peers.judging import Judged, Training
from selfplay.agent import Agent
from selfplay.errors import UserError
from selfplay.evaluation import chosen_actions, evaluate
from selfplay.player import QPlayer
from tictactoe import Rules, batch, solve

RULES = Rules()
Planes = NDArray[np.int8]


def load(name: peers.Name) -> Any:
    """Import a learner's file, or skip the test with how to install what it needs."""
    learner = peers.LEARNERS[name]
    if lacking := peers.missing(learner):
        pytest.skip(f"no {' and no '.join(lacking)} here: {learner.install}")
    return importlib.import_module(f"benchmarks.peers.{learner.module}")


def decision_states() -> tuple[Planes, Planes]:
    """Return the mover's view [S, 3, 3, 3] and the legal cells [S, 9] of every decision state."""
    tree = solve(RULES).tree
    mover, opponent = (marks[tree.decisions].astype(np.int64) for marks in (tree.mover, tree.opponent))
    observations = batch.observe(RULES, batch.State(mover, opponent, ply=np.zeros_like(mover)), "mover")
    return observations, observations[..., 0].reshape(-1, 9)


def choices(player: Agent) -> NDArray[np.integer[Any]]:
    """Return what the evaluation sees the player choose in every decision state."""
    tree = solve(RULES).tree
    return chosen_actions(player, tree)[tree.decisions]


def untrained(name: peers.Name, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Training]:
    module = load(name)
    if hasattr(module, "TRIAL_STEPS"):
        monkeypatch.setattr(module, "TRIAL_STEPS", 300)
    return module, module.make(1000, 0.01)


def train_for(training: Training, steps: int) -> list[int]:
    """Return the updates done by each of so many ticks."""
    ticks: list[int] = []

    def tick(updates: int) -> bool:
        ticks.append(updates)
        return len(ticks) < steps

    training.run(tick)
    return ticks


@pytest.mark.parametrize(
    ("name", "steps", "updates"),
    [
        ("ours", 12, 9),  # 256 plies a step, the first update at 1,024
        ("stable-baselines3", 1_100, 128),  # 128 updates after each 256 steps, first after 1,024
        ("cleanrl-style", 10_101, 10),  # an update in ten steps from 10,000 on
        ("open-spiel", 300, None),
        ("tianshou", 7, 4),  # the seats take turns
    ],
)
def test_a_learner_learns_until_told_to_stop(
    name: peers.Name, steps: int, updates: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, training = untrained(name, monkeypatch)
    assert isinstance(training.player, QPlayer)
    before = [weight.clone() for network in training.player.networks for weight in network.parameters()]
    choices_before = choices(training.player)
    ticks = train_for(training, steps)
    assert len(ticks) == steps
    after = [weight for network in training.player.networks for weight in network.parameters()]
    if updates is None:
        assert ticks[-1] > 0
    else:
        assert ticks[-1] == updates
    assert not any(map(torch.equal, before, after))
    assert (choices(training.player) != choices_before).any()


def test_the_player_of_stable_baselines3_plays_its_own_predictions(monkeypatch: pytest.MonkeyPatch) -> None:
    module, training = untrained("stable-baselines3", monkeypatch)
    model = module.make_model(1001, 100)
    assert isinstance(training.player, QPlayer)
    training.player.networks = (model.q_net,)
    observations, _ = decision_states()
    predicted, _ = model.predict(observations, deterministic=True)
    assert np.array_equal(choices(training.player), predicted)
    assert len(predicted) == 4_520
    assert len(set(predicted.tolist())) > 1


def test_stable_baselines3_explores_over_the_steps_that_it_is_told() -> None:
    model = load("stable-baselines3").make_model(1000, exploration_steps=200)
    epsilons = [model.exploration_schedule(1 - steps / 10**9) for steps in (0, 100, 200, 10_000)]
    assert epsilons == pytest.approx([1, 0.52, 0.04, 0.04])


def test_the_player_in_cleanrls_manner_plays_the_arg_max_of_flat_observations(monkeypatch: pytest.MonkeyPatch) -> None:
    module, training = untrained("cleanrl-style", monkeypatch)
    assert isinstance(training.player, QPlayer)
    network = training.player.networks[0]
    assert isinstance(network, QNetwork)
    observations, _ = decision_states()
    with torch.no_grad():
        greedy = network(torch.as_tensor(observations.reshape(-1, 27))).argmax(dim=1).numpy()
    assert np.array_equal(choices(training.player), greedy)
    seen, _ = module.make_game().reset(seed=1000)
    assert seen.shape == (3, 3, 3)


def test_the_player_of_open_spiel_plays_what_its_agents_do_when_they_are_evaluated() -> None:
    module = load("open-spiel")
    environment = module.rl_environment.Environment("tic_tac_toe")
    agents = module.make_agents(1000, environment)
    chosen = dict(zip(keys(), choices(module.player(agents)).tolist(), strict=True))
    compared = set()
    environment.reset()
    for state in every_decision(environment.get_state):
        environment.set_state(state.clone())
        moment = environment.get_time_step()
        mover = state.current_player()
        marks = np.array(state.observation_tensor()).reshape(3, 9)[1:]  # O, X
        key = (bits(marks[1 - mover]), bits(marks[mover]))
        assert agents[mover].step(moment, is_evaluation=True).action == chosen[key]
        compared.add(key)
    assert len(compared) == 4_520


def test_the_player_of_tianshou_plays_what_its_policies_do_without_exploration() -> None:
    module = load("tianshou")
    data = importlib.import_module("tianshou.data")
    space = module.make_game().action_space
    learners = [module.make_learner(space) for _ in range(2)]
    observations, legal = decision_states()
    marks = observations[..., 1:].sum(axis=(1, 2))
    second = marks[:, 0] != marks[:, 1]
    chosen = choices(module.player(learners))
    for seat, of_seat in enumerate((~second, second)):
        seen = data.Batch(obs=observations[of_seat], mask=legal[of_seat] == 1)
        with torch.no_grad():
            played = learners[seat].policy(data.Batch(obs=seen, info=data.Batch())).act
        assert np.array_equal(chosen[of_seat], played)
    assert (second.sum(), (~second).sum()) == (2_097, 2_423)


def test_tianshous_game_shows_each_mover_its_own_marks_first_and_the_legal_cells() -> None:
    game = load("tianshou").make_game()
    seen, rewards, *_ = game.step(4)
    assert seen["obs"][..., 2].reshape(9).nonzero()[0].tolist() == [4]
    assert seen["obs"][..., 1].sum() == 0
    assert seen["mask"] == [cell != 4 for cell in range(9)]
    for cell in (0, 2, 1, 6):
        seen, rewards, *_ = game.step(cell)
    assert rewards == [1.0, -1.0]


def keys() -> Iterator[tuple[int, int]]:
    """Return the bits of the mover's and the opponent's marks of every decision state."""
    tree = solve(RULES).tree
    return ((int(tree.mover[state]), int(tree.opponent[state])) for state in tree.decisions)


def bits(marks: NDArray[np.float64]) -> int:
    return int(sum(1 << cell for cell in np.flatnonzero(marks)))


def every_decision(state: Any) -> Iterator[Any]:
    """Return every decision state of OpenSpiel's game that can be reached from one, once each."""
    waiting, known = [state], set()
    while waiting:
        state = waiting.pop()
        if state.is_terminal() or str(state) in known:
            continue
        known.add(str(state))
        yield state
        waiting += [state.child(cell) for cell in state.legal_actions()]


class Time:
    """Tell the time that the test sets."""

    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class SlowFirstEmpty:
    """Take the first empty cell, and a hundred seconds for it."""

    def __init__(self, time: Time) -> None:
        self.time = time

    def act(self, observation: Planes, _: object = None) -> Planes:
        self.time.seconds += 100
        empty: Planes = observation[..., 0].reshape(len(observation), -1).argmax(axis=1)
        return empty


def test_the_clock_stands_still_during_evaluations() -> None:
    now = Time()
    player = SlowFirstEmpty(now)
    clock = judging.Clock(player, [2, 4.5], "ours", 1000, now)
    answers = []
    for updates in range(5):
        now.seconds += 1
        answers.append(clock(updates))
    assert answers == [True, True, True, True, False]
    assert [(line.seconds, line.updates) for line in clock.history] == [(2, 1), (5, 4)]
    expected = evaluate(player, RULES)
    assert (clock.history[0].first_losses, clock.history[0].second_losses) == (
        expected.first.losses,
        expected.second.losses,
    )
    assert clock.history[0].bad_lines > 0


def test_a_run_tells_what_part_of_its_time_it_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    wall, work = Time(), Time()

    def run(tick: judging.Tick) -> None:
        tick(0)
        wall.seconds += 8
        work.seconds += 6

    monkeypatch.setattr(time, "perf_counter", wall)
    monkeypatch.setattr(time, "process_time", work)
    player = SlowFirstEmpty(Time())
    measured = judging.measure("ours", lambda *_: Training(player, run), 1000, 1, 1)
    assert measured.busy == 0.75
    assert peers.text(judging.Run([line("ours", 1, 2.04, 5)], 0.75)) == (
        "ours, seed 1: after 2.0 s and 10 updates 15 lost and 7 illegal lines, 4,000 optimal states; "
        "worked 75% of the time"
    )


def test_evaluations_are_denser_at_the_beginning() -> None:
    assert judging.times(300, 3) == pytest.approx([1, 300**0.5, 300])
    assert judging.times(60, 1) == [60]


def line(player: str, seed: int, seconds: float, losses: int, unbeatable: bool = False) -> Judged:
    return Judged(player, seed, seconds, 10, losses, 2 * losses, 3, 4, 4_000, 0.5, unbeatable)


def test_a_file_holds_what_was_written(tmp_path: Path) -> None:
    lines = [line("ours", 0, 1.5, 3), line("ours", 0, 3.25, 0, unbeatable=True)]
    judging.write(tmp_path / "peers.csv", lines)
    assert judging.read(tmp_path / "peers.csv") == lines
    assert judging.read(tmp_path / "none.csv") == []


@pytest.mark.parametrize("content", ["", "a,b\n1,2\n", ",".join(Judged._fields) + "\nours,0\n"])
def test_another_file_is_left_alone(content: str, tmp_path: Path) -> None:
    (tmp_path / "peers.csv").write_text(content)
    with pytest.raises(UserError, match=r"peers\.csv: is not a file of this benchmark"):
        peers.main(["--players", "--docs", str(tmp_path)])
    assert (tmp_path / "peers.csv").read_text() == content


def test_a_measurement_can_be_made_in_pieces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    earlier = [line("ours", 1000, 9, 7), line("ours", 1001, 9, 7), line("tianshou", 1000, 9, 7)]
    judging.write(tmp_path / "peers.csv", earlier)
    piece = ["--players", "ours", "--seeds", "1001", "--seconds", "0.3", "--evaluations", "2"]
    peers.main([*piece, "--docs", str(tmp_path)])
    lines = judging.read(tmp_path / "peers.csv")
    assert [(one.player, one.seed) for one in lines] == [
        ("ours", 1000),
        ("ours", 1001),
        ("ours", 1001),
        ("tianshou", 1000),
    ]
    assert lines[0] == earlier[0]
    assert lines[3] == earlier[2]
    assert 0.3 <= lines[2].seconds < 9
    assert (tmp_path / "peers.png").read_bytes().startswith(b"\x89PNG")
    printed = capsys.readouterr().out
    assert "7 + 14" in printed
    assert f"{lines[2].first_losses} + {lines[2].second_losses}" in printed


def test_a_player_that_is_not_installed_is_left_out_with_the_way_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    absent = peers.Learner("tianshou_dqn", ("no_such_package",), "pip install tianshou")
    monkeypatch.setattr(peers, "LEARNERS", {**peers.LEARNERS, "tianshou": absent})
    quick = ["--seconds", "0.05", "--evaluations", "1", "--seeds", "1000"]
    peers.main(["--players", "tianshou", "ours", *quick])
    printed = capsys.readouterr().out
    assert "tianshou is left out: no no_such_package here; pip install tianshou" in printed
    assert "ours, seed 1000" in printed
    with pytest.raises(UserError, match="nothing to show"):
        peers.main(["--players", "tianshou", *quick])


def test_the_table_shows_ends_and_bests() -> None:
    lines = [
        line("tianshou", 0, 2, 4),
        line("ours", 1, 2, 1, unbeatable=True),
        line("ours", 1, 8.04, 5),
        line("ours", 1, 4, 2, unbeatable=True),
    ]
    assert report.table_rows(lines) == [
        ["ours", "1", "10", "5 + 10", "3 + 4", "4,000", "10", "2 of 3", "2.0"],
        ["tianshou", "0", "10", "4 + 8", "3 + 4", "4,000", "19", "0 of 1", "never"],
    ]


def test_the_figure_shows_each_evaluation_of_each_seed() -> None:
    lines = [line("ours", 0, 1, 2), line("ours", 0, 2, 0), line("ours", 1, 1, 3), line("open-spiel", 0, 1, 5)]
    drawn = report.figure([replace_illegal(one) for one in lines]).axes[0].get_lines()
    assert [np.asarray(curve.get_ydata()).tolist() for curve in drawn] == [[6, 0], [9], [15]]
    assert [curve.get_linestyle() for curve in drawn] == ["-", "--", "-"]  # solid for the first seed, dashed
    assert drawn[0].get_color() == drawn[1].get_color() != drawn[2].get_color()


def replace_illegal(one: Judged) -> Judged:
    return one._replace(first_illegal=0, second_illegal=0)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--seeds"], "--seeds"),
        (["--seconds", "0"], "--seconds"),
        (["--seconds", "nan"], "--seconds"),
        (["--evaluations", "0"], "--evaluations"),
        (["--players"], "name it by --docs"),
        (["--docs", "nowhere"], "nowhere: is not a folder"),
    ],
)
def test_a_mistake_is_named_before_anything_is_trained(flags: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        peers.main(flags)
