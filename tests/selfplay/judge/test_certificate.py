"""A certificate is accepted if and only if an independent judge, game by game, finds that its play cannot be beaten."""

import gzip
import json
import random
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

import selfplay
from selfplay.judge import check_certificate
from selfplay.judge.ask import AgentPolicy, choices_policy, player_policy
from selfplay.judge.certificate import file_content, unbeatable_play
from tests.selfplay.judge.players import first_choice, policy_of
from tests.tictactoe.rule_book import Board, book_of, empty_cells, seat_to_move, with_mark
from tictactoe import Rules
from tictactoe.opponents import OPPONENTS
from tictactoe.symmetry import symmetries

ACCEPTED, REFUSED = 0, 1
OPTIMAL = OPPONENTS["optimal"]
HEADER = '{"rows": 3, "cols": 3, "k": 3, "symmetric": false, "masked": false, "model_sha256": null}'
MUTANTS = 75
"""Changed copies of each of four certificates."""


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
    assert is_proof(content)
    assert status(content) == ACCEPTED
    assert settings_of(gzip.decompress(content).decode().split("\n")[0]) == (
        policy.rules,
        policy.symmetric,
        policy.legal,
    )


def is_proof(content: bytes) -> bool:
    """Return whether a certificate is in order and the play in it is never beaten, game by game by the rule book."""
    try:
        header, *entries, end = gzip.decompress(content).decode("ascii").split("\n")
    except (EOFError, OSError, ValueError, zlib.error):
        return False
    rules, symmetric, masked = settings_of(header)
    if rules is None or end:
        return False
    book = book_of(rules)
    turns = symmetries(rules).tolist() if symmetric else [range(rules.cells)]
    listed: dict[Board, str] = {}
    images = []
    for entry in entries:
        if len(entry) != rules.cells or set(entry) - set("XO.*") or "*" not in entry:
            return False
        turned = ["".join(entry[cell] for cell in turn) for turn in turns]
        images.append({tuple(image.replace("*", ".")): image for image in turned})
        if images[-1].keys() & listed.keys():
            return False
        listed |= images[-1]
    marks = [len(re.findall("[XO]", entry)) for entry in entries]
    waiting = [book.empty_board, *(with_mark(book.empty_board, cell, "X") for cell in range(rules.cells))]
    met = set()
    while waiting:
        board = waiting.pop()
        own, other = ("X", "O") if seat_to_move(board) == 0 else ("O", "X")
        if book.has_line(board, other):
            return False
        blocked = all(own in {board[cell] for cell in line} for line in book.lines)
        if board in met or "." not in board or (masked and blocked):
            continue
        if board not in listed:
            return False
        met.add(board)
        for cell, character in enumerate(listed[board]):
            moved = with_mark(board, cell, own)
            if character == "*" and not book.has_line(moved, own):
                waiting += [with_mark(moved, reply, other) for reply in empty_cells(moved)]
    return marks == sorted(marks) and all(met & image.keys() for image in images)


def settings_of(header: str) -> tuple[Rules | None, bool, bool]:
    """Return the rules of a header and whether it is symmetric and masked; no rules if something is wrong with it."""
    nothing = None, False, False
    try:
        settings = json.loads(header)
        rows, cols, k, symmetric, masked, checksum = settings.values()
        rules = Rules(rows, cols, k)
    except (ValueError, AttributeError, TypeError):
        return nothing
    names = ["rows", "cols", "k", "symmetric", "masked", "model_sha256"]
    written_otherwise = json.dumps(settings) != header or max(rows, cols, k) > 99
    if [*settings] != names or written_otherwise or {type(symmetric), type(masked)} != {bool}:
        return nothing
    if checksum is not None and not (isinstance(checksum, str) and re.fullmatch("[0-9a-f]{64}", checksum)):
        return nothing
    return rules, symmetric, masked


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


def mutated(content: bytes, rng: random.Random) -> bytes:
    """Change the file, a character of it, its ends of lines, its board, or an entry."""
    text = gzip.decompress(content).decode()
    header, *entries = text.splitlines()
    byte, at, one, other = (rng.randrange(len(part)) for part in (content, text, entries, entries))
    entry = entries[one]
    moved_star = [*entry.replace("*", ".")]
    moved_star[rng.randrange(len(entry))] = "*"
    without = entries[:one] + entries[one + 1 :]
    without_lines = re.sub('"k": .', '"k": 9', header).replace('"masked": false', '"masked": true')
    return rng.choice(
        [
            content[:byte],
            content[:byte] + rng.randbytes(1) + content[byte + 1 :],
            gzip.compress((text[:at] + rng.choice('XO.*\r\n 123ae"') + text[at + 1 :]).encode()),
            gzip.compress((text[:at] + text[at + 1 :]).encode()),
            gzip.compress((text[:at] + text[at] + text[at:]).encode()),
            gzip.compress(text.replace("\n", "\r\n").encode()),
            gzip.compress(text[:-1].encode()),
            packed(without_lines, entries[:1]),
            packed(header, without),
            packed(header, [*without[:other], entry, *without[other:]]),
            packed(header, [*entries[:other], entry, *entries[other:]]),
            packed(header, [*entries[:one], entry[::-1], *entries[one + 1 :]]),
            packed(header, [*entries[:one], entry.replace("*", "."), *entries[one + 1 :]]),
            packed(header, [*entries[:one], "".join(moved_star), *entries[one + 1 :]]),
            packed(header, [*entries[:one], entry.translate(str.maketrans("XO", "OX")), *entries[one + 1 :]]),
        ]
    )


@pytest.mark.parametrize(
    "policy",
    [
        first_choice("optimal", Rules(2, 3, 3)),
        replace(first_choice("optimal", Rules()), symmetric=True),
        first_choice("optimal", Rules(2, 4, 3), legal=True),
        choices_policy(OPTIMAL, Rules(2, 3, 3), symmetric=True),
    ],
)
def test_a_mutated_certificate_is_judged_as_an_independent_judge_does(
    policy: AgentPolicy, status: Callable[[bytes], int]
) -> None:
    rng, content = random.Random(0), certificate_of(policy)
    for _ in range(MUTANTS):
        mutant = mutated(content, rng)
        assert status(mutant) == (ACCEPTED if is_proof(mutant) else REFUSED), mutant
