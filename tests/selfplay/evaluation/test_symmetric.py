"""The proof of a canonical player, which follows one image of each position, counts what the whole walk counts."""

from typing import Any

import numpy as np
import pytest
from selfplay.evaluation.judge import Judge, trusted
from selfplay.evaluation.reach import evaluate_reach, follow
from selfplay.evaluation.retrograde import NEVER, distances
from selfplay.evaluation.walk import Ply

from selfplay.dqn.player import QPlayer
from selfplay.evaluation.counterexamples import of_play
from tests.selfplay.dqn.scripted import config_with, make
from tests.selfplay.evaluation.players import assert_close
from tictactoe import Rules
from tictactoe.symmetry import representatives

BOARDS = [Rules(3, 3, 3), Rules(3, 4, 3), Rules(2, 5, 3), Rules(2, 7, 3)]


def canonical_player(rules: Rules, seed: int, mask: bool, networks: str = "shared") -> QPlayer:
    config = config_with(rows=rules.rows, cols=rules.cols, k=rules.k, seed=seed, symmetry="canonical", mask=mask)
    return make(config, separate=networks == "separate").player()


def whole(player: QPlayer) -> Judge:
    return Judge(player, player.rules, "mover", twice=False)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
@pytest.mark.parametrize(("mask", "networks"), [(True, "shared"), (True, "separate"), (False, "shared")])
def test_it_counts_the_same_lines(rules: Rules, mask: bool, networks: str) -> None:
    for seed in range(2):
        player = canonical_player(rules, seed, mask, networks)
        judge = trusted(player)
        assert judge.symmetric
        for seat in (0, 1):
            found, expected = follow(judge, seat, 10**6), follow(whole(player), seat, 10**6)
            assert type(found) is type(expected)
            assert_close(found, expected)  # type: ignore[arg-type]


def test_it_asks_for_fewer_positions() -> None:
    class Counting(QPlayer):
        asked = 0

        def act(self, observation: Any, action_mask: Any = None) -> Any:
            self.asked += len(observation)
            return super().act(observation, action_mask)

    player = canonical_player(Rules(4, 4, 4), 0, mask=True)
    counts = []
    for judged in (trusted, whole):
        counting = Counting(player.rules, player.networks, player.perspective, player.mask, canonical=True)
        follow(judged(counting), 0, 10**6)
        counts.append(counting.asked)
    assert counts[0] < counts[1] / 2


@pytest.mark.parametrize("rules", BOARDS[:3], ids=str)
def test_its_counterexamples_are_an_image_of_each_of_all(rules: Rules) -> None:
    player = canonical_player(rules, 3, mask=False)
    generator = np.random.default_rng(0)
    found, every = of_play(trusted(player), 10**6, generator), of_play(whole(player), 10**6, generator)
    images = set(zip(*(side.tolist() for side in representatives(rules, every.mover, every.opponent)), strict=True))
    assert set(zip(found.mover.tolist(), found.opponent.tolist(), strict=True)) == images
    assert len(found.mover) == len(images) < len(every.mover)
    assert [line and len(line) for line in found.shortest] == [line and len(line) for line in every.shortest]
    quickest = []
    for judge in (trusted(player), whole(player)):
        kept: list[Ply] = []
        follow(judge, 1, 10**6, kept=kept)
        quickest.append([int(known.distance.min(initial=NEVER)) for known in distances(rules, kept, judge.symmetric)])
    assert quickest[0] == quickest[1]


def test_nobody_elses_word_is_taken_for_it() -> None:
    player = canonical_player(Rules(), 0, mask=True)
    assert not Judge(player, Rules()).symmetric
    assert evaluate_reach(player, Rules()).first.losses == follow(whole(player), 0, 10**6).losses
