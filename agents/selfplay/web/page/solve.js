// Exact results by negamax, which finds each position's once and remembers it.
import { EMPTY, MARKS, emptyBoard, emptyCells, resultOfLine, seatToMove, withMark } from "./rules.js";

/** Empty squares of a position that is solved within a second; its table takes half a megabyte, a number for each of 3^12. */
export const SOLVABLE_SQUARES = 12;
const RESULTS = ["loss", "draw", "win"];
/** A win after n plies has this score less n, a loss the same below 0: so the winner hurries and the loser resists. */
const SOON = 100;
const UNKNOWN = 127;
const MOST_ROOTS = 40;

/**
 * Return what gives the truth about each cell to the mover of an unfinished position if both play best from there; null in
 * place of it where too many cells are empty.
 */
export function truthTeller(rules, lines) {
  const roots = new Map(); // positions, with the function that knows all that can follow
  const bestOf = (scores) => Math.max(...scores.filter((score) => score !== null));
  const nameOf = (score) => RESULTS[Math.sign(score) + 1];

  function scoresAfter(board) {
    const known = [...roots.keys()].find((root) => [...root].every((mark, cell) => mark === EMPTY || mark === board[cell]));
    if (known !== undefined) {
      return roots.get(known);
    }
    if (roots.size === MOST_ROOTS) {
      roots.clear();
    }
    const root = rules.rows * rules.cols <= SOLVABLE_SQUARES ? emptyBoard(rules) : board;
    roots.set(root, solver(rules, lines, root));
    return roots.get(root);
  }

  return (board) => {
    const left = emptyCells(board).length;
    if (left > SOLVABLE_SQUARES) {
      return null;
    }
    const scoresOf = scoresAfter(board);
    const scores = scoresOf(board);
    const mark = MARKS[seatToMove(board)];
    const known = (tell) => scores.map((score, cell) => (score === null ? null : tell(score, cell)));
    return {
      exact: known(nameOf),
      plies: known((score) => (score === 0 ? left : SOON - Math.abs(score))),
      replies: known((score, cell) => {
        const after = Math.abs(score) === SOON - 1 ? [] : scoresOf(withMark(board, cell, mark));
        return after.filter((reply) => reply !== null && Math.sign(reply) === -Math.sign(score)).length;
      }),
      position: nameOf(bestOf(scores)),
      unsolved: false,
    };
  };
}

/**
 * Return what gives the score of each cell to the mover of an unfinished position that follows a root; null where the cell
 * is taken. Bits and digits stand for the cells that are empty in the root.
 *
 * @param {number[][]} lines The cells of each line.
 * @returns {(board: string) => (number | null)[]}
 */
export function solver(rules, lines, root) {
  const ofLine = resultOfLine(rules);
  const open = emptyCells(root);
  const bits = (cells) => cells.reduce((sum, cell) => sum | (1 << open.indexOf(cell)), 0);
  const restsOf = (cell, seat) => lines.filter((line) => line.includes(cell) && line.every((each) => [EMPTY, MARKS[seat]].includes(root[each])))
    .map((line) => bits(line.filter((each) => root[each] === EMPTY)));
  const rests = [0, 1].map((seat) => open.map((cell) => restsOf(cell, seat))); // what completes a line of a seat
  const powers = open.map((_, place) => 3 ** place);
  const full = bits(open);
  const known = new Int8Array(3 ** open.length).fill(UNKNOWN); // by the position's number in base 3: 1 for X and 2 for O

  /** Return the score of a position without a line to its mover. */
  function value(own, other, seat, number) {
    if ((own | other) === full) {
      return 0;
    }
    if (known[number] === UNKNOWN) {
      let best = -SOON;
      for (let place = 0; place < open.length; place += 1) {
        if ((((own | other) >> place) & 1) === 0) {
          best = Math.max(best, valueOfMove(own, other, seat, number, place));
        }
      }
      known[number] = best;
    }
    return known[number];
  }

  function valueOfMove(own, other, seat, number, place) {
    const marks = own | (1 << place);
    for (const rest of rests[seat][place]) {
      if ((marks & rest) === rest) {
        return ofLine * (SOON - 1);
      }
    }
    const score = 0 - value(other, marks, 1 - seat, number + (seat + 1) * powers[place]);
    return score - Math.sign(score); // a ply later
  }

  return (board) => {
    const seat = seatToMove(board);
    const [own, other] = [seat, 1 - seat].map((each) => bits(open.filter((cell) => board[cell] === MARKS[each])));
    const number = open.reduce((sum, cell, place) => sum + powers[place] * (MARKS.indexOf(board[cell]) + 1), 0);
    return Array.from(board, (mark, cell) => (mark === EMPTY ? valueOfMove(own, other, seat, number, open.indexOf(cell)) : null));
  };
}
