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


@functools.cache
def book_of(*size: int) -> RuleBook:
    """Return the one rule book of a size, which remembers what it has said."""
    book = RuleBook(*size)
    for name in ("play", "one_hot"):
        setattr(book, name, functools.lru_cache(1 << 17)(getattr(book, name)))
    return book


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

    @property
    def row(self) -> tuple[Any, ...]:
        """Return what is to be seen: planes, mask, seat to move, winner, illegal, reward, terminated."""
        now, planes = self.now, self.book.one_hot(self.now.board, self.perspective, self.seat)
        return planes, self.mask, seat_to_move(now.board), now.winner, now.illegal, now.reward, now.terminated


def columns(observation: Any, *rest: Any) -> list[Any]:
    """Return what Gymnasium's `reset` or `step` has returned in the order of a game's row; check keys and types."""
    *outcome, info = rest
    if isinstance(observation, dict):
        assert observation["action_mask"].dtype == np.int8
        assert observation["action_mask"].tolist() == info["action_mask"].tolist()
        observation = observation["observation"]
    assert observation.dtype == np.int8
    assert {key: info[key].dtype for key in info if not key.startswith("_")} == INFO_TYPES
    return [observation.tolist(), *(info[key].tolist() for key in INFO_TYPES), *outcome[:2]]


class Singles:
    """Environments of one board each."""

    def __init__(self, env_id: str, number: int, opponent: Opponent, settings: dict[str, Any]) -> None:
        self.envs: list[Any] = [gymnasium.make(env_id, **settings) for _ in range(number)]
        for env in self.envs if env_id == VERSUS else []:
            env.unwrapped.set_opponent(lambda *seen: int(opponent(*seen)))

    def reset(self, options: list[Any]) -> list[Any]:
        started = [columns(*env.reset(options=one)) for env, one in zip(self.envs, options, strict=True)]
        return [(*seen, 0.0, False) for seen in started]

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        moves = zip(self.envs, cells, playing, strict=True)
        returned = [env.step(cell) if plays else None for env, cell, plays in moves]
        assert all([type(part) for part in one[1:4]] == [float, bool, bool] and not one[3] for one in returned if one)
        return [one and tuple(columns(*one)) for one in returned]


class Agents:
    """PettingZoo environments, both agents of which are looked at."""

    def __init__(self, number: int, settings: dict[str, Any]) -> None:
        self.envs = [tictactoe_v0.env(**settings) for _ in range(number)]
        self.loss, self.perspective = settings["rewards"].loss, settings["perspective"]

    def reset(self, options: list[Any]) -> list[Any]:
        for env, one in zip(self.envs, options, strict=True):
            env.reset(options=one)
        return [self.row(env, env.agent_selection) for env in self.envs]

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        movers = [env.agent_selection for env in self.envs]
        for env, cell, plays in zip(self.envs, cells, playing, strict=True):
            if plays:
                env.step(cell)
        moves = zip(self.envs, movers, playing, strict=True)
        return [self.row(env, mover) if plays else None for env, mover, plays in moves]

    def row(self, env: Any, mover: str) -> tuple[Any, ...]:
        over, info, seat = env.terminations[mover], env.infos[mover], AGENTS.index(mover)
        assert env.terminations == dict.fromkeys(AGENTS, over)
        assert env.truncations == dict.fromkeys(AGENTS, False)
        for about in env.infos.values():
            assert about.keys() == {"action_mask", *(("winner", "illegal") if over else ())}
        assert env.rewards[AGENTS[1 - seat]] == (self.loss if info.get("winner") == seat else 0.0)
        # After a taken cell it is still the turn of the agent that took it.
        to_play = seat if info.get("illegal") else AGENTS.index(env.agent_selection)
        seen, other = (env.observe(AGENTS[one]) for one in (to_play, 1 - to_play))
        assert set(other["action_mask"].tolist()) == {int(over)}
        theirs = seen["observation"] if self.perspective == "absolute" else seen["observation"][..., [0, 2, 1]]
        np.testing.assert_array_equal(other["observation"], theirs)
        assert seen["action_mask"].tolist() == env.infos[AGENTS[to_play]]["action_mask"].tolist()
        ended = (info.get("winner", -1), info.get("illegal", False))
        return seen["observation"].tolist(), seen["action_mask"].tolist(), to_play, *ended, env.rewards[mover], over


class Vectors:
    """A vector environment, in which boards that have ended start new games that nobody looks at."""

    def __init__(self, env_id: str, number: int, opponent: Opponent, settings: dict[str, Any]) -> None:
        made: Any = gymnasium.make_vec(env_id, num_envs=number, **settings)
        self.env = made
        if env_id == VERSUS:
            made.unwrapped.set_opponent(opponent)

    def reset(self, options: list[Any]) -> list[Any]:
        together = options[0] and {key: np.array([one[key] for one in options]) for key in options[0]}
        observation, self.info = self.env.reset(options=together)
        start = np.zeros(len(options)), np.zeros(len(options), bool), None
        return self.rows(observation, *start)

    def step(self, cells: list[int], playing: list[bool]) -> list[Any]:
        *seen, self.info = self.env.step(np.where(playing, cells, self.info["action_mask"].argmax(axis=1)))
        assert not seen[3].any()
        return self.rows(*seen)

    def rows(self, observation: Any, reward: np.ndarray, terminated: np.ndarray, _: Any) -> list[Any]:
        assert all(self.info[f"_{key}"].all() for key in INFO_TYPES)
        return list(zip(*columns(observation, reward.tolist(), terminated.tolist(), self.info), strict=True))


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
        return self.rows(np.full(len(boards), -1), start, np.zeros(len(boards)), start)

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
        return self.rows(winner, illegal, reward, terminated)

    def rows(self, winner: np.ndarray, illegal: np.ndarray, reward: np.ndarray, terminated: np.ndarray) -> list[Any]:
        planes, empty = (
            batch.observe(self.rules, self.state, self.perspective),
            batch.action_mask(self.rules, self.state),
        )
        mask = (np.asarray(empty) | terminated[:, None]).astype(int)
        parts = (np.asarray(planes), mask, self.state.to_play, winner, illegal, reward, terminated)
        assert [parts[0].dtype, np.asarray(empty).dtype] == [np.int8, np.bool_]
        return list(zip(*(part.tolist() for part in parts), strict=True))


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
            assert one == game.row

    def step(self, cells: list[int]) -> bool:
        """Mark these cells, check what that does in the games that go on, and tell whether any still does."""
        playing = [not game.now.terminated for game in self.games]
        for game, cell, plays, returned in zip(
            self.games, cells, playing, self.played.step(cells, playing), strict=True
        ):
            if plays:
                game.step(cell)
                assert returned == game.row
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
