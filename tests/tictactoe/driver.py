"""Drive every environment API through games that the rule book judges, and compare all that is returned."""

import copy
import os
import pickle
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, fields, replace
from functools import partial
from types import ModuleType
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch

from tests.tictactoe.rule_book import EMPTY, Board, PlyResult, RuleBook, book_of, empty_cells, seat_to_move, with_mark
from tests.variants import VARIANTS
from tictactoe import Rewards, Rules, batch, tictactoe_v0
from tictactoe.positions import checked_position
from tictactoe.rewards import PRESETS
from tictactoe.rules import WORD_BITS

TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"
AGENTS = tictactoe_v0.AGENTS
EXACT = Rewards(*[5, -7, -0.25, 2, -4.5, 1.5, -3, 0.75][: len(fields(Rewards))])
"""Rewards that all differ, and that single precision holds exactly."""
INTEGERS = (int, np.int64, np.int8, np.uint8, np.array)
"""What makes an action of a cell: any of these is taken."""
ARRAYS = (list, np.array, torch.tensor, np.asfortranarray, partial(np.array, dtype=np.float16))
"""What makes a position of nested lists: any of these is taken."""
SETTINGS = int(os.environ.get("SETTINGS", "20"))
"""Random settings of games. For more: SETTINGS=1000 pytest --timeout=0 -k "rule_book or single" tests/tictactoe"""
INFO_TYPES = {"action_mask": np.int8, "to_play": np.int64, "winner": np.int64, "illegal": np.bool_}

BOARDS = [
    *(Rules(), Rules(1, 1, 1), Rules(3, 3, 1), Rules(1, 5, 2), Rules(4, 2, 3), Rules(3, 4, 3), Rules(4, 4, 4)),
    *(Rules(2, 8, 4), Rules(8, 8, 5), Rules(10, 9, 5), *VARIANTS),
]
"""Boards that are looked up in a table, and boards that are computed, one of exactly 64 cells and one of more."""
WORD_BOARDS = [rules for rules in BOARDS if rules.cells <= WORD_BITS]
"""Those that many boards at once take."""

Opponent = Callable[[Any, Any], Any]


def random_actions(mask: np.ndarray, rng: np.random.Generator, careless: float = 0.05) -> np.ndarray:
    """Return a cell for each board, mostly but not always one that the mask, [B, A], leaves."""
    any_cell = rng.random((len(mask), 1)) < careless
    chosen: np.ndarray = np.where((mask == 1) | any_cell, rng.random(mask.shape), -1).argmax(axis=1)
    return chosen


def first_empty(observation: np.ndarray, action_mask: np.ndarray) -> Any:  # noqa: ARG001 (an opponent's signature)
    """Play the first empty cell, on one board or on many."""
    return action_mask.argmax(axis=-1)


def last_empty_or_illegal(observation: np.ndarray, action_mask: np.ndarray) -> Any:
    """Play the last empty cell, but a taken one as soon as plane 1 holds the first cell."""
    last = action_mask.shape[-1] - 1 - action_mask[..., ::-1].argmax(axis=-1)
    return np.where(observation[..., 0, 0, 1] == 1, 0, last)


def random_boards(book: RuleBook, number: int) -> list[Board]:
    """Return boards of unfinished random games; every fourth is empty."""
    rng, found = np.random.default_rng(number), list[Board]()
    for count in range(number):
        board = book.empty_board
        for _ in range(int(rng.integers(book.cells)) * (count % 4 > 0)):
            after = with_mark(board, int(rng.choice(empty_cells(board))), "XO"[seat_to_move(board)])
            if book.finished(after):
                break
            board = after
        found.append(board)
    return found


class Drive:
    """Play games by an API and by the rule book, and compare what is seen at every ply.

    With "versus" an opponent plays the seat that the agent does not.
    """

    def __init__(
        self,
        api: str,
        rules: Rules,
        perspective: str,
        rewards: Rewards = EXACT,
        reply: Opponent = first_empty,
        **settings: Any,
    ) -> None:
        self.book, self.perspective, self.rewards, self.reply = book_of(rules), perspective, rewards, reply
        self.api = APIS[api]({**settings, **asdict(rules), "rewards": rewards, "perspective": perspective})
        if "versus" in api:
            self.api.env.unwrapped.set_opponent(reply)

    def seats(self, board: Board) -> list[int]:
        """Return the agent's seats in which a game can start from a board: no first reply may end it."""
        self.now, to_move = PlyResult(board, 0.0, terminated=False), seat_to_move(board)
        ends = [self.book.play(board, cell, EXACT).terminated for cell in empty_cells(board)]
        return [to_move] if any(ends) or self.answered().terminated else [to_move, 1 - to_move]

    def start(self, board: Board, seat: int | None = None) -> None:
        """Start a game from a board, in which the agent plays one seat or both."""
        self.now, self.seat = PlyResult(board, 0.0, terminated=False), seat
        if seat not in (None, seat_to_move(board)):
            self.now = replace(self.answered(), reward=0.0)
        marks = len(board) - board.count(EMPTY)
        options = {"position": ARRAYS[marks % len(ARRAYS)](self.book.one_hot(board, self.perspective)), "seat": seat}
        if seat is None:
            del options["seat"]
        usual = board == self.book.empty_board and not seat
        assert self.api.reset(None if usual else options) == self.row

    def step(self, cell: int, copied: bool = False) -> None:
        """Mark a cell, in a copy first if it is to be `copied`, and check what that does."""
        self.now = self.book.play(self.now.board, cell, self.rewards)
        if self.seat is not None and not self.now.terminated:
            answered = self.answered()
            self.now = replace(answered, reward=self.now.reward + answered.other_reward)
        copies = [pickle.loads(pickle.dumps(copy.deepcopy(self.api)))] if copied else []
        for api in (*copies, self.api):
            assert api.step(INTEGERS[cell % len(INTEGERS)](cell)) == self.row

    def answered(self) -> PlyResult:
        observation = np.array(self.book.one_hot(self.now.board, self.perspective))
        return self.book.play(self.now.board, int(self.reply(observation, np.array(self.mask))), self.rewards)

    @property
    def mask(self) -> list[int]:
        return [int(held == EMPTY or self.now.terminated) for held in self.now.board]

    @property
    def row(self) -> tuple[Any, ...]:
        """Return what is to be seen: planes, mask, seat to move, winner, illegal, reward, terminated.

        Some APIs show the rewards of both seats, that of the mover first.
        """
        now, planes = self.now, self.book.one_hot(self.now.board, self.perspective, self.seat)
        reward = (now.reward, now.other_reward) if isinstance(self.api, Agents | Batch) else now.reward
        return planes, self.mask, seat_to_move(now.board), now.winner, now.illegal, reward, now.terminated

    def play(self, board: Board, rng: np.random.Generator, seat: int | None = None) -> None:
        """Play a game with random moves to its end."""
        self.start(board, seat)
        while not self.now.terminated:
            self.step(int(random_actions(np.array([self.mask]), rng)[0]), copied=rng.random() < 0.1)


def play_sampled_games(api: str, number: int, games: int) -> None:
    """Play games whose settings follow from a number."""
    boards = BOARDS if api in ("turn", "versus", "PettingZoo") else WORD_BOARDS
    choose, rules = random.Random(number).choice, boards[number % len(boards)]
    settings = {"dict_observation": choose((False, True))} if api in ENVIRONMENTS else {}
    rewards, reply = choose((EXACT, *PRESETS.values())), choose((first_empty, last_empty_or_illegal))
    played = Drive(api, rules, choose(("absolute", "mover")), rewards, reply, **settings)
    rng = np.random.default_rng(number)
    for board in random_boards(played.book, games if rules.rows < 8 else 1):
        played.play(board, rng, choose(played.seats(board)) if "versus" in api else None)


def arrays_in(part: Any) -> Iterator[np.ndarray]:
    """Yield the arrays in what an environment returns, final observations among them."""
    if isinstance(part, np.ndarray) and part.dtype != object:
        yield part
    elif isinstance(part, tuple | dict | np.ndarray):
        for one in part.values() if isinstance(part, dict) else part:
            yield from arrays_in(one)


class Given:
    """The arrays that an environment has returned, which nothing but their owner may change."""

    def __init__(self) -> None:
        self.left: list[tuple[np.ndarray, np.ndarray]] = []

    def spoil(self, returned: Any) -> None:
        """Check that what was returned before is as it was left, and write into what is returned now."""
        for array, as_left in self.left:
            assert np.array_equal(array, as_left)
        self.left = []
        for array in arrays_in(returned):
            array[...] = array == 0
            self.left.append((array, array.copy()))


class Single:
    """A Gymnasium environment."""

    def __init__(self, env_id: str, settings: dict[str, Any]) -> None:
        self.env: Any = gymnasium.make(env_id, **settings)
        self.given = Given()
        self.assert_no_game()

    def assert_no_game(self) -> None:
        with pytest.raises(gymnasium.error.ResetNeeded):
            self.env.step(0)

    def reset(self, options: Any) -> tuple[Any, ...]:
        return *self.row(*self.env.reset(options=options)), 0.0, False

    def step(self, cell: Any) -> tuple[Any, ...]:
        observation, reward, terminated, truncated, info = self.env.step(cell)
        assert [type(part) for part in (reward, terminated, truncated)] == [float, bool, bool]
        assert not truncated
        if terminated:
            self.assert_no_game()
        return *self.row(observation, info), reward, terminated

    def row(self, observation: Any, info: dict[str, Any]) -> tuple[Any, ...]:
        masks = [self.env.unwrapped.action_masks(), info["action_mask"]]
        planes = observation
        if isinstance(observation, dict):
            planes = observation["observation"]
            masks.append(observation["action_mask"])
        for mask in masks:
            assert mask.dtype == np.int8
            assert np.array_equal(mask, masks[0])
        assert planes.dtype == np.int8
        assert {key: value.dtype for key, value in info.items() if key[0] != "_"} == INFO_TYPES
        row = planes.tolist(), *(info[key].tolist() for key in INFO_TYPES)
        self.given.spoil((observation, info, masks[0]))
        return row


class Many(Single):
    """A vector environment, in which one board plays the game and another random cells."""

    def __init__(self, env_id: str, settings: dict[str, Any]) -> None:
        self.env = gymnasium.make_vec(env_id, num_envs=2, **settings)
        self.given = Given()
        self.assert_no_game()
        self.rng = np.random.default_rng(0)
        self.seen = super().row(*self.env.reset(seed=0))

    def reset(self, options: Any) -> tuple[Any, ...]:
        chosen = {"reset_mask": np.array([True, False]), **(options or {})}
        if options is not None:
            position = np.asarray(options["position"])
            chosen["position"] = np.stack([position, position + 7])  # nothing is asked of a board that continues
        _, seen_of_other = zip(*self.seen, strict=True)
        row = super().row(*self.env.reset(options=chosen))
        first, other = zip(*row, strict=True)
        assert other[:3] == seen_of_other[:3]
        self.seen = row
        return *first, 0.0, False

    def step(self, cell: Any) -> tuple[Any, ...]:
        other = self.rng.integers(self.env.single_action_space.n)
        observation, reward, terminated, truncated, info = self.env.step(np.array([cell, other]))
        assert not truncated.any()
        self.seen = super().row(observation, info)
        first, _ = zip(*self.seen, strict=True)
        return *first, reward[0], terminated[0]


class Batch:
    """The functions on arrays of a library, for one board."""

    def __init__(self, library: ModuleType, settings: dict[str, Any]) -> None:
        self.rewards, self.perspective = settings.pop("rewards"), settings.pop("perspective")
        self.rules, self.library = Rules(**settings), library.__name__
        self.state = batch.reset(self.rules, 1, library)

    def asarray(self, values: Any) -> Any:
        return sys.modules[self.library].asarray(values)

    def reset(self, options: Any) -> tuple[Any, ...]:
        self.state = batch.restart(self.state, self.asarray([True]))
        if options is not None:
            marks = checked_position(self.rules, options["position"], self.perspective)
            ply = sum(side.bit_count() for side in marks)
            words = np.array(marks, np.uint64).view(np.int64)
            mover, opponent = (words[seat : seat + 1] for seat in (ply % 2, 1 - ply % 2))
            self.state = batch.State(*map(self.asarray, (mover, opponent, [ply])))
        return *self.row(over=False), -1, False, (0.0, 0.0), False

    def step(self, cell: Any) -> tuple[Any, ...]:
        narrow = np.asarray([cell])
        for actions in (narrow.tolist(), narrow, self.asarray(narrow)):
            played = batch.step(self.rules, self.rewards, self.state, actions)  # which changes no state
        self.state = played.state
        rewards = [played.reward, played.other_reward]
        assert [reward.dtype for reward in rewards] == [self.asarray(np.zeros(1, np.float32)).dtype] * 2
        over = played.terminated.item()
        paid = tuple(reward.item() for reward in rewards)
        return *self.row(over), played.winner.item(), played.illegal.item(), paid, over

    def row(self, over: bool) -> tuple[Any, ...]:
        planes = batch.observe(self.rules, self.state, self.perspective)[0].tolist()
        mask = [int(legal or over) for legal in batch.action_mask(self.rules, self.state)[0]]
        return planes, mask, self.state.to_play.item()


class Agents:
    """A PettingZoo environment; both agents are asked what they see, and told what they are owed."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.env, self.perspective = tictactoe_v0.env(**settings), settings["perspective"]
        self.given = Given()

    def reset(self, options: Any) -> tuple[Any, ...]:
        self.env.reset(options=options)
        self.owed = dict.fromkeys(AGENTS, 0.0)
        return self.row(self.env.agent_selection)

    def step(self, cell: Any) -> tuple[Any, ...]:
        mover = self.env.agent_selection
        self.env.step(cell)
        self.owed[mover] = 0.0
        for agent, reward in self.env.rewards.items():
            self.owed[agent] += reward
        row = self.row(mover)
        if self.env.terminations[mover]:
            found = {}
            for agent in self.env.agent_iter():
                found[agent] = self.env.last()[1]
                self.env.step(None)
            assert found == self.owed
        return row

    def row(self, mover: str) -> tuple[Any, ...]:
        env = self.env
        over, info, seat = env.terminations[mover], env.infos[mover], AGENTS.index(mover)
        assert env.terminations == dict.fromkeys(AGENTS, over)
        assert env.truncations == dict.fromkeys(AGENTS, False)
        for about in env.infos.values():
            assert about.keys() == {"action_mask", *(("winner", "illegal") if over else ())}
        # After a taken cell it is still the turn of the agent that took it.
        to_play = seat if info.get("illegal") else AGENTS.index(env.agent_selection)
        seen, other = (env.observe(AGENTS[one]) for one in (to_play, 1 - to_play))
        assert set(other["action_mask"].tolist()) == {int(over)}
        theirs = seen["observation"] if self.perspective == "absolute" else seen["observation"][..., [0, 2, 1]]
        np.testing.assert_array_equal(other["observation"], theirs)
        assert seen["action_mask"].tolist() == env.infos[AGENTS[to_play]]["action_mask"].tolist()
        assert env.last()[1] == self.owed[env.agent_selection]
        ended = (info.get("winner", -1), info.get("illegal", False))
        rewards = env.rewards[mover], env.rewards[AGENTS[1 - seat]]
        row = seen["observation"].tolist(), seen["action_mask"].tolist(), to_play, *ended, rewards, over
        self.given.spoil((seen, other, env.infos))
        return row


ENVIRONMENTS: dict[str, Any] = {
    "turn": partial(Single, TURN),
    "versus": partial(Single, VERSUS),
    "turn vector": partial(Many, TURN),
    "versus vector": partial(Many, VERSUS),
}
APIS = {**ENVIRONMENTS, "PettingZoo": Agents, "NumPy": partial(Batch, np), "torch": partial(Batch, torch)}


def assert_same(ours: Any, theirs: Any) -> None:
    """Compare observations, spaces' samples or infos; a part of an info counts only where its flag says so."""
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for key, value in theirs.items():
            flag = theirs.get(f"_{key}")
            if flag is None or isinstance(value, dict):
                assert_same(ours[key], value)
            else:
                assert ours[key].dtype == value.dtype
                assert_same(ours[key][flag], value[flag])
    elif theirs.dtype == object:
        assert [type(part) for part in ours] == [type(part) for part in theirs]
        for our_part, their_part in zip(ours, theirs, strict=True):
            assert_same(our_part, their_part)
    else:
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
