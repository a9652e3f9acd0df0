"""From Python: settings as keyword arguments or a config; your own loop, networks, agents; mistakes."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

import selfplay
from selfplay.cli.main import main
from selfplay.dqn.dqn import Transitions, Update
from selfplay.learner import code_name
from selfplay.runs.loop import Record
from tests.runs import SHORT, assert_same, refused
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import SMALL
from tictactoe import Rewards, Rules

OWN: dict[str, Any] = {**SHORT, "total_steps": 960, "eval_every": 480, "rewards": Rewards(illegal=-5, draw=0.25)}
AS_TYPED = {**OWN, "hidden": 16, "num_envs": np.int64(16), "total_steps": 9.6e2, "device": torch.device("cpu")}
"""The same settings in other types."""


@pytest.mark.usefixtures("stopper")
def test_every_way_to_give_the_settings_makes_the_same_run(tmp_path: Path) -> None:
    run = selfplay.train(**OWN, run_dir=tmp_path / "it", progress=False)
    content = json.loads((run.folder / "config.json").read_text())
    ways: dict[str, tuple[list[Any], dict[str, Any]]] = {
        "typed": ([], AS_TYPED),
        "config": ([selfplay.DQNConfig(**OWN)], {}),
        "changed": ([selfplay.DQNConfig(**{**OWN, "seed": 3})], {"seed": 1_000}),
        "run": ([run.config], {}),
        "settings": (["dqn"], content["config"]),
    }
    for name, (args, settings) in ways.items():
        selfplay.train(*args, **settings, run_dir=tmp_path / name, progress=False)
        assert_same(run.folder, tmp_path / name)


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize("config", [selfplay.DQNConfig(**SHORT), selfplay.TDBackupConfig(games=1_000, eval_every=400)])
def test_training_yields_what_train_records_with_the_players_that_were_evaluated(config: Any, here: Path) -> None:
    torch.set_num_threads(2)
    try:
        history = list(selfplay.training(config))
        assert torch.get_num_threads() == 2  # as it was; in between there is one, or the bits would be others
    finally:
        torch.set_num_threads(1)
    assert not list(here.iterdir())
    run = selfplay.train(config, progress=False)
    same = [[(record.steps, record.verdict) for record in records] for records in (history, run.records)]
    assert same[0] == same[1]
    assert [selfplay.evaluate(record.player, Rules()) for record in history] == [each.verdict for each in history]
    assert run.folder.parent == Path("runs")


def test_the_board_can_be_given_by_its_rules_or_by_its_sizes() -> None:
    small = {**SHORT, "total_steps": 96, "eval_every": 96}
    for board in ({"rules": Rules(2, 3, 2)}, {"rows": 2, "k": 2}):
        record = next(selfplay.training(**{**small, **board}))
        assert record.player.rules == Rules(2, 3, 2)


@pytest.mark.usefixtures("stopper")
def test_a_folder_is_opened_as_what_train_returned(tmp_path: Path) -> None:
    run = selfplay.train(**SHORT, run_dir=tmp_path / "it", progress=False)
    opened = selfplay.open(run.folder)
    assert type(opened) is type(run)
    assert opened.config == run.config
    assert opened.records == run.records
    assert opened.verdict == run.verdict
    assert (opened.interrupted, run.interrupted) == (False, False)
    assert {*opened.snapshots} == {*run.snapshots} >= {960, 1_920, 2_400}
    assert (opened.player.q_values(ABSOLUTE) == run.player.q_values(ABSOLUTE)).all()
    assert "other" in refused(selfplay.open, tmp_path / "other")


@pytest.mark.usefixtures("stopper")
def test_an_interrupted_run_is_returned_and_says_what_it_lacks(tmp_path: Path) -> None:
    begun = selfplay.train(**SHORT, run_dir=tmp_path / "begun", stop_when=lambda: True, progress=False)
    assert begun.interrupted
    assert selfplay.open(begun).interrupted
    for call in (begun.frame, begun.plot, lambda: begun.verdict):
        assert "begun" in refused(call)
    assert begun.proved_from is None


@pytest.mark.parametrize(
    "config",
    [selfplay.DQNConfig(stop="never"), selfplay.DQNConfig(stop="optimal"), selfplay.TDBackupConfig()],
    ids=lambda config: f"{config.algorithm} {config.stop}",
)
def test_a_run_is_proved_from_the_first_proof_after_its_last_lapse(config: Any, tmp_path: Path) -> None:
    proof, lapse = selfplay.evaluate("optimal"), selfplay.evaluate("heuristic")
    records = [
        Record(number=number, steps=number, verdict=verdict, metrics={}, proofs=0)
        for number, verdict in enumerate((proof, lapse, proof, proof))
    ]
    assert selfplay.Run(config, tmp_path, records).proved_from == records[2]
    assert selfplay.Run(config, tmp_path, records[:2]).proved_from is None


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"hiden": 64}, "hidden"),
        ({"depth": 64}, "depth"),
        ({"preset": "artcle"}, "article"),
        ({"rules": (3, 4, 3)}, "rules"),
        ({"rows": 9, "cols": 9}, "9"),
        ({"algorithm": "td-value", "rules": Rules(2, 2, 2)}, "rules"),
        ({"algorithm": "td-value", "rows": 2}, "rows"),
        ({"resume": 3}, "resume"),
        ({"resume": "nowhere"}, "nowhere"),
        ({"algorithm": "minimaxq"}, "minimax-q"),
        ({"algorithm": {"seed": 3}}, "seed"),
        ({"algorithm": "dqn", "learner": 3}, "learner"),
        ({"algorithm": "td-value", "network": nn.Linear}, "network"),
        ({"algorithm": "td-value", "agent": selfplay.DQNAgent}, "agent"),
        ({"network": "mine:network"}, "mine:network"),  # as a config.json names it
        ({"agent": "mine:Agent"}, "mine:Agent"),
        ({"agent": selfplay.DQNConfig}, "agent"),
        ({"force": True}, "force"),
        ({"checkpoint_interval": 0}, "checkpoint_interval"),
        ({"algorithm": selfplay.CustomConfig()}, "learner"),
        ({"config": {"seed": 1}}, "config"),
    ],
    ids=str,
)
def test_a_mistake_is_named(arguments: dict[str, Any], named: str) -> None:
    given = dict(arguments)
    assert named in refused(selfplay.train, given.pop("algorithm", None), **given)


# Custom networks


def small_network(rules: Rules) -> nn.Module:
    """Return a network with what ours has not: another activation, normalization, dropout."""
    return nn.Sequential(
        nn.Linear(3 * rules.cells, 24), nn.LayerNorm(24), nn.Tanh(), nn.Dropout(0.5), nn.Linear(24, rules.cells)
    )


@pytest.mark.usefixtures("stopper")
@pytest.mark.parametrize("network", [small_network, small_network(Rules())], ids=["function", "module"])
def test_a_custom_network_is_trained_resumed_and_loaded(network: Any, tmp_path: Path) -> None:
    given = copy.deepcopy(network)
    settings = {**SHORT, "network": network, "networks": "separate", "progress": False}
    run = selfplay.train(**settings, run_dir=tmp_path / "it")
    loaded = selfplay.load(run.folder, network=network)
    assert (loaded.q_values(ABSOLUTE) == run.player.q_values(ABSOLUTE)).all()
    assert selfplay.evaluate(loaded, Rules()) == run.verdict
    for message in (refused(selfplay.load, run.folder), refused(selfplay.train, resume=run.folder)):
        assert code_name(network) in message
    longer = selfplay.train(resume=run.folder, network=network, total_steps=4_800, progress=False)
    whole = selfplay.train(**{**settings, "total_steps": 4_800}, run_dir=tmp_path / "whole")
    assert (longer.player.q_values(ABSOLUTE) == whole.player.q_values(ABSOLUTE)).all()
    assert "network" in refused(selfplay.load, "shipped", network=network)
    if isinstance(network, nn.Module):  # the user's own stays as it was
        assert all(torch.equal(*weights) for weights in zip(network.parameters(), given.parameters(), strict=True))
        assert network.training


def test_the_seed_decides_a_custom_networks_first_weights_and_pytorchs_generator_stays_as_it_was() -> None:
    state = torch.get_rng_state()
    first, again, other = (
        next(selfplay.training(**{**SHORT, "seed": seed}, network=small_network)).player for seed in (1, 1, 2)
    )
    assert (first.q_values(ABSOLUTE) == again.q_values(ABSOLUTE)).all()
    assert not (first.q_values(ABSOLUTE) == other.q_values(ABSOLUTE)).any()
    assert torch.equal(torch.get_rng_state(), state)


def tied_network(rules: Rules) -> nn.Module:
    layer = nn.Linear(3 * rules.cells, 3 * rules.cells)
    return nn.Sequential(layer, nn.ReLU(), layer, nn.Linear(3 * rules.cells, rules.cells))


@pytest.mark.parametrize(
    "network",
    [
        lambda _: 3,
        lambda _: nn.Linear(9, 9),
        lambda _: nn.Linear(27, 5),
        nn.Linear(27, 5),
        lambda _: nn.LSTM(27, 9),
        lambda _: nn.Linear(27, 9).requires_grad_(False),
        lambda _: nn.Linear(27, 9).double(),
        tied_network,
    ],
)
def test_a_network_that_does_not_fit_is_refused(network: Callable[[Rules], Any]) -> None:
    assert "network" in refused(next, selfplay.training(SMALL, network=network))


# Custom agents


class Recalling(selfplay.DQNAgent):
    """An agent that weights each transition by how often its action was taken before, and counts them."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.taken = torch.zeros(self.config.rules.cells, dtype=torch.int64)

    def act(self, observation: torch.Tensor, epsilon: float) -> torch.Tensor:
        """Choose actions, and count them."""
        actions = super().act(observation, epsilon)
        self.taken += torch.bincount(actions, minlength=len(self.taken))
        return actions

    def update(self, transitions: Transitions, targets: torch.Tensor) -> Update:
        """Remember the actions for their losses."""
        self.sampled = transitions.action
        return super().update(transitions, targets)

    def losses(self, values: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        """Let a rare action count for more."""
        return super().losses(values, targets) / (1 + self.taken[self.sampled])

    def own_tensors(self) -> dict[str, torch.Tensor]:
        """Name what training changes, as a setting of the DQN has a bound of its own by this name."""
        return {"count": self.taken}


@pytest.mark.usefixtures("stopper")
def test_a_custom_agent_is_resumed_to_the_same_bits_and_its_player_needs_no_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {**SHORT, "networks": "separate", "agent": Recalling, "progress": False}
    whole = selfplay.train(**settings, run_dir=tmp_path / "whole")
    asked = iter([False] * 80 + [True] + [False] * 20)
    stops: dict[str, Any] = {"stop_when": lambda: next(asked, True), "progress": False}
    part = selfplay.train(**{**settings, **stops}, run_dir=tmp_path / "part")
    assert f"{Recalling.__module__}:Recalling" in refused(selfplay.train, resume=part)
    selfplay.train(resume=part, agent=Recalling, **stops)
    command = ["train", "--resume", str(part.folder)]
    with pytest.raises(SystemExit, match="2"):
        main(command)
    assert f"{Recalling.__module__}:Recalling" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main(command, agent=Recalling)
    assert_same(whole.folder, part.folder)
    assert selfplay.evaluate(selfplay.load(whole.folder), Rules()) == whole.verdict
    ours = selfplay.train(**{**settings, "agent": None}, run_dir=tmp_path / "ours")
    assert "agent" in refused(selfplay.train, resume=ours, agent=Recalling)


def test_training_takes_a_custom_agent() -> None:
    records = [next(selfplay.training(**SHORT, agent=agent)) for agent in (Recalling, Recalling, None)]
    first, again, ours = (record.player.q_values(ABSOLUTE) for record in records)
    assert (first == again).all()
    assert not (first == ours).all()
