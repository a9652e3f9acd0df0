"""Drive every environment API through games that the rule book judges, and compare all that is returned."""

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import torch

from tests.tictactoe.rule_book import EMPTY, Board, RuleBook, Verdict, empty_cells, mover_and_opponent, seat_to_move
from tictactoe import Rewards, Rules, batch, tictactoe_v0

TURN, VERSUS = "tictactoe:TicTacToe-v0", "tictactoe:TicTacToeVersus-v0"
AGENTS = tictactoe_v0.AGENTS
EXACT = Rewards(win=5, illegal=-7, allow=-0.25, draw=2, loss=-4.5)
"""Rewards that all differ, and that single precision holds exactly."""
INFO_TYPES = {"action_mask": np.int8, "to_play": np.int64, "winner": np.int64, "illegal": np.bool_}

Opponent = Callable[[Any, Any], Any]
Size = tuple[int, int, int]
book_of = functools.cache(RuleBook)


def sized(size: Iterable[int]) -> dict[str, Any]:
    """Return the settings of a board's rows, columns and k."""
    return dict(zip(("rows", "cols", "k"), size, strict=True))


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


class Game:
    """One game by the rule book, of both seats or of one against an opponent, and what an environment shows of it."""

    def __init__(self, book: RuleBook, rewards: Rewards, perspective: str, seat: int | None, reply: Opponent) -> None:
        self.book, self.rewards, self.perspective, self.seat, self.reply = book, rewards, perspective, seat, reply

    def start(self, board: Board) -> Verdict:
        self.now = Verdict(board, 0.0, terminated=False)
        if self.seat not in (None, seat_to_move(board)):
            self.now = replace(self.answered(), reward=0.0)
        return self.now

    def answered(self) -> Verdict:
        observation = np.array(self.book.one_hot(self.now.board, self.perspective))
        return self.book.play(self.now.board, int(self.reply(observation, np.array(self.mask))), self.rewards)

    def step(self, cell: int) -> None:
        self.now = self.book.play(self.now.board, cell, self.rewards)
        if self.seat is not None and not self.now.terminated:
            answered = self.answered()
            loss = self.rewards.loss if answered.winner == 1 - self.seat else 0.0
            self.now = replace(answered, reward=self.now.reward + loss)

    @property
    def mask(self) -> list[int]:
        return [int(held == EMPTY or self.now.terminated) for held in self.now.board]

    def check(self, observation: Any, *outcome: Any) -> None:
        """Compare what `reset` or `step` has returned, values, types and keys."""
        info = outcome[-1]
        if isinstance(observation, dict):
            assert (observation["action_mask"].tolist(), observation["action_mask"].dtype) == (self.mask, np.int8)
            observation = observation["observation"]
        assert observation.dtype == np.int8
        assert observation.tolist() == self.book.one_hot(self.now.board, self.perspective, self.seat)
        if len(outcome) == 4:
            assert outcome[:3] == (self.now.reward, self.now.terminated, False)
            assert [type(part) for part in outcome[:3]] == [float, bool, bool]
        values = [self.mask, seat_to_move(self.now.board), self.now.winner, self.now.illegal]
        assert {key: value.tolist() for key, value in info.items()} == dict(zip(INFO_TYPES, values, strict=True))
        assert {key: value.dtype for key, value in info.items()} == INFO_TYPES


class Singles:
    """Environments of one board each."""

    def __init__(self, env_id: str, number: int, opponent: Opponent, settings: dict[str, Any]) -> None:
        self.envs: list[Any] = [gymnasium.make(env_id, **settings) for _ in range(number)]
        for env in self.envs if env_id == VERSUS else []:
            env.unwrapped.set_opponent(lambda *seen: int(opponent(*seen)))

    def reset(self, options: list[Any]) -> list[Any]:
        return [env.reset(options=one) for env, one in zip(self.envs, options, strict=True)]

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        return [env.step(cell) if one else () for env, cell, one in zip(self.envs, cells, playing, strict=True)]


class Agents(Singles):
    """PettingZoo environments, both agents of which are looked at."""

    def __init__(self, number: int, settings: dict[str, Any]) -> None:
        self.envs = [tictactoe_v0.env(**settings) for _ in range(number)]
        self.loss = settings["rewards"].loss

    def reset(self, options: list[Any]) -> list[Any]:
        super().reset(options)
        return [self.seen(env, env.agent_selection) for env in self.envs]

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        movers = [env.agent_selection for env in self.envs]
        super().step(cells, playing)
        return [self.after(*each) if each[2] else () for each in zip(self.envs, movers, playing, strict=True)]

    def after(self, env: Any, mover: str, _: bool) -> tuple[Any, ...]:
        other = env.agent_selection
        assert {mover, other} == set(AGENTS)
        ended, info = env.terminations[mover], env.infos[mover]
        assert env.terminations == dict.fromkeys(AGENTS, ended)
        assert env.truncations == dict.fromkeys(AGENTS, False)
        for about in env.infos.values():
            assert about.keys() == {"action_mask", *(("winner", "illegal") if ended else ())}
        assert env.rewards[other] == (self.loss if info.get("winner") == AGENTS.index(mover) else 0.0)
        # After a taken cell it is still the turn of the agent that took it.
        observation, about = self.seen(env, mover if info.get("illegal") else other)
        return observation, env.rewards[mover], ended, False, about

    def seen(self, env: Any, agent: str) -> tuple[Any, dict[str, Any]]:
        number, info = AGENTS.index(agent), env.infos[agent]
        assert set(env.observe(AGENTS[1 - number])["action_mask"].tolist()) == {int(env.terminations[agent])}
        winner, illegal = np.int64(info.get("winner", -1)), np.bool_(info.get("illegal", False))
        about = {"action_mask": info["action_mask"], "to_play": np.int64(number), "winner": winner, "illegal": illegal}
        return env.observe(agent), about


class Vectors:
    """A vector environment, in which boards that have ended start new games that nobody looks at."""

    def __init__(self, env_id: str, number: int, opponent: Opponent, settings: dict[str, Any]) -> None:
        made: Any = gymnasium.make_vec(env_id, num_envs=number, **settings)
        self.env = made
        if env_id == VERSUS:
            made.unwrapped.set_opponent(opponent)

    def reset(self, options: list[Any]) -> list[Any]:
        together = options[0] and {key: np.array([one[key] for one in options]) for key in options[0]}
        return self.each(*self.env.reset(options=together))

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        return self.each(*self.env.step(np.where(playing, cells, self.mask.argmax(axis=1))))

    def each(self, observation: Any, *parts: Any) -> list[Any]:
        *outcome, info = parts
        self.mask = info["action_mask"]
        assert all(info[f"_{key}"].all() for key in INFO_TYPES)
        results = zip(*(part.tolist() for part in outcome), strict=True) if outcome else [()] * len(self.mask)
        seen = observation
        if isinstance(observation, dict):
            seen = [{key: part[board] for key, part in observation.items()} for board in range(len(self.mask))]
        infos = ({key: info[key][board] for key in INFO_TYPES} for board in range(len(self.mask)))
        return [(one, *result, about) for one, result, about in zip(seen, results, infos, strict=True)]


class Batches:
    """`tictactoe.batch` on the arrays of a library."""

    def __init__(self, library: Any, number: int, settings: dict[str, Any]) -> None:
        self.library = library
        self.rules = Rules(settings["rows"], settings["cols"], settings["k"])
        self.rewards, self.perspective = settings["rewards"], settings["perspective"]
        self.state = batch.reset(self.rules, number, library)

    def reset(self, boards: list[Board]) -> list[Any]:
        marks = np.array([mover_and_opponent(board) for board in boards], np.uint64).view(np.int64)
        ply = np.array([len(board) - board.count(EMPTY) for board in boards])
        self.state = batch.State(*(self.library.asarray(part.copy()) for part in (*marks.T, ply)))
        start = np.zeros(len(boards), bool)
        return [(*seen, info) for seen, info in self.each(start, np.full(len(boards), -1), start)]

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        state = batch.restart(self.state, ~self.library.asarray(playing))
        before = [field.tolist() for field in state]
        after = batch.step(self.rules, self.rewards, state, self.library.asarray(cells))
        assert [field.tolist() for field in state] == before
        self.state = after.state
        fields = [np.asarray(field) for field in (*after.state, *after[1:])]
        assert [field.dtype for field in fields] == [np.int64] * 3 + [np.float32] * 2 + [np.bool_, np.int64, np.bool_]
        assert all(type(field) is type(state.ply) for field in (*after.state, *after[1:]))
        *_, reward, other_reward, terminated, winner, illegal = fields
        assert other_reward.tolist() == np.where((winner >= 0) & ~illegal, self.rewards.loss, 0.0).tolist()
        results = zip(reward.tolist(), terminated.tolist(), self.each(terminated, winner, illegal), strict=True)
        return [(*seen, gain, ended, False, info) for gain, ended, (seen, info) in results]

    def each(self, terminated: np.ndarray, winner: np.ndarray, illegal: np.ndarray) -> list[Any]:
        empty = np.asarray(batch.action_mask(self.rules, self.state))
        assert empty.dtype == np.bool_
        mask = (empty | terminated[:, None]).astype(np.int8)
        parts = zip(mask, np.asarray(self.state.to_play), winner, illegal, strict=True)
        planes = np.asarray(batch.observe(self.rules, self.state, self.perspective))
        infos = [dict(zip(INFO_TYPES, part, strict=True)) for part in parts]
        return [((seen,), info) for seen, info in zip(planes, infos, strict=True)]


APIS: dict[str, Callable[..., Any]] = {
    "turn": lambda *given: Singles(TURN, *given),
    "vector": lambda *given: Vectors(TURN, *given),
    "PettingZoo": lambda number, _, settings: Agents(number, settings),
    "batch, NumPy": lambda number, _, settings: Batches(np, number, settings),
    "batch, torch": lambda number, _, settings: Batches(torch, number, settings),
    "versus": lambda *given: Singles(VERSUS, *given),
    "versus vector": lambda *given: Vectors(VERSUS, *given),
}


class Drive:
    """Play games in one API; with an opponent the agent plays the seat to move and the other one in turns."""

    def __init__(
        self, api: str, number: int, size: Size, perspective: str, rewards: Rewards = EXACT, **settings: Any
    ) -> None:
        self.api, self.book, self.perspective, self.rng = (
            api,
            book_of(*size),
            perspective,
            np.random.default_rng(number),
        )
        opponent: Opponent = settings.pop("opponent", first_empty)
        self.new_game = functools.partial(Game, self.book, rewards, perspective, reply=opponent)
        settings |= {**sized(size), "rewards": rewards, "perspective": perspective}
        self.played = APIS[api](number, opponent, settings)
        self.games: list[Game] = []

    def start(self, boards: Sequence[Board]) -> None:
        """Start a game from each board, and check what is seen of it."""
        seats = [seat_to_move(board) for board in boards]
        if "versus" in self.api:
            for number in range(1, len(boards), 2):
                board, other = boards[number], 1 - seats[number]
                ends = [self.book.play(board, cell, EXACT).terminated for cell in empty_cells(board)]
                # No environment starts a game that the opponent's first move could end, nor one that it ends illegally.
                if not any(ends) and not self.new_game(seat=other).start(board).terminated:
                    seats[number] = other
        self.games = [self.new_game(seat=seat if "versus" in self.api else None) for seat in seats]
        positions = [self.book.one_hot(board, self.perspective) for board in boards]
        options: Any = [{"position": one, "seat": seat} for one, seat in zip(positions, seats, strict=True)]
        if "versus" not in self.api and set(boards) == {self.book.empty_board}:
            options = [None] * len(boards)
        returned = self.played.reset(boards if "batch" in self.api else options)
        for game, board, one in zip(self.games, boards, returned, strict=True):
            game.start(board)
            game.check(*one)

    def step(self, cells: list[int]) -> bool:
        """Mark these cells, check what that does in the games that go on, and tell whether any still does."""
        playing = [not game.now.terminated for game in self.games]
        for game, cell, plays, returned in zip(
            self.games, cells, playing, self.played.step(cells, playing), strict=True
        ):
            if plays:
                game.step(cell)
                game.check(*returned)
        return not all(game.now.terminated for game in self.games)

    def play(self, boards: Sequence[Board]) -> set[tuple[int, bool]]:
        """Play games with random moves from these boards to their end, and return how they ended."""
        self.start(boards)
        while self.step(random_actions(np.array([game.mask for game in self.games]), self.rng).tolist()):
            pass
        return {(game.now.winner, game.now.illegal) for game in self.games}


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
