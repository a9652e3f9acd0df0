"""The playground's JavaScript is the same algorithm as Python's: rules, verdicts, targets, updates, tables."""

import base64
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import selfplay
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.dqn import DQNAgent, Transitions
from selfplay.dqn.network import QNetwork
from selfplay.dqn.player import QPlayer
from selfplay.judge.ask import near_best_policy
from selfplay.judge.teach import beaten_starts
from selfplay.runs.load import load
from selfplay.tabular.config import MinimaxQConfig
from selfplay.tabular.learners import MinimaxQ
from selfplay.tabular.tabular_players import AfterstatePlayer, MinimaxQPlayer, reachable_rows
from tests.selfplay.decisions import MOVER
from tests.selfplay.dqn.scripted import config_with, make, play, remembered
from tictactoe import Rewards, Rules, batch, solve
from tictactoe.rewards import PRESETS, named_rewards
from tictactoe.rules import Event
from tictactoe.tree import ternary_code

Call = Callable[..., Any]
RULES = Rules()
TREE = solve(RULES).tree
ROWS = reachable_rows(RULES)[TREE.decisions]
"""The table's row of each decision state."""
SEATS = TREE.ply[TREE.decisions] % 2
GAME = f"const game = window.game ??= gameTable({json.dumps(asdict(RULES))});"
"""Makes the tables once for all tests."""
DECODE = "const decode = (text, Kind) => new Kind(Uint8Array.from(atob(text), (char) => char.charCodeAt(0)).buffer);"
ENCODE = """const encode = (array) => {
    const bytes = new Uint8Array(array.buffer);
    let text = "";
    for (let at = 0; at < bytes.length; at += 4096) {
        text += String.fromCharCode(...bytes.subarray(at, at + 4096));
    }
    return btoa(text);
};"""
SETTINGS = {"target": "negamax", "explore": 0.5, "opponent": "itself", "illegal": "penalty", "seed": 0}
SETTINGS |= {"rate": 0.012, "replay": "on", "targetNetwork": "on", "additions": "off"}
GAMES = [[0, 3, 1, 4, 2], [0, 3, 8, 4, 2, 5], [0, 1, 2, 4, 3, 5, 7, 6, 8], [0, 3, 0], [4, 4], [0, 4, 8, 2, 6, 7, 3]]
"""X wins, O wins, a draw, each marks a taken cell, and X wins after a move that allows it."""


def text(array: NDArray[Any]) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def array(encoded: str, dtype: Any) -> NDArray[Any]:
    return np.frombuffer(base64.b64decode(encoded), dtype)


def test_each_move_in_each_state_leads_where_it_does_in_python(call: Call) -> None:
    script = f"""() => {{ {GAME} {ENCODE}
        return [game.decisions, encode(game.events), encode(game.after), encode(game.seats)]; }}"""
    decisions, events, after, seats = call("game_table.js", script)
    assert sorted(decisions) == sorted(ROWS.tolist())
    assert (array(seats, np.uint8)[ROWS] == SEATS).all()
    events, after = (array(each, kind).reshape(-1, 9)[ROWS] for each, kind in ((events, np.uint8), (after, np.int32)))
    fields = (TREE.mover, TREE.opponent, TREE.ply)
    state = batch.State(*(field[TREE.decisions].astype(np.int64) for field in fields))
    for cell in range(9):
        played = batch.play(RULES, state, np.full(len(ROWS), cell))
        assert (events[:, cell] == played.event).all()
        marks = np.where(
            played.state.to_play == 0,
            (played.state.mover, played.state.opponent),
            (played.state.opponent, played.state.mover),
        )
        legal = played.event != Event.ILLEGAL
        assert (after[legal, cell] == ternary_code(RULES, *marks)[legal]).all()


def test_both_have_the_same_settings(call: Call) -> None:
    """But for the width of the network and how often it is evaluated."""
    script = """() => ({ num_envs: BOARDS, batch_size: BATCH, memory_size: MEMORY, warmup: WARMUP, gamma: DQN_GAMMA,
        updates_per_step: UPDATES_PER_STEP, soft_update: SOFT_UPDATE, learning_rate_hold: RATE_HOLD,
        counterexamples: STARTS, counterexample_margin: MARGIN })"""
    assert call("dqn_learner.js", script).items() <= asdict(DQNConfig()).items()
    network, table = (call("state.js", f"() => DEFAULTS.{name}") for name in ("dqn", "table"))
    for settings, rate, explore in (
        (network, DQNConfig().learning_rate, DQNConfig().epsilon_start),
        (table, MinimaxQConfig().alpha, MinimaxQConfig().epsilon),
    ):
        assert (float(settings["rate"]), float(settings["explore"])) == (rate, explore)
    assert call("table_learner.js", "() => TABLE_GAMMA") == MinimaxQConfig().gamma
    assert call("dqn_learner.js", "() => DQN_REWARDS") == by_event(DQNConfig().rewards)


def by_event(rewards: str | Rewards) -> dict[str, list[float]]:
    """Return the rewards of the seat that moves and of the other one, in the order of the events."""
    own, other = zip(*named_rewards(rewards).of_event.values(), strict=True)
    return {"own": list(own), "other": list(other)}


def players() -> list[Any]:
    """Return players, some of which mark taken cells."""
    random = np.random.default_rng(1000)
    unmasked, masked = (make(config_with(seed=1000, symmetry="none", mask=mask)).player() for mask in (False, True))
    ties = MinimaxQPlayer(RULES, random.integers(3, size=(3**9, 9)).astype(np.float64))
    return [unmasked, masked, ties, AfterstatePlayer(RULES, random.normal(size=3**9)), load("shipped")]


JUDGED = f"""(rows, text, mask) => {{ {GAME} {DECODE}
    const values = decode(text, Float64Array);
    const moves = new Uint16Array(game.rows);
    rows.forEach((row, i) => {{
        moves[row] = bestCells(values, 9 * i, mask ? game.legal[row] : [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    }});
    return judge(game, moves).map((seat) => [seat.ways, seat.shortest]); }}"""


@pytest.mark.parametrize("number", range(5))
def test_the_verdict_on_the_same_values_is_the_same(call: Call, number: int) -> None:
    player = players()[number]
    values = np.nan_to_num(np.asarray(player.q_values(MOVER), np.float64))
    mask = getattr(player, "mask", isinstance(player, AfterstatePlayer))
    verdict, games = selfplay.evaluate(player), selfplay.counterexamples(player).shortest
    for seat, game, (ways, shortest) in zip(
        (verdict.first, verdict.second), games, call("judge.js", JUDGED, ROWS.tolist(), text(values), mask), strict=True
    ):
        assert ways == seat.ways_to_beat
        assert tuple(shortest) == (game or ())
    assert (verdict.ways_to_beat == 0) is (number == 4)
    assert (verdict.first.illegal > 0) is (number in (0, 2))


def test_training_starts_in_the_same_positions(call: Call) -> None:
    player = make(config_with(seed=1000, symmetry="none", counterexample_margin=0.2)).player()
    policy = near_best_policy(player)
    _, (mover, opponent, move) = beaten_starts(policy, 10**6, np.random.default_rng(0))
    marks = np.array([ply.bit_count() for ply in (mover | opponent).tolist()]) % 2
    rows = ternary_code(RULES, np.where(marks, opponent, mover), np.where(marks, mover, opponent))
    script = f"""(rows, text) => {{ {GAME} {DECODE}
        const values = decode(text, Float64Array);
        const moves = new Uint16Array(game.rows);
        rows.forEach((row, i) => {{ moves[row] = bestCells(values, 9 * i, [0, 1, 2, 3, 4, 5, 6, 7, 8], 0.2); }});
        return counterexampleStarts(game, moves); }}"""
    values = text(np.asarray(player.q_values(MOVER), np.float64))
    starts = call("judge.js", script, ROWS.tolist(), values)
    assert {(row, cell) for row, cell in starts} == set(zip(rows.tolist(), move.tolist(), strict=True))
    assert len(starts) > 1_000


def row_of(observation: torch.Tensor) -> NDArray[np.int64]:
    """Return the rows of positions from what their movers see, [B, 27]."""
    marks = observation.view(-1, 9, 3).argmax(dim=2).numpy()
    second = ((marks == 1).sum(axis=1) != (marks == 2).sum(axis=1))[:, None]
    rows: NDArray[np.int64] = np.where(second & (marks > 0), 3 - marks, marks) @ 3 ** np.arange(9)
    return rows


@pytest.mark.parametrize("target", ["negamax", "independent", "article"])
def test_games_are_stored_as_the_same_transitions(call: Call, target: str) -> None:
    """Also what the reply to a move earns its mover, which the rewards of the DQN here leave at 0."""
    recorder = make(config_with(target=target, symmetry="none"))
    for game in GAMES:
        play(recorder, game, PRESETS["sparse"])
    stored = remembered(recorder.agents[0])
    continues = stored.continues.numpy()
    following = row_of(stored.next_observation) * continues
    script = f"""(settings, games, rewards) => {{ {GAME}
        const [found, cells] = [[], games.flat()];
        const [best, start, learn] = [() => cells.shift(), () => [0, ANY], (each) => found.push(each)];
        const play = selfPlay(game, settings, () => 1, {{ rewards, best, start, learn }});
        games.flat().forEach(play);
        return found; }}"""
    found = call("self_play.js", script, SETTINGS | {"target": target}, GAMES, by_event("sparse"))
    assert [each["row"] for each in found] == row_of(stored.observation).tolist()
    assert [each["cell"] for each in found] == stored.action.tolist()
    assert [each["reward"] for each in found] == stored.reward.tolist()
    assert [each["continues"] for each in found] == continues.tolist()
    assert [each["next"] * each["continues"] for each in found] == following.tolist()


def recorded(number: int) -> tuple[list[dict[str, float]], Transitions]:
    """Return random transitions for JavaScript, and as Python's agents of plain views know them."""
    random = np.random.default_rng(1000)
    state, after = (random.integers(len(ROWS), size=number) for _ in range(2))
    cell, continues = random.integers(9, size=number), random.integers(2, size=number)
    reward = random.choice([0.0, -1.0, 1.0, -10.0], size=number)
    columns = {"row": ROWS[state], "cell": cell, "reward": reward, "next": ROWS[after], "continues": continues}
    rows = [{name: column[i].item() for name, column in columns.items()} for i in range(number)]
    seen = torch.as_tensor(MOVER).flatten(1).float()
    numbers = torch.tensor(reward).float(), torch.tensor(continues).float()
    return rows, Transitions(seen[state], torch.as_tensor(cell), seen[after], *numbers)


def flat(network: torch.nn.Module) -> NDArray[np.float32]:
    """Return the weights of a network with one hidden layer in the order of dqn_learner.js."""
    assert isinstance(network, QNetwork)
    hidden, hidden_bias, output, output_bias = (part.detach().numpy() for part in network.state_dict().values())
    weights: NDArray[np.float32] = np.concatenate([hidden.T.ravel(), hidden_bias, output.ravel(), output_bias])
    return weights


@pytest.mark.parametrize("target", ["negamax", "independent", "article"])
@pytest.mark.parametrize("mask", [False, True])
def test_recorded_transitions_have_the_same_targets_and_lead_to_the_same_networks(
    call: Call, target: str, mask: bool
) -> None:
    """After thirty updates, also of the target network and the average."""
    config = config_with(target=target, mask=mask, symmetry="none", hidden=(64,), learning_rate=0.012, soft_update=0.06)
    agent = DQNAgent(config, torch.device("cpu"), torch.Generator().manual_seed(1000))
    other = make(config_with(hidden=(64,), seed=1001)).agents[0].network
    agent.target_network.load_state_dict(other.state_dict())
    rows, transitions = recorded(1_000)
    networks = agent.network, agent.target_network, agent.average_network
    before = [text(flat(each)) for each in networks]
    first = agent.targets(transitions, agent).tolist()
    for _ in range(30):
        agent.update(transitions, agent.targets(transitions, agent))
    script = f"""(settings, rows, before) => {{ {GAME} {DECODE} {ENCODE}
        const learner = dqnLearner(game, settings, Math.random);
        const networks = [learner.weights, learner.target, learner.average];
        networks.forEach((weights, i) => weights.set(decode(before[i], Float32Array)));
        rows.forEach(learner.remember);
        const targets = learner.memory.map(learner.targetOf);
        for (let i = 0; i < 30; i += 1) {{
            learner.update(learner.memory);
        }}
        return [targets, ...networks.map(encode)]; }}"""
    settings = SETTINGS | {"target": target, "illegal": "mask" if mask else "penalty"}
    targets, *after = call("dqn_learner.js", script, settings, rows, before)
    assert targets == pytest.approx(first, abs=1e-5)
    assert np.std(first) > 1
    for network, weights, old in zip(networks, after, before, strict=True):
        assert array(weights, np.float32) == pytest.approx(flat(network), abs=1e-4)
        assert np.abs(flat(network) - array(old, np.float32)).max() > 0.02


@pytest.mark.parametrize("mask", [False, True])
def test_a_network_that_sees_canonical_boards_is_the_same_player(call: Call, mask: bool) -> None:
    player = make(config_with(hidden=(64,), symmetry="canonical", mask=mask, seed=1000)).player()
    network = make(config_with(hidden=(64,), symmetry="canonical", seed=1000)).agents[0].network
    player = QPlayer(player.config, (network,))
    script = f"""(settings, weights, rows) => {{ {GAME} {DECODE}
        const learner = dqnLearner(game, settings, Math.random);
        learner.average.set(decode(weights, Float32Array));
        return [judge(game, learner.moves()).map((seat) => seat.ways), rows.map(learner.values)]; }}"""
    settings = SETTINGS | {"additions": "on", "illegal": "mask" if mask else "penalty"}
    some = slice(0, None, 41)
    ways, values = call("dqn_learner.js", script, settings, text(flat(network)), ROWS[some].tolist())
    verdict = selfplay.evaluate(player)
    assert ways == [verdict.first.ways_to_beat, verdict.second.ways_to_beat]
    assert np.array(values) == pytest.approx(player.q_values(MOVER[some]), abs=1e-5)


def test_the_same_games_lead_to_the_same_table_bit_by_bit(call: Call) -> None:
    """JavaScript gets the random numbers of Python's generator, and so plays the same games."""
    learner = MinimaxQ(MinimaxQConfig(seed=1000))
    before = learner.table.copy()
    numbers = np.random.Generator(np.random.PCG64())
    numbers.bit_generator.state = learner.rng.bit_generator.state
    learner.play(1_000)
    assert learner.plies > 3_000
    script = f"""(settings, before, numbers, plies) => {{ {GAME} {DECODE} {ENCODE}
        let next = () => 0.5;
        const learner = tableLearner(game, settings, () => next());
        learner.table.set(decode(before, Float64Array));
        const left = decode(numbers, Float64Array).values();
        next = () => left.next().value;
        while (learner.counts.plies < plies) {{
            learner.advance();
        }}
        return encode(learner.table); }}"""
    settings = SETTINGS | {"rate": 0.1, "explore": 0.6}
    table = call(
        "table_learner.js", script, settings, text(to_mover(before)), text(numbers.random(20_000)), learner.plies
    )
    assert (array(table, np.float64).reshape(-1, 9)[ROWS] == to_mover(learner.table)[ROWS]).all()
    assert (learner.table[ROWS] != before[ROWS]).sum() > 500


def to_mover(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a table whose values are those to the seat that moves; Python's are to the first seat."""
    turned = table.copy()
    turned[ROWS[SEATS == 1]] *= -1
    return turned
