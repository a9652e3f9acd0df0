"""The backend for boards of up to 64 cells: NumPy operations on many bitboards at once."""

from functools import partial

import numpy as np

from tictactoe import batch, planes
from tictactoe.gym.games import Cells, Games, Planes, Reply, State
from tictactoe.opponents import OPPONENTS, Choices, pick
from tictactoe.rewards import Rewards
from tictactoe.rules import RESULTS, Rules


class BitboardGames(Games):
    """Games on boards of up to 64 cells; the state is that of `tictactoe.batch` and the codes, [4, N].

    A code is twice the event of the last ply, plus the seat to move.
    """

    def __init__(self, rules: Rules, rewards: Rewards, perspective: str) -> None:
        event, to_play = np.divmod(np.arange(2 * len(RESULTS)), 2)
        super().__init__(rules, rewards, perspective, event, to_play)

    def code(self, state: State) -> Cells:
        """Return the code of each board."""
        codes: Cells = state[3]
        return codes

    def at(self, position: batch.State) -> State:
        """Return the state of unfinished positions."""
        return np.stack([*position, position.to_play])

    def position(self, state: State) -> batch.State:
        """Return the bitboards of the boards."""
        return batch.State(*state[:3])

    def move(self, state: State, cells: Cells) -> State:
        """Return the state after one ply on each board."""
        outcome = batch.play(self.rules, self.position(state), cells)
        after = np.stack([*outcome.state, 2 * outcome.event + outcome.state.to_play])
        over = self.finished[self.code(state)]
        return np.where(over, 0, after) if np.count_nonzero(over) else after

    def built_in(self, opponent: str) -> Reply:
        """Return how a built-in opponent replies."""
        return partial(self._replied, OPPONENTS[opponent].choices)

    def _replied(self, choices: Choices, state: State, generator: np.random.Generator) -> State:
        mover, opponent, _ = self.position(state)
        cells = pick(self.rules.cells, choices(self.rules, mover, opponent), generator)
        return np.where(self.finished[self.code(state)], state, self.move(state, cells))

    def look(self, state: State, seats: Cells | None) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks."""
        rules, position = self.rules, self.position(state)
        seen: Planes = batch.observe(rules, position, self.perspective)
        if seats is not None and self.perspective == "mover":  # it may be the opponent's turn, at the end of a game
            turned = (position.to_play != seats).nonzero()[0]
            seen[turned] = seen[turned][..., [0, 2, 1]]
        legal = rules.legal_cells(position.mover, position.opponent)
        legal = np.where(self.finished[self.code(state)], rules.full_word, legal)
        return seen, planes.bits(rules.cells, legal).view(np.int8)
