"""Each recipe runs, with smaller numbers, and its results are as its page says."""

import copy
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

import selfplay
from docs.recipes import (
    alphazero,
    maskable_ppo_self_play,
    own_algorithm,
    own_board,
    own_network,
    own_target,
    pettingzoo_two_lines,
    prioritized_replay,
    prove_stable_baselines3,
    reinforce,
    sb3_dqn_proved,
    self_play_dqn,
    torchrl_dqn,
)
from selfplay.dqn.dqn import Transitions
from selfplay.judging.evaluate import evaluate_policy
from selfplay.learning.checkpoint import read_checkpoint
from selfplay.players import resolve
from tictactoe import Rules, batch

PAGE = Path(__file__).parent.parent / "docs" / "frameworks.md"
RECIPES = sorted(path.stem for path in (PAGE.parent / "recipes").glob("*.py"))
NEEDS = {"judge_jax": "jax", "judge_openspiel": "pyspiel"}
"""What a recipe needs that the tests do without."""


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_names_each_recipe_and_flags_that_it_has(name: str) -> None:
    assert f"](recipes/{name}.py)" in PAGE.read_text()
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    recipe = importlib.import_module(f"docs.recipes.{name}")
    commands = re.findall(rf"python docs/recipes/{name}\.py(.*?)(?:  #.*)?$", PAGE.read_text(), re.MULTILINE)
    told = re.findall(r"`(--[^`]*)`", str(recipe.__doc__))
    assert commands
    for flags in commands + told:
        assert {*re.findall(r"--(\w+)", flags)} <= {*inspect.signature(recipe.main).parameters}, flags


def test_the_file_to_copy_ends_with_a_proof(capsys: pytest.CaptureFixture[str]) -> None:
    assert self_play_dqn.main().unbeatable
    assert "PROVED UNBEATABLE after" in capsys.readouterr().out.splitlines()[-1]


def test_stable_baselines3_becomes_harder_to_beat_by_playing_its_copies(capsys: pytest.CaptureFixture[str]) -> None:
    proof = sb3_dqn_proved.main(steps=9_200)
    assert capsys.readouterr().out.count(" ways to beat it\n") == 1
    assert losses(proof) < 0.6


def test_stable_baselines3_is_proved_and_what_beats_it_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shortest = prove_stable_baselines3.main(steps=600).shortest[0]
    assert shortest is not None
    assert f"{shortest}\n" in capsys.readouterr().out


def test_maskable_ppo_meets_its_copies_and_becomes_harder_to_beat(capsys: pytest.CaptureFixture[str]) -> None:
    proofs = maskable_ppo_self_play.main(rounds=2, steps=1_024)
    assert len(proofs) == capsys.readouterr().out.count("round ") == 2
    assert [proof.illegal_states for proof in proofs] == [0, 0]
    assert losses(proofs[-1]) < 0.873  # of random play


def losses(proof: Any) -> float:
    """Return the probabilities of both seats to lose to random play, or by a taken cell; of random play it is 0.873."""
    return float(proof.first.loss + proof.second.loss)


def test_torchrls_dqn_keeps_to_the_mask_and_loses_less_often_than_random_play() -> None:
    trained = torchrl_dqn.main(steps=1_000)
    assert trained.illegal_states == 0
    assert losses(trained) < 0.8  # over seeds 0 to 2 it was 0.70 at the most


def test_pettingzoos_learner_sees_what_the_mover_sees_and_is_paid_what_the_seat_that_moved_is_paid() -> None:
    game = pettingzoo_two_lines.BothSeats(pettingzoo_two_lines.make())
    game.reset()
    seen, paid, over, _, _ = game.step(4)
    assert (seen[..., 1].sum(), seen[..., 2].sum(), paid, over) == (0, 1, 0, False)
    assert game.action_masks().sum() == 8
    assert [game.step(cell)[1:3] for cell in (0, 1, 2, 7)] == [(0, False), (0, False), (0, False), (1, True)]
    assert pettingzoo_two_lines.main(steps=128).illegal_states == 0


@pytest.mark.usefixtures("here", "stopper")
def test_your_own_network_is_loaded_as_it_was_trained() -> None:
    run = own_network.main(steps=3_000)
    assert run.folder.parent == Path("runs")
    again = selfplay.load(run.folder, network=own_network.my_network)
    assert {*again.tensors()} == {*run.player.tensors()}
    assert all((again.tensors()[name] == weights).all() for name, weights in run.player.tensors().items())


@pytest.mark.usefixtures("stopper")
def test_prioritized_replay_is_proved_and_its_checkpoint_holds_the_priorities(here: Path) -> None:
    run = prioritized_replay.main(seed=1_001, folder=here / "it")
    assert run.verdict.unbeatable
    assert selfplay.evaluate(run.folder) == run.verdict  # without its code
    checkpoint = read_checkpoint(run.folder)
    assert checkpoint is not None
    assert len(checkpoint.state["agent_0.own.priorities"].unique()) > 1_000


def test_a_transition_is_sampled_by_its_priority_weighted_against_it_and_prioritized_by_its_error() -> None:
    config = selfplay.DQNConfig(memory_size=4, batch_size=2, num_envs=2, warmup=0, loss="mse", device="cpu")
    agent = prioritized_replay.PrioritizedAgent(config, torch.device("cpu"), torch.Generator().manual_seed(0))
    memory, nothing, three = agent.memory, torch.zeros(3, 27), torch.arange(3)
    memory.add(Transitions(nothing, three, nothing, three.float(), nothing[:, 0]))
    assert memory.priorities.tolist() == [1, 1, 1, 0]
    memory.priorities[:3] = torch.tensor([1.0, 0.0, 4.0])
    counts = torch.bincount(memory.sample(10_000, agent.generator).action, minlength=3)
    assert counts[1] == 0
    assert abs(int(counts[2]) - 8_000) < 200
    memory.sampled = torch.tensor([0, 2])
    weighted = agent.losses(torch.zeros(2), torch.ones(2)).tolist()
    assert weighted == pytest.approx([1, 4**-prioritized_replay.BETA])
    sampled = memory.at(memory.sampled)
    update = agent.update(sampled, torch.tensor([100.0, 0.0]))
    errors = [abs(100 - float(update.values[0])), abs(float(update.values[1]))]
    expected = [(error + prioritized_replay.LEAST) ** prioritized_replay.ALPHA for error in errors]
    assert memory.priorities.tolist() == pytest.approx([expected[0], 0, expected[1], 0])


@pytest.mark.usefixtures("stopper")
def test_your_own_algorithm_is_resumed_and_found_by_its_name(here: Path) -> None:
    short = own_algorithm.main(games=1_000, folder=here / "it")
    long = own_algorithm.main(games=2_000, resume=short.folder)
    whole = own_algorithm.main(games=2_000, folder=here / "whole")
    assert long.verdict == whole.verdict
    assert whole.verdict.ways_to_beat < short.verdict.ways_to_beat
    named = resolve(f"docs.recipes.own_algorithm:Sarsa@{long.folder}")
    assert evaluate_policy(named.policy, every_state=True).ways_to_beat == whole.verdict.ways_to_beat


def test_reinforce_learns_within_the_mask_and_goes_on_as_it_was() -> None:
    one, other = reinforce.Reinforce(seed=1000), reinforce.Reinforce(seed=1)
    for _ in range(30):
        one.advance(64)
    other.restore(copy.deepcopy(one.state()))
    for learner in (one, other):
        learner.advance(64)
    assert (one.steps, other.steps) == (1_984, 1_984)
    weights = [learner.network.state_dict().values() for learner in (one, other)]
    assert all((first == second).all() for first, second in zip(*weights, strict=True))
    proof: Any = selfplay.evaluate(one.player(), perspective="mover")
    assert proof.illegal_states == 0
    assert losses(proof) < 0.5


@pytest.mark.slow
@pytest.mark.usefixtures("stopper")
def test_alphazero_is_proved_without_a_search_and_with_one(here: Path) -> None:
    """It takes about ten seconds: the network alone must know the reply to every move."""
    run = alphazero.main(seed=1000, folder=here / "it")
    assert run.verdict.unbeatable
    named = resolve(f"docs.recipes.alphazero:AlphaZero@{run.folder}")
    assert evaluate_policy(named.policy).unbeatable
    player = run.player
    player.simulations = 8
    assert selfplay.evaluate(player, perspective="mover").unbeatable


def test_alphazero_continues_as_it_was() -> None:
    one, other = alphazero.AlphaZero(seed=1000), alphazero.AlphaZero(seed=1)
    one.advance(8)
    other.restore(copy.deepcopy(one.state()))
    for learner in (one, other):
        learner.advance(8)
    assert (one.steps, other.steps, one.plies) == (16, 16, other.plies)
    weights = [learner.network.state_dict().values() for learner in (one, other)]
    assert all((first == second).all() for first, second in zip(*weights, strict=True))


def test_alphazeros_search_of_many_boards_visits_what_a_plain_search_of_each_visits() -> None:
    rules = Rules()
    learner = alphazero.AlphaZero(seed=1000)
    valued = alphazero.valuation(rules, learner.network.double())
    roots = learner.openings(20)
    search = alphazero.Search(rules, roots, valued, 60)
    for _ in range(60):
        search.simulate()
    for number, visits in enumerate(search.visits[:, 0]):
        root = batch.State(*(part[number : number + 1] for part in roots))
        assert visits.tolist() == plain_search(rules, root, valued, 60)


def plain_search(rules: Rules, root: batch.State, valued: alphazero.Valuation, simulations: int) -> list[int]:
    """Return how often AlphaZero's search tries each move of one position, with a dict of nodes and recursion."""
    nodes: dict[tuple[int, ...], Any] = {}

    def look(moves: tuple[int, ...], state: batch.State) -> float:
        """Return the value of a position to its mover, and count one more simulation through it."""
        if moves not in nodes:
            (policy,), (value,) = valued(state)
            nodes[moves] = policy, [0] * rules.cells, [0.0] * rules.cells
            return float(value)
        policy, visits, total = nodes[moves]
        scores = []
        for cell in range(rules.cells):
            mean = total[cell] / visits[cell] if visits[cell] else 0
            bonus = alphazero.EXPLORATION * policy[cell] * (1 + sum(visits)) ** 0.5 / (1 + visits[cell])
            scores.append(mean + bonus)
        cell = int(np.argmax(scores))
        played = batch.play(rules, state, np.array([cell]))
        value = float(played.win[0])
        if not played.terminated[0]:
            value = -look((*moves, cell), played.state)
        visits[cell] += 1
        total[cell] += value
        return value

    for _ in range(simulations + 1):  # the first only values the root
        look((), root)
    return list(nodes[()][1])


def test_the_right_target_loses_fewer_games() -> None:
    assert own_target.main("negamax", steps=4_000).ways_to_beat < own_target.main("hopeful", steps=4_000).ways_to_beat


def test_your_own_board_is_solved_played_and_learned(capsys: pytest.CaptureFixture[str]) -> None:
    record: Any = own_board.main(rows=2, cols=3, k=2, steps=6_000)
    assert "first seat wins" in capsys.readouterr().out
    assert record.player.rules.cells == 6
    assert record.verdict.first.losses == 0


def test_the_verdict_on_an_openspiel_policy_agrees_with_openspiel(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pyspiel")
    from docs.recipes import judge_openspiel

    assert judge_openspiel.main().ways_to_beat == selfplay.evaluate(lambda board: board[..., 0].argmax()).ways_to_beat
    ours, theirs = re.findall(r"[\d.]+", capsys.readouterr().out.splitlines()[-1])
    assert float(ours) == float(theirs)


def test_a_network_in_jax_sees_what_pgx_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    jax, pgx = pytest.importorskip("jax"), pytest.importorskip("pgx")
    from docs.recipes import judge_jax

    seen: list[Any] = []

    def logits(boards: Any) -> Any:
        seen.append(boards)
        return jax.numpy.zeros((len(boards), 9))

    monkeypatch.setattr(judge_jax, "logits", logits)
    game = pgx.make("tic_tac_toe")
    state, board = game.init(jax.random.PRNGKey(0)), gymnasium.make("tictactoe:TicTacToe-v0", perspective="mover")
    observation, _ = board.reset()
    for cell in (4, 0, 2):
        judge_jax.Judged().act(observation[None])
        assert np.array_equal(seen[-1][0], state.observation)
        state, (observation, *_) = game.step(state, cell), board.step(cell)


def test_a_network_in_jax_is_judged() -> None:
    pytest.importorskip("jax")
    from docs.recipes import judge_jax

    verdict = judge_jax.main()
    assert verdict.illegal_states == 0
    assert verdict.ways_to_beat > 0
