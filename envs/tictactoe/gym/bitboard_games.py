"""The backend for boards of up to 64 cells: NumPy operations on many bitboards at once."""

import numpy as np

from tictactoe import batch, planes
from tictactoe.gym.games import EVERY, Amounts, Boards, Cells, Flags, Games, Planes, Results, Start, ask
from tictactoe.opponents import OPPONENTS, pick
from tictactoe.rules import NOBODY


class BitboardGames(Games):
    """Games on boards of up to 64 cells; the state is that of `tictactoe.batch`."""

    def empty_boards(self) -> batch.State:
        """Return the state of empty boards."""
        return batch.reset(self.rules, len(self.seats), np)

    def place(self, state: batch.State, chosen: Flags, start: Start | None) -> batch.State:
        """Return the state with new games on the chosen boards."""
        return batch.restart(state, chosen) if start is None else batch.where(chosen, start.position, state)

    def play(self, state: batch.State, cells: Cells, over: Flags) -> Results:
        """Return the results of the moves and of the replies to them."""
        own, _ = self._move(state, cells, over, restart=True)
        if self.seat is None:
            return own
        reply, of_reply = self._reply(own.state, own.terminated | over)
        return Results(
            self.start(reply.state, over) if np.count_nonzero(over) else reply.state,
            own.reward + of_reply,
            own.terminated | reply.terminated,
            np.maximum(own.winner, reply.winner),
            own.illegal | reply.illegal,
        )

    def reply(self, state: batch.State, due: Flags) -> tuple[batch.State, Flags]:
        """Return the state after the opponent's moves where they are due, and which games they ended."""
        reply, _ = self._reply(state, ~due)
        return reply.state, reply.terminated

    def _reply(self, state: batch.State, idle: Flags) -> tuple[Results, Amounts]:
        """Return the results of the opponent's moves, and what they pay to the agent."""
        opponent = self.opponent
        cells: Cells
        if isinstance(opponent, str):
            cells = pick(
                self.rules.cells, OPPONENTS[opponent].choices(self.rules, state.mover, state.opponent), self.generator
            )
        else:
            cells = np.zeros(len(idle), np.int64)
            due = (~idle).nonzero()[0]
            if len(due):
                seen = self._look(batch.State(*(field[due] for field in state)), None, idle[due])
                cells[due] = ask(opponent, *seen)
        return self._move(state, cells, idle, restart=False)

    def _move(self, state: batch.State, cells: Cells, idle: Flags, restart: bool) -> tuple[Results, Amounts]:
        """Return the results of the moves [N], and what they pay to the other seat.

        An idle board, [N], stays as it is, or is emptied with `restart`.
        """
        outcome = batch.play(self.rules, state, cells)
        results = Results(
            outcome.state,
            batch.reward(self.rewards, outcome),
            outcome.terminated,
            batch.winner(state.to_play, outcome),
            outcome.illegal,
        )
        other_reward: Amounts = batch.other_reward(self.rewards, outcome)
        if not np.count_nonzero(idle):
            return results, other_reward
        active = ~idle
        results = Results(
            batch.restart(outcome.state, idle) if restart else batch.where(idle, state, outcome.state),
            results.reward * active,
            results.terminated & active,
            np.where(idle, NOBODY, results.winner),
            results.illegal & active,
        )
        return results, other_reward * active

    def look(self, state: batch.State, over: Flags, boards: Boards = EVERY) -> tuple[Planes, Planes]:
        """Return the one-hot planes and the action masks."""
        # After a game's last move it may be the opponent's turn; the agent still sees its own marks in plane 1.
        seats = None if self.seat is None else self.seats[boards]
        return self._look(batch.State(*(field[boards] for field in state)), seats, over[boards])

    def _look(self, state: batch.State, seats: Cells | None, over: Flags) -> tuple[Planes, Planes]:
        """Return what these seats see, or if `seats` is None the seats to move."""
        if self.perspective == "absolute":
            seats = np.zeros(len(over), np.int64)
        rules = self.rules
        # Marks of the seat that sees the board are in plane 1.
        turned = False if seats is None else state.to_play != seats
        first = np.where(turned, state.opponent, state.mover)
        second = np.where(turned, state.mover, state.opponent)
        seen = planes.one_hot(rules.cells, first, second).reshape(-1, rules.rows, rules.cols, 3)
        empty = np.where(over, rules.full_word, rules.legal_cells(state.mover, state.opponent))
        return seen, planes.bits(rules.cells, empty).view(np.int8)

    def to_play(self, state: batch.State) -> Cells:
        """Return the seat to move."""
        seat: Cells = state.to_play
        return seat

    def position(self, state: batch.State) -> batch.State:
        """Return the bitboards of the boards: the state itself."""
        return state
