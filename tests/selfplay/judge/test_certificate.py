"""The certificate of a player that cannot be beaten is accepted, and one with a losing move or damage is refused."""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import selfplay
from selfplay.judge import check_certificate
from selfplay.judge.ask import AgentPolicy, player_policy
from selfplay.judge.certificate import file_content, unbeatable_play
from tests.selfplay.judge.hand_made_players import first_choice, policy_of
from tests.tictactoe.rule_book import Board, book_of, empty_cells, seat_to_move, with_mark
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS

ACCEPTED, REFUSED = 0, 1
OPTIMAL = OPPONENTS["optimal"].choices
HEADER = '{"rows": 3, "cols": 3, "k": 3, "symmetric": false, "masked": false, "model_sha256": null}'


def certificate_of(policy: AgentPolicy) -> bytes:
    return file_content(policy, unbeatable_play(policy, 10**6, "it"), None)


@pytest.fixture
def status(tmp_path: Path) -> Callable[[bytes], int]:
    """Return the function that gives the checker's exit status for the content of a file."""

    def check(content: bytes) -> int:
        path = tmp_path / "certificate.txt.gz"
        path.write_bytes(content)
        return check_certificate.main(str(path))

    return check


@pytest.mark.parametrize(
    "policy",
    [
        player_policy(selfplay.load("shipped")),
        policy_of(selfplay.load("shipped"), legal=True),
        replace(first_choice("optimal", Rules(4, 3, 4)), symmetric=True),
    ],
    ids=["shipped", "shipped with a mask", "4,3,4"],
)
def test_the_certificate_of_an_unbeatable_player_is_accepted(
    policy: AgentPolicy, status: Callable[[bytes], int]
) -> None:
    content = certificate_of(policy)
    assert status(content) == ACCEPTED
    header = json.loads(gzip.decompress(content).split(b"\n")[0])
    rules = Rules(*(header[size] for size in ("rows", "cols", "k")))
    assert (rules, header["symmetric"], header["masked"]) == (policy.rules, policy.symmetric, policy.legal)


def play_of(moves: Mapping[Board, int]) -> list[str]:
    """Return the entries of a player of 3,3,3, as if the game went on where the opponent has beaten it."""
    book = book_of(Rules())
    entries: dict[Board, str] = {}
    waiting = [book.empty_board, *(with_mark(book.empty_board, cell, "X") for cell in range(book.cells))]
    while waiting:
        board = waiting.pop()
        if board in entries or not empty_cells(board):
            continue
        own, other = ("X", "O") if seat_to_move(board) == 0 else ("O", "X")
        move = moves.get(board, empty_cells(board)[0])
        entries[board] = "".join(with_mark(board, move, "*"))
        moved = with_mark(board, move, own)
        if not book.has_line(moved, own):
            waiting += [with_mark(moved, reply, other) for reply in empty_cells(moved)]
    return [entries[board] for board in sorted(entries, key=lambda board: -board.count("."))]


def packed(header: str, entries: Iterable[str]) -> bytes:
    return gzip.compress("\n".join([header, *entries, ""]).encode())


@pytest.mark.parametrize("marks", [1, 2, 4])
def test_a_planted_losing_move_is_refused(marks: int, status: Callable[[bytes], int]) -> None:
    solved = book_of(Rules()).minimax()
    best = {board: cells[0] for board, (_, cells) in solved.items() if cells}
    assert status(packed(HEADER, play_of(best))) == ACCEPTED
    planted = 0
    for entry in play_of(best):
        board = tuple(entry.replace("*", "."))
        for cell in empty_cells(board) if board.count(".") == 9 - marks else []:
            after = with_mark(board, cell, "XO"[seat_to_move(board)])
            if solved[after][0] == 1:  # for the opponent, who is to move
                assert status(packed(HEADER, play_of({**best, board: cell}))) == REFUSED
                planted += 1
    assert planted > 1


def star_on_a_mark(entry: str) -> str:
    """Return an entry whose first mark is a star, so that it has a move that marks a taken cell."""
    return re.sub("[XO]", "*", entry, count=1)


def exchanged(entry: str) -> str:
    return entry.translate(str.maketrans("XO", "OX"))


DAMAGE: dict[str, Callable[[bytes, str, list[str]], bytes]] = {
    "cut short": lambda content, _header, _entries: content[:-9],
    "not gzip": lambda content, _header, _entries: gzip.decompress(content),
    "other ends of lines": lambda content, _header, _entries: gzip.compress(
        gzip.decompress(content).replace(b"\n", b"\r\n")
    ),
    "no last end of line": lambda content, _header, _entries: gzip.compress(gzip.decompress(content)[:-1]),
    "another character": lambda _content, header, entries: packed(header, [entries[0].replace(".", " "), *entries[1:]]),
    "no entries": lambda _content, header, _entries: packed(header, []),
    "an entry left out": lambda _content, header, entries: packed(header, [*entries[:7], *entries[8:]]),
    "an entry twice": lambda _content, header, entries: packed(header, [*entries[:7], entries[6], *entries[7:]]),
    "an entry that nothing leads to": lambda _content, header, entries: packed(header, [*entries, "XXOOOXX.*"]),
    "out of order": lambda _content, header, entries: packed(header, [*entries[:-30], *entries[:-31:-1]]),
    "no move": lambda _content, header, entries: packed(header, [*entries[:-1], entries[-1].replace("*", ".")]),
    "a taken cell": lambda _content, header, entries: packed(
        header, [*entries[:20], star_on_a_mark(entries[20]), *entries[21:]]
    ),
    "the other seat": lambda _content, header, entries: packed(
        header, [*entries[:1], exchanged(entries[1]), *entries[2:]]
    ),
    "another board": lambda _content, header, entries: packed(header.replace('"k": 3', '"k": 2'), entries),
    "no line on the board": lambda _content, header, entries: packed(
        header.replace('"k": 3', '"k": 4').replace('"masked": false', '"masked": true'), entries[:1]
    ),
    "another header": lambda _content, header, entries: packed(header.replace('": ', '":'), entries),
}
"""Changes of a certificate after which it proves nothing."""


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_certificate_is_refused(damage: str, status: Callable[[bytes], int]) -> None:
    content = certificate_of(first_choice("optimal", Rules()))
    assert status(content) == ACCEPTED
    header, *entries = gzip.decompress(content).decode().splitlines()
    assert status(DAMAGE[damage](content, header, entries)) == REFUSED


def test_a_mask_is_believed_only_where_every_line_is_blocked(status: Callable[[bytes], int]) -> None:
    masked = certificate_of(first_choice("optimal", Rules(2, 4, 3), legal=True))
    assert status(masked) == ACCEPTED
    header, *entries = gzip.decompress(masked).decode().splitlines()
    assert status(packed(header.replace('"masked": true', '"masked": false'), entries)) == REFUSED
