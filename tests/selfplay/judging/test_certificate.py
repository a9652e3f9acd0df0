"""A certificate is accepted if nothing beats the play in it, and not otherwise; any other file is refused."""

import gzip
import json
import os
import random
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

import selfplay
from selfplay.dqn.config import DQNConfig
from selfplay.dqn.network import empty_network
from selfplay.dqn.player import QPlayer
from selfplay.errors import UserError
from selfplay.judging import check_certificate
from selfplay.judging.agents import AgentPolicy, ChoicesPolicy, player_policy
from selfplay.judging.certificate import file_content, unbeatable_play
from selfplay.judging.evaluate import search_seat
from tests.selfplay.judging.players import (
    FirstChoice,
    ScriptedPlayer,
    careless_later,
    optimal_player,
    policy_of,
    stubborn,
)
from tests.tictactoe.rule_book import Board, bits, book_of, empty_cells, seat_to_move, with_mark
from tictactoe import Rules, solve
from tictactoe.opponents import OPPONENTS
from tictactoe.symmetry import symmetries

UNBEATABLE, BEATEN, DAMAGED = 0, 1, 2
PROGRAM = Path(check_certificate.__file__)
POSITIONS = 10**6
OPTIMAL, RULE = OPPONENTS["optimal"], OPPONENTS["rule"]
MUTANTS = 50
"""Changed copies of each certificate."""
TINY = {
    "format": "",
    "version": 2,
    "rows": 3,
    "cols": 3,
    "k": 3,
    "symmetric": True,
    "masked": False,
    "positions": 1,
    "model_sha256": "ab",
}


def certificate_of(policy: AgentPolicy) -> bytes:
    return file_content(policy, unbeatable_play(policy, POSITIONS, "it"), None)


def lines_of(content: bytes) -> tuple[dict[str, Any], list[str]]:
    """Return the header and the positions."""
    header, *positions = gzip.decompress(content).decode().splitlines()
    return json.loads(header), positions


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "certificate.txt.gz"


def write(path: Path, header: dict[str, Any], positions: list[str]) -> None:
    lines = json.dumps(header | {"positions": len(positions)}), *positions, ""
    # Stored and not compressed, because some tests write a thousand of them.
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 0))


def status(path: Path, header: dict[str, Any], positions: list[str]) -> int:
    write(path, header, positions)
    return check_certificate.main(str(path))


@pytest.mark.parametrize(
    "policy",
    [
        player_policy(selfplay.load("shipped")),
        policy_of(optimal_player(Rules()), Rules()),
        ChoicesPolicy(OPTIMAL, Rules()),
        ChoicesPolicy(OPTIMAL, Rules(), symmetric=True),
        FirstChoice(OPTIMAL, Rules(), symmetric=True),
        FirstChoice(OPTIMAL, Rules(3, 4, 4), legal=True),
        FirstChoice(OPTIMAL, Rules(4, 3, 4), symmetric=True),
        FirstChoice(RULE, Rules(4, 4, 4), symmetric=True, legal=True),
    ],
)
def test_what_is_certified_is_accepted(
    policy: AgentPolicy, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("selfplay.judging.forward_search.BOARDS", 97)  # so that equal positions come from many parts
    content = certificate_of(policy)
    header, positions = lines_of(content)
    assert (header["masked"], header["symmetric"]) == (policy.legal, policy.symmetric)
    assert header["positions"] == len(positions)
    path.write_bytes(content)
    capsys.readouterr()
    assert check_certificate.main(str(path)) == UNBEATABLE
    assert f"{len(positions):,}" in capsys.readouterr().out
    # Each position that is listed is met, and there is none twice.
    met, problem, _ = check_certificate.check(check_certificate.Certificate(str(path)))
    assert (met, problem) == (len(positions), "")
    assert len(set(positions)) == len(positions)


def test_the_same_play_makes_the_same_file() -> None:
    policy = FirstChoice(OPTIMAL, Rules(), symmetric=True)
    content = certificate_of(policy)
    assert content == certificate_of(policy)
    assert content[4:8] == bytes(4)  # where gzip writes the time


def test_of_a_masked_player_only_what_can_be_lost_is_listed(path: Path) -> None:
    header, whole = lines_of(certificate_of(FirstChoice(OPTIMAL, Rules(), symmetric=True)))
    masked, positions = lines_of(certificate_of(FirstChoice(OPTIMAL, Rules(), symmetric=True, legal=True)))
    assert set(positions) < set(whole)
    assert (status(path, masked, positions), status(path, header, positions)) == (UNBEATABLE, BEATEN)


@cache
def least_image(rules: Rules, symmetric: bool, mine: int, theirs: int) -> tuple[tuple[int, int], list[int]]:
    """Return the least image of a position, and which of its cells each cell of the image is."""
    turns = symmetries(rules).tolist() if symmetric else [list(range(rules.cells))]
    images = ([sum((side >> cell & 1) << at for at, cell in enumerate(t)) for t in turns] for side in (mine, theirs))
    return min(zip(zip(*images, strict=True), turns, strict=True))


def line_of(rules: Rules, position: tuple[int, int], move: int) -> str:
    """Return a line of the certificate; a star takes the place of a mark."""
    mine, theirs = position
    marks = "XO" if mine.bit_count() == theirs.bit_count() else "OX"
    characters = [".", *marks, "*"]
    kinds = [3 if cell == move else (mine >> cell & 1) + 2 * (theirs >> cell & 1) for cell in range(rules.cells)]
    return "".join(characters[kind] for kind in kinds)


@pytest.mark.parametrize(
    ("rules", "symmetric", "illegal"),
    [(Rules(2, 3, 3), False, True), (Rules(2, 3, 3), True, True), (Rules(), True, False)],
)
def test_each_planted_move_is_found_if_and_only_if_it_can_be_beaten(
    rules: Rules, symmetric: bool, illegal: bool, path: Path
) -> None:
    solution = solve(rules)
    decisions = solution.tree.decisions
    states = zip(solution.tree.mover[decisions].tolist(), solution.tree.opponent[decisions].tolist(), strict=True)
    images = sorted({least_image(rules, symmetric, *state)[0] for state in states})
    moves = {image: solution.lookup(*image)[1][0] for image in images}

    def choose(mine: set[int], theirs: set[int]) -> int:
        image, turn = least_image(rules, symmetric, bits(mine), bits(theirs))
        return turn[moves[image]]

    policy = policy_of(ScriptedPlayer(choose), rules)
    header, listed = lines_of(certificate_of(FirstChoice(OPTIMAL, rules, symmetric)))
    lines = {image: line_of(rules, image, move) for image, move in moves.items()}
    assert status(path, header, [*lines.values()]) == UNBEATABLE
    met = [image for image, line in lines.items() if line in listed]
    assert len(met) == len(listed) < len(lines)
    outcomes = {True: 0, False: 0}
    for image in met[:: 1 if illegal else 3]:
        best, taken = moves[image], sum(image)
        for move in range(rules.cells):
            if move == best or (taken >> move & 1 and not illegal):
                continue
            moves[image] = move
            planted = lines | {image: line_of(rules, image, move)}
            verdicts = [search_seat(policy, seat, POSITIONS)[0] for seat in (0, 1)]
            unbeatable = not any(verdict.losses or verdict.illegal for verdict in verdicts)
            # In the place of a mark the star makes another position of it, which is listed already, or is not.
            beaten = {BEATEN, DAMAGED} if taken >> move & 1 else {BEATEN}
            assert status(path, header, [*planted.values()]) in ({UNBEATABLE} if unbeatable else beaten), planted[image]
            assert not (unbeatable and taken >> move & 1)
            outcomes[unbeatable] += 1
        moves[image] = best
    assert min(outcomes.values()) > 10


def slow_status(header: dict[str, Any], lines: list[str]) -> int:
    """Say what a certificate proves, game by game and by the rule book."""
    rules = Rules(header["rows"], header["cols"], header["k"])
    book = book_of(rules)
    turns = symmetries(rules).tolist() if header["symmetric"] else [range(rules.cells)]
    listed: dict[Board, str] = {}
    for line in lines:
        if len(line) != rules.cells or set(line) - set("XO.*") or "*" not in line:
            return DAMAGED
        images = ["".join(line[cell] for cell in turn) for turn in turns]
        positions = {tuple(image.replace("*", ".")): image for image in images}
        if positions.keys() & listed.keys():
            return DAMAGED
        listed |= positions

    @cache
    def beaten(board: Board) -> bool:
        own, other = "XO"[seat_to_move(board)], "OX"[seat_to_move(board)]
        if book.has_line(board, other):
            return True
        if board not in listed:
            blocked = all(own in {board[cell] for cell in line} for line in book.lines)
            return "." in board and not (header["masked"] and blocked)
        moved = [with_mark(board, cell, own) for cell, character in enumerate(listed[board]) if character == "*"]
        going_on = [after for after in moved if not book.has_line(after, own)]
        return any(beaten(with_mark(after, cell, other)) for after in going_on for cell in empty_cells(after))

    first_marks = [with_mark(book.empty_board, cell, "X") for cell in range(rules.cells)]
    return BEATEN if any(map(beaten, [book.empty_board, *first_marks])) else UNBEATABLE


def mutated(lines: list[str], rng: random.Random) -> list[str]:
    """Leave out, repeat, turn, cut or change one of the lines."""
    number = rng.randrange(len(lines))
    line, at = lines[number], rng.randrange(len(lines[number]))
    cells, empty, character = [*line], [*line.replace("*", ".")], rng.choice("XO.*#")
    cells[at], empty[at] = character, "*"
    other_marks = line.translate(str.maketrans("XO", "OX"))
    changed = [["".join(cells)], ["".join(empty)], [other_marks], [line[::-1]], [line[:at]], [], [line] * 2]
    return [*lines[:number], *rng.choice([*changed, [line, line[::-1]]]), *lines[number + 1 :]]


@pytest.mark.parametrize(
    ("policy", "changes"),
    [
        (FirstChoice(OPTIMAL, Rules(2, 3, 3)), {}),
        (FirstChoice(OPTIMAL, Rules(), symmetric=True), {}),
        (FirstChoice(OPTIMAL, Rules(2, 4, 3), legal=True), {}),
        (ChoicesPolicy(OPTIMAL, Rules(2, 3, 3), symmetric=True), {"k": 2}),
        (FirstChoice(OPTIMAL, Rules(2, 3, 3), legal=True), {"masked": False}),
    ],
)
def test_a_mutated_certificate_proves_what_a_slow_check_says(
    policy: AgentPolicy, changes: dict[str, Any], path: Path
) -> None:
    header, lines = lines_of(certificate_of(policy))
    rng, header = random.Random(0), header | changes
    statuses = [slow_status(header, lines)]
    for _ in range(MUTANTS):
        mutant = mutated(lines, rng)
        statuses.append(slow_status(header, mutant))
        assert status(path, header, mutant) == statuses[-1], set(mutant) ^ set(lines)
    assert changes or {*statuses} == {UNBEATABLE, BEATEN, DAMAGED}


def test_the_game_that_beats_a_player_or_is_not_covered_is_shown(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(path, TINY | {"symmetric": False, "k": 1}, ["*........"])
    assert check_certificate.check(check_certificate.Certificate(str(path)))[2] == (8,)
    assert check_certificate.main(str(path)) == BEATEN
    assert "...\n...\n..X\n" in capsys.readouterr().out
    write(path, TINY, [])
    _, problem, game = check_certificate.check(check_certificate.Certificate(str(path)))
    assert "NOT PROVED" in problem
    assert len(game) == 1


@pytest.mark.parametrize(
    ("policy", "positions"),
    [
        (policy_of(ScriptedPlayer(stubborn), Rules()), POSITIONS),
        (policy_of(ScriptedPlayer(careless_later), Rules(1, 17, 17)), POSITIONS),
        (AgentPolicy(ScriptedPlayer(careless_later), Rules(1, 9, 9), legal=True), POSITIONS),
        (ChoicesPolicy(RULE, Rules()), POSITIONS),
        (ChoicesPolicy(OPTIMAL, Rules(2, 3, 2)), POSITIONS),
        (ChoicesPolicy(OPTIMAL, Rules(1, 1, 1)), POSITIONS),
        (ChoicesPolicy(OPTIMAL, Rules()), 5),
    ],
)
def test_a_player_that_can_be_beaten_or_is_not_followed_to_the_end_gets_no_certificate(
    policy: AgentPolicy, positions: int
) -> None:
    with pytest.raises(UserError, match=r"^it: "):
        unbeatable_play(policy, positions, "it")


def test_a_player_whose_values_overflow_where_it_can_no_longer_lose_gets_no_certificate() -> None:
    config = DQNConfig(rules=Rules(1, 20, 20), hidden=(1,), mask=True, device="cpu")
    network = empty_network(config, torch.device("cpu")).requires_grad_(False)
    for weights in network.parameters():
        weights.zero_()
    network.state_dict()["hidden.0.weight"][0, 1::3] = 3e38  # of its own marks
    network.output.weight[:] = -3e38
    with pytest.raises(UserError, match="finite"):
        unbeatable_play(player_policy(QPlayer(config, (network,))), POSITIONS, "it")


def complaint(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert check_certificate.main(str(path)) == DAMAGED
    shown = capsys.readouterr()
    assert not shown.out
    assert len(shown.err.splitlines()) == 1
    return shown.err


def test_a_damaged_file_is_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = certificate_of(FirstChoice(OPTIMAL, Rules(2, 3, 3), symmetric=True))
    for length in range(len(content)):
        path.write_bytes(content[:length])
        complaint(path, capsys)
    for place, byte in enumerate(content[10:], 10):  # behind gzip's header, of which not every bit means something
        path.write_bytes(content[:place] + bytes([byte ^ 1]) + content[place + 1 :])
        complaint(path, capsys)


@pytest.mark.parametrize(
    "content",
    [None, b"", b"X", gzip.compress(b""), gzip.compress(b"[1]\n"), gzip.compress(bytes(10**6))],
    ids=["missing", "empty", "no gzip", "gzip of nothing", "gzip of a list", "gzip of zeros"],
)
def test_a_foreign_file_is_named(content: bytes | None, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if content is not None:
        path.write_bytes(content)
    assert str(path) in complaint(path, capsys)
    assert str(path.parent) in complaint(path.parent, capsys)


HEADERS = [
    {"version": 1},
    {"version": 3},
    {"misere": False},
    {"positions": None},
    {"positions": 0},
    {"rows": 0},
    {"rows": -3, "cols": -3},
    {"rows": 9, "cols": 9},
    {"k": 4},
    {"k": 0},
    {"k": 10**300},
    {"rows": 3.0},
    {"k": None},
    {"cols": "3"},
]
LINES = "*\n", "*.........\n", ".........\n", "....#...*\n", "\u001b[2J*....\n", "*" * 10**5, "\n", "*........"


@pytest.mark.parametrize(
    ("changes", "line", "named"),
    [*((changes, "", "first line") for changes in HEADERS), *(({}, line, "line 3") for line in LINES)],
    ids=range(len(HEADERS) + len(LINES)),
)
def test_a_line_that_says_nothing_is_named(
    changes: dict[str, Any], line: str, named: str, path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header = TINY | {"positions": 2 if line else 1} | changes
    path.write_bytes(gzip.compress(f"{json.dumps(header)}\n*........\n{line}".encode()))
    assert named in complaint(path, capsys)


@pytest.mark.parametrize("field", TINY)
def test_a_first_line_that_lacks_a_field_is_refused(field: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    header = {name: value for name, value in TINY.items() if name != field}
    path.write_bytes(gzip.compress(f"{json.dumps(header)}\n*........\n".encode()))
    assert "fields" in complaint(path, capsys)


def test_a_file_that_is_larger_than_its_positions_is_refused(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = certificate_of(FirstChoice(OPTIMAL, Rules(), symmetric=True))
    for size, expected in ((len(content) + 1, UNBEATABLE), (10**8, DAMAGED)):  # gzip ignores zeros at the end
        path.write_bytes(content)
        os.truncate(path, size)
        assert check_certificate.main(str(path)) == expected
    assert "larger" in capsys.readouterr().err
    header, lines = lines_of(content)
    for positions in (len(lines) - 1, len(lines) + 1, -1, 10**300):
        named = json.dumps(header | {"positions": positions}), *lines, ""
        path.write_bytes(gzip.compress("\n".join(named).encode()))
        complaint(path, capsys)


def check_alone(path: Path, program: Path) -> subprocess.CompletedProcess[str]:
    """Check a certificate by a program alone, which must soon be done."""
    command = [sys.executable, "-I", "-S", str(program), path.name]
    return subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=False, timeout=30)


@pytest.mark.parametrize("line", ["*........", "........*", ".*......."], ids=["same", "image", "other move"])
def test_a_position_that_is_listed_again_is_refused_at_once(line: str, path: Path) -> None:
    write(path, TINY, ["*........", *[line] * 300_000])
    ended = check_alone(path, PROGRAM)
    assert (ended.returncode, ended.stdout) == (DAMAGED, "")
    assert "line 3" in ended.stderr


def test_what_is_no_regular_file_is_not_opened(path: Path) -> None:
    os.mkfifo(path)
    ended = check_alone(path, PROGRAM)
    assert (ended.returncode, ended.stdout) == (DAMAGED, "")
    assert path.name in ended.stderr


def test_the_checker_needs_nothing_but_python(path: Path) -> None:
    copy = path.with_name("copied.py")
    copy.write_text(PROGRAM.read_text())
    path.write_bytes(certificate_of(FirstChoice(OPTIMAL, Rules(), symmetric=True)))
    ended = check_alone(path, copy)  # without installed libraries
    assert (ended.returncode, ended.stderr) == (UNBEATABLE, "")
    assert check_certificate.main() == check_certificate.main("one", "two") == DAMAGED
