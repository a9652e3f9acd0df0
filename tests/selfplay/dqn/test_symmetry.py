"""A canonical player sees one image of each position and turns back what it chooses; augmentation turns transitions."""

import numpy as np
import pytest
import torch

from selfplay.dqn.symmetry import BoardSymmetries
from tests.selfplay.decisions import ABSOLUTE
from tests.selfplay.dqn.scripted import CPU, config_with, make, play, remembered
from tictactoe import Rules
from tictactoe.symmetry import symmetries

BOARDS = [Rules(3, 3, 3), Rules(3, 4, 3), Rules(5, 7, 4), Rules(6, 6, 5)]


def random_inputs(rules: Rules, number: int, seed: int) -> torch.Tensor:
    """Return what the movers see in random positions, lines or not, [number, 3A]."""
    marks = np.random.default_rng(seed).integers(3, size=(number, rules.cells))
    return torch.from_numpy(np.eye(3, dtype=np.float32)[marks]).flatten(1)


def turned(seen: torch.Tensor, rules: Rules, symmetry: int) -> torch.Tensor:
    """Return the image [B, 3A] of every position under one symmetry."""
    cells = torch.from_numpy(symmetries(rules)[symmetry].copy())
    return seen.view(len(seen), rules.cells, 3)[:, cells].flatten(1)


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_all_images_of_a_position_have_one_canonical_image_among_them(rules: Rules) -> None:
    canonical = BoardSymmetries(rules, CPU)
    seen = random_inputs(rules, 200, seed=1)
    seen[0] = seen[0].view(-1, 3)[0].repeat(rules.cells)  # the same under every symmetry
    image = canonical.canonical(seen)
    for symmetry in range(len(symmetries(rules))):
        again = canonical.canonical(turned(seen, rules, symmetry))
        assert torch.equal(again.observation, image.observation)
        assert torch.equal(again.number, image.number)
        chosen = image.symmetry == symmetry
        assert torch.equal(image.observation[chosen], turned(seen, rules, symmetry)[chosen])
    assert len(set(image.symmetry.tolist())) > 1


@pytest.mark.parametrize("rules", BOARDS, ids=str)
def test_what_is_chosen_on_an_image_is_the_same_cell_on_the_board(rules: Rules) -> None:
    canonical = BoardSymmetries(rules, CPU)
    seen = random_inputs(rules, 200, seed=2)
    image = canonical.canonical(seen)
    cells = torch.arange(200) % rules.cells
    on_board = canonical.cells(cells, image.symmetry)
    boards = torch.arange(200)
    assert torch.equal(image.observation.view(200, -1, 3)[boards, cells], seen.view(200, -1, 3)[boards, on_board])
    values = torch.rand(200, rules.cells, generator=torch.Generator().manual_seed(0))
    assert torch.equal(canonical.values(values, image.symmetry)[boards, on_board], values[boards, cells])


@pytest.mark.parametrize("networks", ["shared", "separate"])
@pytest.mark.parametrize("perspective", ["mover", "absolute"])
def test_a_canonical_player_values_every_image_alike(networks: str, perspective: str) -> None:
    config = config_with(symmetry="canonical", perspective=perspective)
    player = make(config, separate=networks == "separate").player()
    table = symmetries(Rules())
    values = player.q_values(ABSOLUTE)
    images = [ABSOLUTE.reshape(-1, 9, 3)[:, cells].reshape(ABSOLUTE.shape) for cells in table]
    # Where turning changes nothing on the board, either of two cells may be the one that the network knows.
    uneven = np.all([(image != ABSOLUTE).any(axis=(1, 2, 3)) for image in images[1:]], axis=0)
    assert uneven.sum() > 3_000
    for image, cells in zip(images, table, strict=True):
        np.testing.assert_allclose(player.q_values(image)[uneven], values[uneven][:, cells], atol=1e-6)


@pytest.mark.parametrize("symmetry", ["canonical", "none"])
def test_self_play_stores_the_plies_that_it_plays(symmetry: str) -> None:
    self_play = make(config_with(symmetry=symmetry, counterexamples=0.0))
    for _ in range(600):
        self_play.advance()
    transitions = remembered(self_play.agents[0])
    before = transitions.observation.view(-1, 9, 3)
    mine, theirs = before[..., 1] + torch.eye(9)[transitions.action], before[..., 2]
    after = torch.stack([1 - mine - theirs, theirs, mine], dim=-1).flatten(1)
    if symmetry == "canonical":
        canonical = BoardSymmetries(Rules(), CPU)
        assert torch.equal(canonical.canonical(transitions.observation).observation, transitions.observation)
        after = canonical.canonical(after).observation
    continues = transitions.continues == 1
    assert continues.sum() > 300
    assert torch.equal(after[continues], transitions.next_observation[continues])
    assert ((transitions.reward == 1) <= ~continues).all()
    assert (transitions.reward == 1).any()


@pytest.mark.parametrize("rules", [Rules(3, 3, 3), Rules(2, 4, 3)], ids=str)
def test_each_augmented_transition_is_turned_by_itself_and_stays_true(rules: Rules) -> None:
    self_play = make(config_with(rules=rules, symmetry="none"))
    play(self_play, [0, 5, 1, 6, 3])
    seen, chosen, after_it, *_ = (field.repeat_interleave(100, dim=0) for field in remembered(self_play.agents[0]))
    symmetries, generator = BoardSymmetries(rules, CPU), torch.Generator().manual_seed(1)
    observation, action, next_observation = symmetries.augment(seen, chosen, after_it, generator)
    for augmented, original in ((observation, seen), (next_observation, after_it)):
        assert torch.equal(symmetries.canonical(augmented).observation, symmetries.canonical(original).observation)
    before, after = (planes.view(500, rules.cells, 3)[:400] for planes in (observation, next_observation))
    # The action, put on the board, leads to the next position as its mover sees it; the last one starts a new game.
    assert torch.equal(before[..., 1] + torch.eye(rules.cells)[action[:400]], after[..., 2])
    assert torch.equal(before[..., 2], after[..., 1])
    assert len(set(action[:100].tolist())) == 4  # a corner goes to every corner
