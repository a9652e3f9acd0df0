"""A player gives the same moves for either perspective and either kind of array."""

import numpy as np
import pytest
import torch

from selfplay.dqn.player import network_inputs
from tests.selfplay.decisions import ABSOLUTE, MOVER
from tests.selfplay.dqn.scripted import config_with, make


@pytest.mark.parametrize("perspective", ["absolute", "mover"])
@pytest.mark.parametrize("given", [ABSOLUTE, MOVER])
def test_inputs_are_of_the_networks_perspective_whatever_is_given(given: np.ndarray, perspective: str) -> None:
    wanted = ABSOLUTE if perspective == "absolute" else MOVER
    assert torch.equal(network_inputs(torch.as_tensor(given), perspective), torch.as_tensor(wanted).flatten(1).float())


@pytest.mark.parametrize("networks", ["shared", "separate"])
def test_moves_do_not_depend_on_perspective_or_array_kind(networks: str) -> None:
    player = make(config_with(), separate=networks == "separate").player()
    moves = player.act(ABSOLUTE)
    assert not np.array_equal(ABSOLUTE, MOVER)
    assert isinstance(moves, np.ndarray)
    assert np.array_equal(moves, player.act(MOVER))
    tensor_moves = player.act(torch.as_tensor(MOVER))
    assert isinstance(tensor_moves, torch.Tensor)
    assert np.array_equal(moves, tensor_moves.numpy())
    assert len(set(moves.tolist())) > 1


def test_a_masked_player_never_takes_a_taken_cell_and_a_raw_one_may() -> None:
    masked, raw = make(config_with(mask=True)).player(), make(config_with()).player()
    empty = ABSOLUTE[..., 0].reshape(-1, 9)
    boards = np.arange(len(ABSOLUTE))
    assert empty[boards, masked.act(ABSOLUTE)].all()
    assert not empty[boards, raw.act(ABSOLUTE)].all()


def test_a_given_mask_rules() -> None:
    player = make(config_with()).player()
    mask = np.zeros((len(ABSOLUTE), 9), np.int8)
    mask[:, 5] = 1
    assert (player.act(ABSOLUTE, mask) == 5).all()


def test_observations_of_another_board_are_refused() -> None:
    with pytest.raises(ValueError, match=r"player knows observations \[B, \(3, 3, 3\)\], got shape \(1, 4, 4, 3\)"):
        make(config_with()).player().act(np.zeros((1, 4, 4, 3), np.int8))


@pytest.mark.parametrize(
    "changes", [{"hidden": (40, 12)}, {"convolution": (6,), "hidden": ()}, {"networks": "separate"}, {"lines": 2}]
)
def test_values_are_the_same_however_few_positions_there_is_room_for(
    changes: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_with(**changes, symmetry="none")
    player = make(config, separate=config.networks == "separate").player()
    whole = player.q_values(ABSOLUTE)
    network, asked = player.networks[0], []
    network.register_forward_hook(lambda _, inputs, __: asked.append(len(inputs[0])))
    monkeypatch.setattr("selfplay.dqn.player.MOST_NUMBERS", 54 * 10)
    assert np.allclose(player.q_values(ABSOLUTE), whole, rtol=1e-5, atol=1e-6)
    widest = 6 * 9 if config.convolution else 8 * 9 if config.lines else max(config.hidden)
    assert set(asked) == {540 // widest, 4_520 % (540 // widest) or 540 // widest}
