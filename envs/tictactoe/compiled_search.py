"""The search of `tictactoe.search`, compiled with Numba: can one seat, the attacker, always get a line?

It searches depth first, without recursion: a frame for each ply holds what is still to be tried, so that the search can
stop after any position and continue later. These cuts change no answer:

- A seat that can complete a line does so; one that has to block a line blocks it; one that has to block two has lost.
- Erdős and Selfridge, "On a combinatorial game" (1973): the defender keeps the attacker from every line if the sum of
  2^-e over the lines without a mark of the defender, with e empty cells each, is less than 1 and the defender is to
  move, or less than 1/2 and the attacker is.
- Hales and Jewett, "Regularity and positional games" (1963): so does the defender if every line without its marks
  holds a pair of empty cells, and no cell is in two pairs, by answering a mark on one cell of a pair on the other.
- Hsu and others, "On solving the 7,7,5-game and the 8,8,5-game" (2020): if there would be such pairs after a mark of
  the defender, the attacker has to move to its cell or one of theirs; elsewhere, that mark refutes the move.
- An extra mark never harms its seat, so no seat gains by a move that is like passing. So a cell is never played if all
  its lines hold marks of both seats, and in the table of positions it does not matter whose mark it holds, if any.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tictactoe.arrays import compiled

NO, YES, OPEN = 0, 1, -1

MOST_LACKING = 6
"""If pairs lack more cells than this, no mark of the defender is tried to complete them: that would seldom do."""
LACK = 1 << 54
"""The loss of worth of a move for each cell that pairs lack after it; all lines together are worth less."""
LINE = 1 << 40
"""Weight of a complete line: 2^-e as an integer, rounded up if e is over 40, which is the safe side."""
MOST_WEIGHT = 2 * LINE
"""If the attacker's lines weigh more than this, no pairs are sought, because they are seldom found."""

FRAME = np.dtype(
    [
        ("mover", np.int64),
        ("opponent", np.int64),
        ("key_mover", np.int64),  # the position as the table has it
        ("key_opponent", np.int64),
        ("attacks", np.int64),  # 1: the mover is the attacker
        ("moves", np.int64),  # how many there are
        ("tried", np.int64),
        ("begun", np.int64),  # how many positions had been visited before
    ]
)
ENTRY = np.dtype(
    [
        ("mover", np.int64),
        ("opponent", np.int64),
        ("known", np.int32),  # bits of `bit_of`; none in an empty entry
        ("work", np.int32),  # positions that the answer took
    ]
)

Word: TypeAlias = Any
"""An int64, in general a bitboard."""
Words = NDArray[np.int64]
Records: TypeAlias = Any
"""An array of records."""


class Board(NamedTuple):
    """A board as the search needs it."""

    k: int
    full: int
    """The bitboard of all cells."""
    lines: Words
    """[L]: the bitboard of each line."""
    cells: Words
    """[L, k]: the cells of each line."""
    weight: Words
    """[k]: the weight, by Erdős and Selfridge, of an attacker's line with each number of marks."""
    own_worth: Words
    """[k] for the order of moves: the worth of a line with each number of the mover's marks."""
    their_worth: Words
    """[k]: the same for the opponent's marks."""
    images: Words
    """[G, A]: the symmetries."""
    image_marks: int
    """The largest number of marks with which symmetric positions count as one."""
    continues: NDArray[np.bool_]
    """[L]: whether a line is the one before it, moved by one cell in its own direction."""


class Room(NamedTuple):
    """Where pairs are sought: one for each group of lines, of empty cells that all its lines share."""

    shared: Words  # [L]: the empty cells that each group shares
    pairs: Words  # [L]: the cells given to each group, at most two
    owner: Words  # [A]: the group that a cell is given to
    first_pairs: Words  # `pairs` and `owner` before a mark of the defender is tried
    first_owner: Words
    queue: Words  # [L]: groups to find another cell for, so that they can give up one
    asker: Words  # [L]: the group for which each of them would give up a cell
    asked: Words  # [L]: that cell, as a bitboard
    worth: Words  # [A]: the worth of moves, for their order


@compiled
def count(word: Word) -> Word:
    """Return the number of set bits."""
    left = np.uint64(word)
    left -= left >> np.uint64(1) & np.uint64(0x5555555555555555)
    left = (left & np.uint64(0x3333333333333333)) + (left >> np.uint64(2) & np.uint64(0x3333333333333333))
    left = left + (left >> np.uint64(4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64(left * np.uint64(0x0101010101010101) >> np.uint64(56))


@compiled
def survey(board: Board, mover: Word, opponent: Word, attacks: Word) -> tuple[Word, Word, Word, Word]:
    """Return the answer if it is clear, the cells to try, those of lines still open, and the attacker's weight."""
    threats = live = np.int64(0)
    weight: Word = np.int64(0)
    for line in board.lines:
        mine, theirs = mover & line, opponent & line
        if mine and theirs:
            continue
        live |= line
        marks = count(mine | theirs)
        if not theirs and marks == board.k - 1:
            return attacks, live, live, weight
        if not mine and marks == board.k - 1:
            threats |= line & ~theirs
        if not (theirs if attacks else mine):
            weight += board.weight[marks]
    if threats & (threats - 1):
        return 1 - attacks, threats, live, weight
    if weight < (LINE >> 1 if attacks else LINE):
        return NO, threats, live, weight
    if threats:
        return OPEN, threats, live, weight
    return OPEN, live & ~(mover | opponent), live, weight


@compiled
def give_cell(room: Room, group: Word, taken: Word, barred: Word) -> Word:
    """Give a group one more cell, if need be by exchange with other groups, and return the cell taken; 0 if none is."""
    room.queue[0] = group
    asked, queued = 0, 1
    in_queue = np.int64(1) << group
    seen = room.pairs[group] | barred
    while asked < queued:
        here = room.queue[asked]
        asked += 1
        found = room.shared[here] & ~seen
        free = found & ~taken
        if free:
            new = cell = free & -free
            while True:
                room.pairs[here] |= cell
                room.owner[count(cell - 1)] = here
                if here == group:
                    return new
                cell = room.asked[here]
                room.pairs[here] ^= cell
                here = room.asker[here]
        seen |= found
        while found:
            cell = found & -found
            found ^= cell
            other = room.owner[count(cell - 1)]
            if not in_queue >> other & 1:
                in_queue |= np.int64(1) << other
                room.asker[other], room.asked[other] = here, cell
                room.queue[queued] = other
                queued += 1
    return np.int64(0)


@compiled
def fill_pairs(room: Room, groups: Word, mark: Word) -> Word:
    """Give cells to all groups but those that a mark of the defender stops, and return how many are lacking."""
    taken = lacking = np.int64(0)
    for group in range(groups):
        taken |= room.pairs[group]
    for group in range(groups):
        if not room.shared[group] & mark:
            for _ in range(2 - count(room.pairs[group])):
                cell = give_cell(room, group, taken, mark)
                taken |= cell
                lacking += cell == 0
    return lacking


@compiled
def pair_up(board: Board, attacker: Word, defender: Word, room: Room) -> tuple[Word, Word]:
    """Seek pairs that stop the attacker; return the number of groups of lines, and of the cells that are lacking."""
    groups, shared = 0, np.int64(0)
    for number in range(len(board.lines)):
        line = board.lines[number]
        if defender & line:
            shared = np.int64(0)
            continue
        shared &= line
        if board.continues[number] and shared & (shared - 1):
            room.shared[groups - 1] = shared
        else:
            room.shared[groups] = shared = line & ~attacker
            groups += 1
    # What passes this has at most half as many groups as cells and a few, so that a word can hold a bit of each.
    least = 2 * groups - count(board.full & ~(attacker | defender))
    if least > MOST_LACKING:
        return groups, least
    room.pairs[:groups] = 0
    lacking = fill_pairs(room, groups, np.int64(0))
    room.first_pairs[:groups] = room.pairs[:groups]
    room.first_owner[:] = room.owner
    return groups, lacking


@compiled
def lacking_after(room: Room, groups: Word, mark: Word) -> Word:
    """Return how many cells the pairs lack after a mark of the defender on an empty cell."""
    for group in range(groups):
        room.pairs[group] = 0 if room.shared[group] & mark else room.first_pairs[group]
    for cell in range(len(room.owner)):
        room.owner[cell] = room.first_owner[cell]
    return fill_pairs(room, groups, mark)


@compiled
def worth_trying(room: Room, groups: Word, cells: Word, attacks: Word) -> Word:
    """Return the cells that the mover has to try, none if the defender can reply by pairs, and note their worth."""
    left = cells
    while left:
        mark = left & -left
        left ^= mark
        lacking = lacking_after(room, groups, mark)
        if lacking:
            if not attacks:
                room.worth[count(mark - 1)] = -LACK * lacking
            continue
        needed = mark
        for group in range(groups):
            needed |= room.pairs[group]
        cells &= needed if attacks else 0
        if not cells:
            break
    return cells


@compiled
def put_in_order(board: Board, mover: Word, opponent: Word, free: Word, worth: Words, moves: Words) -> Word:
    """List the free cells, the most promising first, and return how many there are."""
    for number in range(len(board.lines)):
        line = board.lines[number]
        mine, theirs = mover & line, opponent & line
        value: Word = np.int64(0)
        if not theirs:
            value += board.own_worth[count(mine)]
        if not mine:
            value += board.their_worth[count(theirs)]
        if value:
            for cell in board.cells[number]:
                worth[cell] += value
    listed = 0
    while free:
        lowest = free & -free
        free ^= lowest
        cell = count(lowest - 1)
        place = listed
        while place > 0 and worth[moves[place - 1]] < worth[cell]:
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = cell
        listed += 1
    return listed


@compiled
def key_of(board: Board, mover: Word, opponent: Word, live: Word) -> tuple[Word, Word]:
    """Return the position as the table has it: dead cells belong to both, and near the start one image is all."""
    marks = count(mover | opponent)
    mover, opponent = mover | (board.full & ~live), opponent | (board.full & ~live)
    least_mover, least_opponent = mover, opponent
    if marks <= board.image_marks:
        for image in board.images[1:]:
            mover_image = opponent_image = np.int64(0)
            for cell in range(len(image)):
                mover_image |= (mover >> image[cell] & 1) << cell
                opponent_image |= (opponent >> image[cell] & 1) << cell
            if mover_image < least_mover or (mover_image == least_mover and opponent_image < least_opponent):
                least_mover, least_opponent = mover_image, opponent_image
    return least_mover, least_opponent


@compiled
def bucket_of(table: Records, mover: Word, opponent: Word) -> Word:
    """Return the first of the two entries that a position can have in the table."""
    mixed = np.uint64(mover) * np.uint64(0x9E3779B97F4A7C15) ^ np.uint64(opponent) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed = (mixed ^ mixed >> np.uint64(32)) * np.uint64(0xD6E8FEB86659FD93)
    return np.int64(mixed >> np.uint64(32)) & len(table) - 2


@compiled
def bit_of(answer: Word, attacks: Word) -> Word:
    """Return the bit of this answer if the mover attacks, or if the opponent does."""
    return (1 if answer == YES else 2) << (0 if attacks else 2)


@compiled
def look_up(table: Records, frame: Any) -> Word:
    """Return what the table knows about a position."""
    first = bucket_of(table, frame.key_mover, frame.key_opponent)
    for number in range(first, first + 2):
        entry = table[number]
        if entry.mover == frame.key_mover and entry.opponent == frame.key_opponent:
            if entry.known & bit_of(YES, frame.attacks):
                return YES
            if entry.known & bit_of(NO, frame.attacks):
                return NO
    return OPEN


@compiled
def store(table: Records, frame: Any, answer: Word, work: Word) -> None:
    """Store an answer in the table in place of the entry, of two, that took less work."""
    first = bucket_of(table, frame.key_mover, frame.key_opponent)
    for number in range(first, first + 2):
        entry = table[number]
        if entry.known and entry.mover == frame.key_mover and entry.opponent == frame.key_opponent:
            entry.known |= bit_of(answer, frame.attacks)
            return
    if work >= table[first].work:
        table[first + 1] = table[first]
        entry = table[first]
    else:
        entry = table[first + 1]
    entry.mover, entry.opponent = frame.key_mover, frame.key_opponent
    entry.known, entry.work = bit_of(answer, frame.attacks), work


@compiled
def visit(board: Board, frame: Any, moves: Words, table: Records, room: Room) -> Word:
    """Return the answer for a new position, or prepare its moves."""
    mover, opponent = frame.mover, frame.opponent
    answer, cells, live, weight = survey(board, mover, opponent, frame.attacks)
    if answer != OPEN:
        return answer
    frame.tried, frame.moves = 0, 1
    if not cells & (cells - 1):
        moves[0] = count(cells - 1)
        return OPEN
    frame.key_mover, frame.key_opponent = key_of(board, mover, opponent, live)
    answer = look_up(table, frame)
    if answer != OPEN:
        return answer
    room.worth[:] = 0
    if weight <= MOST_WEIGHT:
        attacker, defender = (mover, opponent) if frame.attacks else (opponent, mover)
        groups, lacking = pair_up(board, attacker, defender, room)
        if 0 < lacking <= MOST_LACKING:
            cells = worth_trying(room, groups, cells, frame.attacks)
        if not lacking or not cells:
            return NO
    frame.moves = put_in_order(board, mover, opponent, cells, room.worth, moves)
    return OPEN


@compiled
def resume(
    board: Board, frames: Records, moves: Words, table: Records, room: Room, progress: Words, positions: Word
) -> Word:
    """Resume a search for at most `positions` positions; return the answer, or OPEN if it takes more.

    `frames` [A + 1] and `moves` [A + 1, A] hold the search, which begins in frame 0. `progress` [2] holds the ply to
    visit next and the number of positions visited.
    """
    ply, visited = progress
    stop = visited + positions
    while visited < stop:
        visited += 1
        frames[ply].begun = visited
        answer = visit(board, frames[ply], moves[ply], table, room)
        while answer != OPEN:
            if ply == 0:
                progress[1] = visited
                return answer
            ply -= 1
            frame = frames[ply]
            if answer != frame.attacks and frame.tried < frame.moves:
                answer = OPEN  # another move may be better for the mover
            elif frame.moves > 1:
                store(table, frame, answer, min(visited - frame.begun, 1 << 30))
        here, below = frames[ply], frames[ply + 1]
        below.mover, below.opponent = here.opponent, here.mover | np.int64(1) << moves[ply, here.tried]
        below.attacks = 1 - here.attacks
        here.tried += 1
        ply += 1
    progress[0], progress[1] = ply, visited
    return OPEN
