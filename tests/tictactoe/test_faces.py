"""Drive every face of the environment through the same games, with actions of any kind, beside the rule book."""

from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode
from hypothesis import given, settings, strategies as st

from tests.tictactoe.rule_book import EMPTY, RuleBook, Verdict, seat_to_move
from tests.tictactoe.shared import sized
from tictactoe import Rules, batch, tictactoe_v0
from tictactoe.rewards import PRESETS

SIZES = [(3, 3, 3), (1, 1, 1), (1, 5, 2), (3, 4, 3), (4, 4, 4), (2, 2, 2), (4, 5, 4), (8, 8, 5)]

# What is no cell of any board above, in as many kinds as somebody may hand over.
NO_CELLS = st.one_of(
    st.integers(max_value=-1),
    st.integers(min_value=64),
    st.floats(),
    st.none(),
    st.booleans(),
    st.text(max_size=2),
    st.sampled_from([np.array([0]), np.array([[1, 2]]), np.float32(1), np.bool_(True), np.array(0.0), [0], (1, 2), {}]),
)
SCRIPTS = st.lists(st.one_of(st.integers(0, 63), NO_CELLS), max_size=40)


class Game:
    """Play one game by the rule book and hold every face against it at every ply."""

    def __init__(self, size: tuple[int, int, int], preset: str, perspective: str) -> None:
        self.book, self.board = RuleBook(*size), RuleBook(*size).empty_board
        self.rewards, self.perspective = PRESETS[preset], perspective
        keywords = {**sized(size), "rewards": preset, "perspective": perspective}
        self.turn = gymnasium.make("tictactoe:TicTacToe-v0", **keywords)
        self.dicts = gymnasium.make("tictactoe:TicTacToe-v0", dict_observation=True, **keywords)
        self.aec = tictactoe_v0.env(**keywords)
        self.vector = gymnasium.make_vec(
            "tictactoe:TicTacToe-v0", num_envs=2, autoreset_mode=AutoresetMode.DISABLED, **keywords
        )
        self.rules = Rules(*size)
        self.states = {library: batch.reset(self.rules, 1, library) for library in (np, torch)}
        self.turn.reset(seed=0)
        self.dicts.reset(seed=0)
        self.vector.reset(seed=0)
        self.aec.reset(seed=0)

    def refuse(self, action: Any) -> None:
        """Hand over what is no cell; no face may take it or change."""
        seen = self.aec.observe(self.aec.agent_selection)["observation"]
        for env in (self.turn, self.dicts, self.aec):
            with pytest.raises(gymnasium.error.InvalidAction, match="action must be an integer from 0 to"):
                env.step(action)
        with pytest.raises(gymnasium.error.InvalidAction, match="actions must be"):
            self.vector.step([action, action])
        np.testing.assert_array_equal(self.aec.observe(self.aec.agent_selection)["observation"], seen)
        self.check_boards()

    def move(self, cell: int) -> Verdict:
        """Mark a cell, or try to, in every face."""
        seat = seat_to_move(self.board)
        verdict = self.book.play(self.board, cell, self.rewards)
        self.board = verdict.board
        mover, other = tictactoe_v0.AGENTS[seat], tictactoe_v0.AGENTS[1 - seat]
        loss = self.rewards.loss if verdict.winner == seat else 0.0

        observation, reward, terminated, _, info = self.turn.step(cell)
        assert info.keys() == {"action_mask", "to_play", "winner", "illegal"}
        self.check(verdict, observation, reward, terminated, info)
        observed, reward, terminated, _, info = self.dicts.step(cell)
        assert info.keys() == {"action_mask", "to_play", "winner", "illegal"}
        assert observed["action_mask"].tolist() == info["action_mask"].tolist()
        self.check(verdict, observed["observation"], reward, terminated, info)

        self.aec.step(cell)
        observation = self.aec.observe(other)["observation"]
        if verdict.illegal:  # the seat to move is still the one that made the mistake
            observation = self.aec.observe(mover)["observation"]
        info = {**self.aec.infos[other], "to_play": tictactoe_v0.AGENTS.index(mover if verdict.illegal else other)}
        self.check(verdict, observation, self.aec.rewards[mover], self.aec.terminations[mover], info)
        assert self.aec.rewards[other] == loss
        assert self.aec.terminations == dict.fromkeys(tictactoe_v0.AGENTS, verdict.terminated)
        assert self.aec.truncations == dict.fromkeys(tictactoe_v0.AGENTS, False)
        assert self.aec.agent_selection == other
        assert self.aec.observe(other)["action_mask"].tolist() == info["action_mask"].tolist()
        ended = {"winner", "illegal"} if verdict.terminated else set()
        assert set(self.aec.infos[mover]) == set(self.aec.infos[other]) == {"action_mask", *ended}
        assert all(self.aec.infos[mover][key] == info[key] for key in ended)

        observations, reward, terminated, _, infos = self.vector.step([cell, cell])
        for board in range(2):
            info = {key: value[board] for key, value in infos.items() if infos.get(f"_{key}", [False] * 2)[board]}
            self.check(verdict, observations[board], float(reward[board]), bool(terminated[board]), info)

        for library, state in self.states.items():
            result = batch.step(self.rules, self.rewards, state, library.asarray([cell]))
            self.states[library] = result.state
            assert float(result.reward[0]) == np.float32(verdict.reward)
            assert float(result.other_reward[0]) == np.float32(loss)
            assert bool(result.terminated[0]) is verdict.terminated
            assert int(result.winner[0]) == verdict.winner
            assert bool(result.illegal[0]) is verdict.illegal
        self.check_boards()
        return verdict

    def check(self, verdict: Verdict, observation: Any, reward: Any, terminated: bool, info: dict[str, Any]) -> None:
        """Compare what a face returned with what the rule book says."""
        assert observation.tolist() == self.one_hot()
        assert (reward, terminated) == (verdict.reward, verdict.terminated)
        empty = [1 if verdict.terminated else int(held == EMPTY) for held in self.board]
        assert info["action_mask"].tolist() == empty
        assert info["to_play"] == seat_to_move(self.board)
        assert info.get("winner", -1) == verdict.winner
        assert info.get("illegal", False) == verdict.illegal

    def check_boards(self) -> None:
        """Compare the boards that the faces hold with the rule book's."""
        for state in self.states.values():
            assert batch.observe(self.rules, state, self.perspective)[0].tolist() == self.one_hot()
        seat = seat_to_move(self.board)
        assert self.turn.unwrapped.observe(seat).tolist() == self.one_hot()  # type: ignore[attr-defined]

    def one_hot(self) -> list[Any]:
        return self.book.one_hot(self.board, self.perspective)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    size=st.sampled_from(SIZES),
    preset=st.sampled_from(list(PRESETS)),
    perspective=st.sampled_from(batch.PERSPECTIVES),
    script=SCRIPTS,
)
def test_every_face_follows_the_rule_book_whatever_it_is_given(
    size: tuple[int, int, int], preset: str, perspective: str, script: list[Any]
) -> None:
    game = Game(size, preset, perspective)
    for action in script:
        if type(action) is int and 0 <= action < game.book.cells:
            if game.move(action).terminated:
                break
        else:
            game.refuse(action)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_every_face_plays_the_same_random_games_to_their_end(size: tuple[int, int, int], preset: str) -> None:
    rng = np.random.default_rng(1)
    for number in range(6):
        game = Game(size, preset, batch.PERSPECTIVES[number % 2])
        for cell in rng.permutation(game.book.cells):
            taken = [other for other, held in enumerate(game.board) if held != EMPTY]
            illegal = bool(taken) and rng.random() < 0.05
            if game.move(int(rng.choice(taken)) if illegal else int(cell)).terminated:
                break
        with pytest.raises(gymnasium.error.ResetNeeded):
            game.turn.step(0)
        with pytest.raises(gymnasium.error.ResetNeeded):
            game.vector.step([0, 0])
