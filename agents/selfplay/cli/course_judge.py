"""What `selfplay course --check` asks a student's functions, and how it judges their answers.

A student's process evaluates expressions, and its answers are judged here, where no student's code runs. So it makes
no difference what that code prints, raises or replaces. Where a unit trains with the student's functions, the check
asks the functions alone, with random numbers: right functions make the training succeed.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from selfplay.agent import Array
from selfplay.judging.agents import AgentPolicy
from selfplay.judging.evaluate import search_seat
from selfplay.verdicts import evaluate
from tictactoe import Rules, Solution, batch, solve

RULES = Rules()
LARGEST_ERROR = 1e-6
"""Largest difference between numbers that are added in another order, in 32 bits."""
SAMPLED = 4_000
"""Rows that are sampled from a memory to see whether each is equally likely."""
LONGEST = 80
"""Characters of an expression that are shown."""


class Question(NamedTuple):
    """An expression, and a function that returns what is wrong with its value, or None."""

    expression: str
    fault: Callable[[Any], str | None]


class Exam(NamedTuple):
    """The questions on a unit, and our code that runs before they are asked."""

    questions: Sequence[Question]
    preparation: str = ""


class Reply(NamedTuple):
    """What a student's process has replied. It may be anything: a student can have written it."""

    answers: Sequence[Any] = ()
    error: str = ""
    """Why there are no more of them."""


def fault_of(unit: int, before: str, blank: str, ask: Callable[[Mapping[str, Any]], Reply]) -> str | None:
    """Return what is wrong with a student's blank, or None.

    `before` are our cells of the unit up to the blank, and `ask` gives a job to a student's process.
    """
    exam = UNITS[unit - 1](random.Random())  # not seeded, for nobody is to know its numbers before
    expressions = [question.expression for question in exam.questions]
    reply = ask({"before": before, "blank": blank, "after": exam.preparation, "expressions": expressions})
    fault = first_fault(exam.questions, reply.answers)
    if fault is None and len(reply.answers) != len(expressions):
        fault = reply.error or "ended without an answer"
    return fault


def first_fault(questions: Sequence[Question], answers: Sequence[Any]) -> str | None:
    """Return what is wrong with the first wrong answer, if there is one. An answer can be anything that JSON holds."""
    for question, answer in zip(questions, answers, strict=False):
        try:
            fault = question.fault(answer)
        except Exception:  # it is of another type, or of another shape
            fault = f"must not be {answer}"
        if fault is not None:
            shown = question.expression
            if len(shown) > LONGEST:
                shown = f"{shown[:LONGEST]}..."
            return f"{shown} {fault}"
    return None


def equal(right: Any) -> Callable[[Any], str | None]:
    """Return the judge of an answer that must equal this one; numbers may differ in their last digits."""

    def fault(answer: Any) -> str | None:
        passed = answer is not None and np.shape(answer) == np.shape(right)
        if passed and np.allclose(answer, right, rtol=0, atol=LARGEST_ERROR):
            return None
        return f"must be {right}, but it is {answer}"

    return fault


def same_cells(right: Sequence[int]) -> Callable[[Any], str | None]:
    """Return the judge of a list of cells in any order."""

    def fault(answer: Any) -> str | None:
        return None if set(answer) == set(right) else f"must be {list(right)}, but it is {answer}"

    return fault


def agent_of(rules: Rules, cell_of: Callable[[int, int], int]) -> Callable[[Array], int]:
    """Return an agent, which sees the board as the mover, from a function of the marks of both seats."""

    def agent(observation: Array) -> int:
        marks = observation.reshape(rules.cells, 3)[:, 1:].T.astype(np.int64) @ (1 << np.arange(rules.cells))
        return cell_of(*marks.tolist())

    return agent


def positions_of(solution: Solution) -> list[tuple[int, int]]:
    """Return the marks of the mover and of the opponent in all states."""
    return list(zip(solution.tree.mover.tolist(), solution.tree.opponent.tolist(), strict=True))


def unit_1(_: random.Random) -> Exam:
    """Ask for all values and best cells, those nearest to the end of a game first."""
    solution = solve(RULES)
    positions = positions_of(solution)[::-1]
    values, best = solution.value.tolist()[::-1], solution.optimal_moves.tolist()[::-1]
    questions = [Question(f"value{position}", equal(right)) for position, right in zip(positions, values, strict=True)]
    for position, cells in zip(positions, best, strict=True):
        if cells:  # the game is not over
            questions.append(Question(f"best_cells{position}", same_cells(RULES.cells_of(cells))))
    return Exam(questions)


def unit_2(rng: random.Random) -> Exam:
    """Ask for the target and the choice in all positions, with random numbers in the table."""
    table: dict[tuple[int, int], dict[int, float]] = {}
    questions = []
    for mover, opponent in positions_of(solve(RULES)):
        x_moves = mover.bit_count() == opponent.bit_count()
        position = (mover, opponent) if x_moves else (opponent, mover)
        cells = RULES.cells_of(RULES.empty_cells(mover, opponent))
        if RULES.has_line(opponent):
            questions.append(Question(f"target{position}", equal(-1 if x_moves else 1)))
        elif not cells:
            questions.append(Question(f"target{position}", equal(0)))
        else:
            numbers = [number / 1_000 for number in rng.sample(range(-999, 1_000), len(cells))]
            table[position] = values = dict(zip(cells, numbers, strict=True))
            best = max(values, key=values.__getitem__) if x_moves else min(values, key=values.__getitem__)
            questions.append(Question(f"target{position}", equal(values[best])))
            questions.append(Question(f"choose{position}", equal(best)))
    return Exam(questions, f"table.update({table})")


def unit_3(rng: random.Random) -> Exam:
    """Ask for the three targets of random moves."""
    questions = []
    for _ in range(100):
        best, next_best = (round(rng.uniform(-1, 1), 3) for _ in range(2))
        # My move ends the game, the reply completes a line, or the game continues.
        for moved in ((1.0, 0.0, 0.0, 0.0), (0.0, best, 1.0, 0.0), (0.0, best, 0.0, next_best)):
            reward, opponents_best, opponents_reward, my_next_best = moved
            targets = {
                "minus": reward - opponents_best,
                "plus": reward + opponents_best,
                "own_turn": reward - opponents_reward + my_next_best,
            }
            questions += [Question(f"{name}(Moved{moved})", equal(right)) for name, right in targets.items()]
    return Exam(questions)


PARTS = """
def check_memory(capacity, sizes, rows, number, seed):
    memory = ReplayMemory(capacity, 2)
    for block in torch.tensor(rows).split(sizes):
        memory.add(block)
    return memory.sample(number, torch.Generator().manual_seed(seed)).tolist()


def check_follow(slow, quick, rate):
    networks = torch.nn.Linear(2, 1), torch.nn.Linear(2, 1)
    for network, weights in zip(networks, (slow, quick)):
        torch.nn.utils.vector_to_parameters(torch.tensor(weights), network.parameters())
    follow(*networks, rate)
    return [torch.nn.utils.parameters_to_vector(network.parameters()).tolist() for network in networks]
"""
"""What uses the parts of unit 4 in a student's process."""


def unit_4(rng: random.Random) -> Exam:
    """Ask what memories of random rows sample, and how random networks follow each other."""
    questions = []
    for _ in range(3):
        capacity = rng.randint(4, 8)
        sizes = (rng.randint(1, capacity - 1), capacity, rng.randint(1, capacity - 1))
        rows = [(float(number), -float(number)) for number in rng.sample(range(1, 1_000), sum(sizes))]
        for blocks in range(1, len(sizes) + 1):
            added = rows[: sum(sizes[:blocks])]
            arguments = (capacity, sizes[:blocks], added, SAMPLED, rng.randrange(1_000))
            questions.append(Question(f"check_memory{arguments}", sampled_from(added[-capacity:])))
    for _ in range(10):
        slow, quick = ([float(rng.randint(-9, 9)) for _ in range(3)] for _ in range(2))
        rate = round(rng.uniform(0.1, 0.9), 2)
        followed = [one + rate * (other - one) for one, other in zip(slow, quick, strict=True)]
        questions.append(Question(f"check_follow{slow, quick, rate}", equal([followed, quick])))
    return Exam(questions, PARTS)


def sampled_from(rows: Sequence[tuple[float, ...]]) -> Callable[[Any], str | None]:
    """Return the judge of samples that must be these rows, each equally often."""

    def fault(answer: Any) -> str | None:
        counts = Counter(map(tuple, answer))
        shares = [counts[row] / SAMPLED for row in rows]
        likely = all(abs(share - 1 / len(rows)) < 0.05 for share in shares)  # seven standard deviations
        if likely and len(answer) == SAMPLED and set(counts) == set(rows):
            return None
        return f"must sample each of the rows {rows} equally often, but it sampled {dict(counts)}"

    return fault


RULE = """
def check_rule(rule, values, legal):
    values, legal = np.array(values), np.array(legal)
    answer = rule(values, legal)
    return [answer.tolist(), values.tolist()]
"""
"""What uses a rule of unit 5 in a student's process: its answer, and the values after it."""


def unit_5(rng: random.Random) -> Exam:
    """Ask for the highest values of random rows."""
    questions = []
    for _ in range(100):
        rows = rng.randint(1, 4)
        values = [[number / 100 for number in rng.sample(range(-200, 200), 9)] for _ in range(rows)]
        empty = [rng.sample(range(9), rng.randint(1, 9)) for _ in range(rows)]
        legal = [[cell in cells for cell in range(9)] for cells in empty]
        best = [max(cells, key=row.__getitem__) for row, cells in zip(values, empty, strict=True)]
        highest = [row[cell] for row, cell in zip(values, best, strict=True)]
        for name, right in ("highest_legal", highest), ("best_legal", best):
            expression = f"check_rule({name}, {values}, {legal})"
            questions.append(Question(expression, answer_and_values(right, values)))
    return Exam(questions, RULE)


def answer_and_values(right: Sequence[float], values: Sequence[Sequence[float]]) -> Callable[[Any], str | None]:
    """Return the judge of an answer, and of the values, which must not have changed."""

    def fault(answer: Any) -> str | None:
        returned, left = answer
        if equal(values)(left) is not None:
            return "must not change the values"
        return equal(right)(returned)

    return fault


def unit_6(rng: random.Random) -> Exam:
    """Ask for the rewards of random legal moves of each kind, and for the safe seats with random rewards."""
    tree = solve(RULES).tree
    here = tree.decisions
    state = batch.State(*(marks[here].astype(np.int64) for marks in (tree.mover, tree.opponent, tree.ply)))
    questions = []
    for cell in range(RULES.cells):
        move = batch.play(RULES, state, np.full(len(here), cell))
        other = ~(move.win | move.draw | move.allow | move.illegal)
        for kind in (move.win, move.draw, move.allow, other):
            for row in rng.choices(np.flatnonzero(kind).tolist(), k=5):
                draw, allow = (round(rng.uniform(-3, 3), 3) for _ in range(2))
                right = float(move.win[row] + draw * move.draw[row] + allow * move.allow[row])
                expression = f"reward(MOVES[{cell}], draw={draw}, allow={allow})[{row}]"
                questions.append(Question(expression, equal(right)))
    draws = [-1.0, 1.0, -0.999, 0.999, *(round(rng.uniform(-3, 3), 3) for _ in range(50))]
    questions += [Question(f"safe({draw})", equal([draw > -1, draw < 1])) for draw in draws]
    return Exam(questions)


def unit_7(_: random.Random) -> Exam:
    """Ask for the move in each position without a line to complete or to block."""
    calm = [
        position
        for position, best in zip(positions_of(solve(RULES)), solve(RULES).optimal_moves.tolist(), strict=True)
        if best and not urgent_cells(*position)
    ]
    question = Question("[mend(*position) for position in calm]", lambda moves: beaten(calm, moves))
    return Exam([question], f"calm = {calm}")


def urgent_cells(mover: int, opponent: int) -> tuple[int, ...]:
    """Return the cells that complete a line of the mover, or otherwise of the opponent."""
    empty = RULES.empty_cells(mover, opponent)
    return RULES.cells_of(RULES.winning_cells(mover) & empty) or RULES.cells_of(RULES.winning_cells(opponent) & empty)


def beaten(calm: Sequence[tuple[int, int]], moves: Sequence[int | None]) -> str | None:
    """Return how often the rule of unit 7 is beaten with these moves, or None if nobody beats it."""
    for position, move in zip(calm, moves, strict=True):
        if move is not None and move not in range(RULES.cells):
            return f"must hold cells, or None, but mend{position} is {move}"
    mended = dict(zip(calm, moves, strict=True))

    def cell_of(mover: int, opponent: int) -> int:
        for cell in urgent_cells(mover, opponent):
            return cell
        mend = mended[mover, opponent]
        if mend is not None:
            return int(mend)
        empty = RULES.cells_of(RULES.empty_cells(mover, opponent))
        return next(cell for cell in (4, 0, 2, 6, 8, 1, 3, 5, 7) if cell in empty)

    verdict = evaluate(agent_of(RULES, cell_of), RULES, perspective="mover")
    if verdict.unbeatable:
        return None
    illegal = verdict.first.illegal + verdict.second.illegal
    return f"can be beaten: {verdict.ways_to_beat} ways to beat it, {illegal} of them by its own illegal move"


LISTED = """
class Listed:
    def __init__(self, rules, moves):
        self.rules, self.moves = rules, moves

    def cells(self, mover, opponent):
        return [self.moves.get(position, 0) for position in zip(mover, opponent)]  # 0 where the game is over
"""
"""A player of unit 8 in a student's process."""


def unit_8(rng: random.Random) -> Exam:
    """Ask what is found by following random players, which are beaten never, only by lines, or only by taken cells."""
    preparation = LISTED
    questions = []
    for sides in ((3, 3, 3), (2, 4, 3)):
        for kind in ("best", "empty", "taken"):
            rules = Rules(*sides)
            moves = random_moves(rng, rules, kind)
            name = f"{kind}_{rules.cells}"
            preparation += f"{name} = Listed(Rules{sides}, {moves})\n"
            questions += [Question(f"followed({name}, {seat})", found(rules, moves, seat)) for seat in (0, 1)]
    return Exam(questions, preparation)


def random_moves(rng: random.Random, rules: Rules, kind: str) -> Mapping[tuple[int, int], int]:
    """Return a random move in each decision state: a best one, one to an empty cell, or a best one or a taken cell."""
    solution = solve(rules)
    moves = {}
    for position, best in zip(positions_of(solution), solution.optimal_moves.tolist(), strict=True):
        if best:
            cells = rules.cells_of(best)
            if kind == "empty":
                cells = rules.cells_of(rules.empty_cells(*position))
            elif kind == "taken" and rng.random() < 0.2:
                cells = rules.cells_of(position[0] | position[1]) or cells
            moves[position] = rng.choice(cells)
    return moves


def found(rules: Rules, moves: Mapping[tuple[int, int], int], seat: int) -> Callable[[Any], str | None]:
    """Return the judge of what is found by following a player: the number of positions, and whether it is beaten."""
    policy = AgentPolicy(agent_of(rules, lambda *position: moves[position]), rules, "mover")
    verdict, plies = search_seat(policy, seat, sys.maxsize, keep_plies=True)
    right = [sum(len(ply.mine) for ply in plies), verdict.losses + verdict.illegal > 0]

    def fault(answer: Any) -> str | None:
        positions, lost = answer
        return equal(right)([positions, lost > 0])

    return fault


UNITS: Sequence[Callable[[random.Random], Exam]] = (unit_1, unit_2, unit_3, unit_4, unit_5, unit_6, unit_7, unit_8)
"""A function for each unit that returns its exam, with numbers that nobody has seen before."""
