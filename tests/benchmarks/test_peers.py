"""The comparison with other libraries: looked at equally often, searched for alike, and playing what was learned."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import selfplay
from benchmarks.peers import __main__ as peers, cleanrl_dqn, evaluations, learners, our_dqn, report, tuning
from benchmarks.peers.evaluations import ONLINE, Look, Run, by_network, score
from benchmarks.peers.opponents import COPIES, Games, decision_states
from benchmarks.peers.player import Greedy
from docs.recipes import alphazero
from selfplay import DQNConfig
from tictactoe import Rules

SETTINGS = (
    "learning_rate=0.01 learning_rate_hold=1000 batch_size=32 width=64 layers=2 updates_per_step=0.25 target=copied "
    "target_every=40 soft_update=0.05 epsilon_end=0.5 epsilon_steps=1000 gamma=0.95 memory_size=10000 "
    "learning_starts=100 rewards=sparse opponent=self copy_every=100 opponent_random=0.1 boards=4 train_every=16"
)
SAMPLED: Mapping[str, Any] = {
    "learning_rate": 0.01, "learning_rate_hold": 1_000, "batch_size": 32, "width": 64, "layers": 2,
    "updates_per_step": 0.25, "target": "copied", "target_every": 40, "soft_update": 0.05, "epsilon_end": 0.5,
    "epsilon_steps": 1_000, "gamma": 0.95, "memory_size": 10_000, "learning_starts": 100, "rewards": "sparse",
    "opponent": "self", "copy_every": 100, "opponent_random": 0.1, "boards": 4, "train_every": 16,
}  # fmt: skip
"""The same settings, which a search may sample."""


def load(name: str) -> Any:
    """Import a learner's module, or skip the test."""
    try:
        return learners.load(name)
    except ModuleNotFoundError as error:
        pytest.skip(f"no {error.name} here")


def looks(*ways: int) -> list[Look]:
    """Return looks a second and ten updates apart."""
    return [Look(float(second), 10 * second, each, each / 100) for second, each in enumerate(ways)]


# Looks


class Clock:
    """A clock that only the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_looks_come_every_n_updates_and_the_clock_stops_during_them() -> None:
    clock = Clock()

    def player(cost: float) -> Any:
        """Return a player that marks the first empty cell, after some seconds on the empty board."""

        def act(observation: Any) -> Any:
            clock.now += cost * bool(observation[..., 0].all())
            return observation[..., 0].argmax()

        return act

    players = {ONLINE: player(0.02), "target": player(0.01)}

    def make(_: int) -> evaluations.Train:
        def train(tick: evaluations.Tick) -> None:
            updates = 0
            while tick(updates, players):
                clock.now += 0.125
                updates += 2

        return train

    found = evaluations.measure(make, 7, 60, clock)
    [seen, of_target] = found.looks.values()
    assert [*found.looks] == [ONLINE, "target"]
    every = math.ceil(found.look_every / 2) * 2  # the learner updates twice at once
    assert [look.updates for look in seen] == [*range(0, 960, every), 960]
    assert all(look.seconds == pytest.approx(look.updates / 16, abs=1e-3) for look in [*seen, *of_target])
    cost = (clock.now - 60 - evaluations.CALIBRATION) / (2 + len(seen))
    assert 0.06 < cost / (every / 16) < 0.1
    ways = selfplay.evaluate(players[ONLINE], Rules(), perspective="mover")
    assert {look.ways for look in seen} == {ways.ways_to_beat}
    assert {look.loss for look in seen} == {np.mean([ways.first.loss or 0, ways.second.loss or 0])}
    assert found.optimal_at_end[ONLINE] == ways.optimal_states


def test_first_proof_lapses_and_last_lapse_are_those_of_all_looks() -> None:
    seen = {"online": looks(9, 0, 3, 0, 1, 0), "target": looks(9, 9, 0, 0, 0, 0), "third": looks(9, 9, 9, 9, 9, 8)}
    runs = evaluations.outcomes("ours", 3, evaluations.Measured(10, seen, dict.fromkeys(seen, 4_500)), "abc")
    shown = [(run.first_s, run.first_updates, run.looks_after, run.lapses, run.last_lapse_s) for run in runs]
    assert shown == [(1, 10, 4, 2, 4), (2, 20, 3, 0, math.inf), (math.inf, math.inf, 0, 0, math.inf)]
    assert [run.ways_at_end for run in runs] == [0, 0, 8]


def run_of(player: str, seed: int = 1000, lapses: int = 0, first: float = 0.125) -> Run:
    last = 0.2 if lapses else math.inf
    return Run(player, seed, ONLINE, 0.25, 90, 10, 9, first, 20.0, 4, lapses, last, 0, 4_400, "abc")


def test_a_measurement_can_be_made_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evaluations, "CALIBRATION", 0.1)
    earlier = [run_of("ours", seed) for seed in (1000, 1001)]
    other = run_of("open-spiel", lapses=1)
    report.add(tmp_path, [*earlier, other])
    assert report.read(tmp_path) == [*earlier, other]
    with pytest.raises(SystemExit, match=r"peers\.csv"):
        peers.main(players=("ours",), seconds=2.0, docs=tmp_path)
    peers.main(players=("ours",), seeds=(1001,), seconds=0.25, docs=tmp_path)
    first, *trained, last = report.read(tmp_path)
    assert [first, last] == [earlier[0], other]
    assert [(run.seed, run.network) for run in trained] == [(1001, ONLINE), (1001, "average")]
    assert all(run.seconds >= 0.25 for run in trained)


def test_a_table_has_what_is_measured_and_nothing_else() -> None:
    assert report.table_of_players([], {}) == report.NONE == report.table_of_the_walk([run_of("open-spiel")])
    runs = [run_of("ours-plain", 0, lapses=1), run_of("ours-plain", 1, first=math.inf)]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in report.table_of_the_walk(runs).splitlines()]
    [row] = [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]
    assert (row["what"], row["changed"]) == ("ours-plain: online", "`--symmetry none`")
    assert (row["proved"], row["last lapse, s"]) == ("1 of 2", "0.200")


def make_own(seed: int) -> evaluations.Train | None:
    """Return a learner as somebody else would write one, which plays the first cell; four seeds show a mistake."""

    def train(tick: evaluations.Tick) -> None:
        while tick(1, lambda board: board[9] if seed == 1 else 0) or seed == 2:
            if seed == 3:
                return

    return train if seed < 4 else None


def test_a_custom_learner_is_judged_and_each_run_that_fails_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluations, "CALIBRATION", 0.01)
    name = f"{__name__}:make_own"
    with pytest.raises(SystemExit):
        peers.main(players=(name,), seeds=(1, 2, 3, 0, 4), seconds=0.01, docs=tmp_path)
    assert [(run.player, run.seed, run.ways_at_end > 0) for run in report.read(tmp_path)] == [(name, 0, True)]
    printed = capsys.readouterr().out
    assert all(f"{name}, seed {seed}, failed" in printed for seed in (1, 2, 3, 4))


# Learners and what they play


SHORT_PPO = {"boards": 8, "game": {"opponent": "self", "rewards": "sparse"}, "model": {"n_steps": 256}}


@pytest.mark.parametrize(
    ("name", "settings", "steps", "updates"),
    [
        ("stable-baselines3", [], 1_100, 128),  # 128 updates after each 256 steps, first after 1,024
        ("cleanrl-style", [], 10_101, 10),  # an update in ten steps from 10,000 on
        ("maskable-ppo", [SHORT_PPO], 257, 10),  # 10 passes after 256 steps of each board
        ("open-spiel", [], 300, None),
        ("alphazero", [{"BOARDS": 8, "SIMULATIONS": 2, "UPDATES": 5}], 3, 10),  # 5 updates after each 8 games
    ],
)
def test_a_learner_learns_until_told_to_stop(name: str, settings: list[Any], steps: int, updates: int | None) -> None:
    ticks: list[int] = []
    chosen = []

    def tick(done: int, players: Any) -> bool:
        if not ticks or len(ticks) == steps - 1:
            player: Any = by_network(players)[ONLINE]
            chosen.append(player.act(decision_states()))
        ticks.append(done)
        return len(ticks) < steps

    load(name).make(1000, *settings)(tick)
    assert len(ticks) == steps
    assert (ticks[-1] > 0) if updates is None else (ticks[-1] == updates)
    assert (chosen[0] != chosen[1]).any()


def favourite(cell: int) -> Any:
    """Return a network whose highest value is that of one cell."""
    return lambda inputs: torch.eye(9)[cell].expand(len(inputs), 9)


def test_the_greedy_player_is_the_arg_max_of_its_seats_network() -> None:
    observations = decision_states()
    second = observations[..., 1].sum(axis=(1, 2)) != observations[..., 2].sum(axis=(1, 2))
    assert (second.sum(), (~second).sum()) == (2_097, 2_423)
    both = Greedy(favourite(4), favourite(7), masked=False).act(observations)
    assert (both == np.where(second, 7, 4)).all()
    empty = observations[..., 0].reshape(-1, 9) == 1
    masked = Greedy(favourite(4), masked=True).act(observations)
    assert (masked == np.where(empty[:, 4], 4, empty.argmax(axis=1))).all()


def test_a_learner_meets_its_latest_copies() -> None:
    games = Games(1000, opponent="self", copy_every=100, opponent_random=0.0)
    game = games.make()
    assert len(first_cells(game)) > 2  # still random
    games.update(100, favourite(4))
    games.update(199, favourite(7))
    assert first_cells(game) == {4}
    games.update(200, favourite(7))
    assert first_cells(game) == {4, 7}
    for number in range(COPIES):
        games.update(300 + 100 * number, favourite(2))
    assert first_cells(game) == {2}


def first_cells(game: gymnasium.Env[Any, Any]) -> set[int]:
    """Return where the opponent moves first, in games in which it does."""
    seen = set()
    for seed in range(60):
        observation, info = game.reset(seed=seed)
        if info["to_play"] == 1:
            seen.add(int(np.flatnonzero(observation[..., 2])[0]))
    return seen


def test_stable_baselines3_plays_its_own_predictions_and_follows_its_schedules() -> None:
    module = load("stable-baselines3")
    settings = {**module.EXAMPLE, "exploration_steps": 200, "learning_rate": 0.5, "learning_rate_hold": 1_000}
    model = module.make_model(1000, settings, Games(1000))
    predicted, _ = model.predict(decision_states(), deterministic=True)
    assert (Greedy(model.q_net, masked=False).act(decision_states()) == predicted).all()
    epsilons = [model.exploration_schedule(1 - steps / 10**9) for steps in (0, 100, 200, 10_000)]
    assert epsilons == pytest.approx([1, 0.52, 0.04, 0.04])
    rates = [model.lr_schedule(1 - steps / 10**9) for steps in (0, 1_000, 2_000, 10_000)]
    assert rates == pytest.approx([0.5, 0.5, 0.25, 0.05])


def test_the_learning_rate_in_cleanrls_manner_falls_after_its_hold() -> None:
    settings = cleanrl_dqn.Settings(learning_rate=0.01, learning_rate_hold=200, warmup=100, train_every=1)
    learner = cleanrl_dqn.CleanRL(settings, 1000, Games(1000).make)
    learning = learner.learn(writer=None)
    for steps, rate in ((201, 0.01), (200, 0.005)):
        for _ in range(steps):
            next(learning)
        assert learner.optimizer.param_groups[0]["lr"] == rate


def test_open_spiels_agents_play_what_they_do_when_they_are_evaluated() -> None:
    module = load("open-spiel")
    environment = module.rl_environment.Environment("tic_tac_toe")
    agents = module.make_agents(1000, environment)
    player = module.make_players(agents)[ONLINE]
    moment = environment.reset()
    for cell in (4, 0, 2, 6, 3):
        mover = moment.observations["current_player"]
        marks = np.array(environment.get_state.observation_tensor()).reshape(3, 9)  # empty, O, X
        view = marks[[0, 2, 1] if mover == 0 else [0, 1, 2]].T.reshape(1, 3, 3, 3)
        assert agents[mover].step(moment, is_evaluation=True).action == player.act(view)[0]
        moment = environment.step([cell])


def test_ours_is_what_training_makes_of_its_settings_and_both_networks_are_judged() -> None:
    config = DQNConfig(seed=1000, total_steps=20_000, stop="never", device="cpu")
    records = [(record.steps, record.player.act(decision_states())) for record in selfplay.training(config)]
    moves: dict[str, list[Any]] = {ONLINE: [], "average": []}

    def tick(updates: int, players: Any) -> bool:
        del updates
        for name, of_network in moves.items():
            of_network.append(players[name].act(decision_states()))
        return len(moves[ONLINE]) <= records[-2][0] // config.num_envs

    our_dqn.make(1000)(tick)
    for steps, chosen in records[:-1]:
        assert (moves["average"][steps // config.num_envs - 1] == chosen).all()
    assert (moves[ONLINE][-1] != moves["average"][-1]).any()


def test_each_row_of_the_walk_changes_one_thing_and_plain_is_told_nothing() -> None:
    rows = [vars(config) for config in our_dqn.WALK.values()]
    for before, after, change in zip(rows, rows[1:], [*our_dqn.CHANGES.values()][1:], strict=False):
        assert {name for name in after if after[name] != before[name]} == {*change}
        assert len(change) == 1
    plain = our_dqn.WALK["ours-plain"]
    assert (plain.symmetry, plain.counterexamples, plain.mask) == ("none", 0, False)
    told = learners.told("ours-any-cell, searched")
    library = learners.told("stable-baselines3, searched")
    assert told[:4] == library[:4]
    assert learners.told("ours-independent").bootstraps_from == library.bootstraps_from != told.bootstraps_from


# The search for settings


def test_a_score_distinguishes_early_proofs_counts_lapses_as_long_as_they_last_and_then_losses() -> None:
    best_first = [
        [Look(0, 0, 99, 0.5), Look(0.25, 1, 0, 0), Look(60, 9, 0, 0)],
        [Look(0, 0, 99, 0.5), Look(0.5, 1, 9, 0.1), Look(0.75, 1, 0, 0), Look(60, 9, 0, 0)],
        [Look(0, 0, 99, 0.5), Look(0.25, 1, 0, 0), Look(30, 2, 1, 0), Look(60, 9, 0, 0)],  # beaten from 0.25 to 30
        [Look(0, 0, 99, 0.5), Look(59, 1, 1, 0), Look(60, 9, 0, 0)],
        [Look(0, 0, 99, 0.5), Look(60, 9, 1, 0)],
        [Look(0, 0, 99, 0.5), Look(60, 9, 8_000, 0.2)],
        [Look(0, 0, 99, 0.5), Look(60, 9, 65, 0.9)],  # always the same cell: few ways, many losses
    ]
    scores = [score(each) for each in best_first]
    assert scores == sorted(scores)
    assert [scores[0], scores[2], scores[4]] == pytest.approx([0, 29.75 / 60, 1])
    assert scores[1] == pytest.approx(0.5 / 60 * 1.1)
    assert scores[-1] < tuning.FAILED


def trial_run(seed: int, network: str, value: float, ended: str = "yes") -> tuning.TrialRun:
    return tuning.TrialRun("open-spiel", 0, tuning.EXAMPLE, seed, network, value, 1.0, ended, "abc")


def test_a_trial_is_worth_the_mean_of_its_seeds_by_the_better_network(tmp_path: Path) -> None:
    runs = [trial_run(seed, "online", value) for seed, value in ((1000, 0.5), (1001, 0.7))]
    runs += [trial_run(seed, "target", value) for seed, value in ((1000, 0.2), (1001, 0.3))]
    path = tmp_path / tuning.FILE
    tuning.add(path, runs)
    assert tuning.read_trials(path) == {"open-spiel": [(tuning.EXAMPLE, 0.25, True)]}
    failed = trial_run(1002, "online", tuning.FAILED, "ValueError: no")
    trial = tuning.as_trial([*runs, failed])
    assert trial.score == pytest.approx(2.5 / 3)
    assert not trial.proved


def test_a_search_continues_after_its_last_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optuna")  # of the extras `bench` and `sweep`
    values: Iterator[float] = iter((0.9, 0.2, 0.5))

    def run_trial(_: str, number: int, settings: str, seeds: Sequence[int], __: float) -> list[tuning.TrialRun]:
        value = next(values)
        return [trial_run(seed, ONLINE, value)._replace(trial=number, settings=settings) for seed in seeds]

    monkeypatch.setattr(tuning, "run_trial", run_trial)
    with pytest.raises(SystemExit):
        tuning.best_maker(tmp_path, "open-spiel")
    docs = tmp_path / "new"
    for trials in (2, 3):
        tuning.main(docs, ("open-spiel",), trials)
    first, second, third = tuning.read_trials(docs / tuning.FILE)["open-spiel"]
    assert (first.settings, [first.score, second.score, third.score]) == (tuning.EXAMPLE, [0.9, 0.2, 0.5])
    assert tuning.best([first, second, third]) == second != third
    assert second.settings in tuning.STARTS["open-spiel"]
    assert tuning.sampled("open-spiel", third.settings).keys() == tuning.RANGES["open-spiel"].keys()
    assert tuning.proved_trials({"open-spiel": [second, third]}) == {"open-spiel, searched": "2 of 2"}


def test_a_search_starts_with_settings_that_it_could_sample() -> None:
    for player, starts in tuning.STARTS.items():
        ranges = tuning.RANGES[player]
        for settings in starts:
            found = tuning.sampled(player, settings)
            assert found.keys() == ranges.keys()
            for name, value in found.items():
                values = ranges[name]
                assert values.low <= value <= values.high if isinstance(values, tuning.Range) else value in values


def test_a_winner_at_an_end_of_its_range_is_marked() -> None:
    width, gamma = tuning.Range(32, 2_048), tuning.Range(0.8, 1.0)
    assert [value for value in ("32", "33", "256", "1700", "2048") if tuning.at_an_end(value, width)] == [
        "32", "33", "2048",
    ]  # fmt: skip
    assert tuning.at_an_end("0.8", gamma)
    assert not tuning.at_an_end("1.0", gamma)  # nothing is above
    assert not tuning.at_an_end("mse", ("mse", "huber"))


def test_what_was_sampled_becomes_settings_of_each_library() -> None:
    assert tuning.sampled("stable-baselines3", SETTINGS) == SAMPLED
    settings = our_dqn.sampled_settings({**SAMPLED, "boards": 100})
    changed = {"hidden": (64, 64), "updates_per_step": 25, "hard_update": 40, "warmup": 100, "num_envs": 100}
    told_nothing = {"symmetry": "none", "counterexamples": 0, "explore": "any"}
    assert (changed | told_nothing).items() <= vars(settings).items()
    assert our_dqn.sampled_settings({**SAMPLED, "target": "moved"}).hard_update == 0
    sb3 = load("stable-baselines3").sampled_settings
    of_steps = ("train_freq", "gradient_steps", "tau", "target_update_interval")
    assert [sb3(SAMPLED)["model"][name] for name in of_steps] == [4, 4, 1.0, 40]
    assert [sb3({**SAMPLED, "target": "moved", "boards": 32})["model"][name] for name in of_steps] == [1, 8, 0.05, 32]
    loop = cleanrl_dqn.sampled_settings(SAMPLED)[0]
    assert (loop.train_every, loop.tau, loop.target_every, loop.warmup, loop.hidden) == (4, 1.0, 40, 100, (64, 64))
    moved = cleanrl_dqn.sampled_settings({**SAMPLED, "target": "moved"})[0]
    assert (moved.tau, moved.target_every) == (0.05, 1)


@pytest.mark.parametrize("name", learners.OTHERS)
def test_a_learner_takes_what_a_search_samples(name: tuning.Contestant) -> None:
    pytest.importorskip("optuna")
    load(name)
    settings = tuning.sample(name, [], 1000)
    most = 2 if name == "alphazero" else 20  # a step of AlphaZero is a batch of games
    ticks: list[int] = []

    def tick(updates: int, players: Any) -> bool:
        ticks.append(updates)
        return len(ticks) < most and by_network(players).keys() <= {ONLINE, "target"}

    tuning.maker(name, settings)(1000)(tick)
    assert len(ticks) == most
    assert learners.load("alphazero").EXAMPLE["BOARDS"] == alphazero.BOARDS  # the recipe is as it was
