// Exact results by negamax, which finds each position's once and remembers it.
import { EMPTY, MARKS, emptyCells, positionNumber, resultOfLine, seatToMove, withMark } from "./rules.js";

/** Half a megabyte for 3^12 positions, which are solved within half a second. */
export const SOLVABLE_CELLS = 12;
const RESULTS = ["loss", "draw", "win"];
/** A win after n plies has this score less n, a loss the same below 0: so the winner hurries and the loser resists. */
const SOON = 100;
const UNKNOWN = 127;

/**
 * Return what gives the truth about each cell to the mover of an unfinished position if both play best from there, in the
 * words of the server's analysis; null where the cell is taken.
 */
export function truthTeller(rules, lines) {
  const scoresOf = solver(rules, lines);
  const bestOf = (scores) => Math.max(...scores.filter((score) => score !== null));
  const nameOf = (score) => RESULTS[Math.sign(score) + 1];
  return (board) => {
    const scores = scoresOf(board);
    const mark = MARKS[seatToMove(board)];
    const left = emptyCells(board).length;
    const known = (tell) => scores.map((score, cell) => (score === null ? null : tell(score, cell)));
    return {
      exact: known(nameOf),
      plies: known((score) => (score === 0 ? left : SOON - Math.abs(score))),
      replies: known((score, cell) => {
        const after = Math.abs(score) === SOON - 1 ? [] : scoresOf(withMark(board, cell, mark));
        return after.filter((reply) => reply !== null && Math.sign(reply) === -Math.sign(score)).length;
      }),
      position: nameOf(bestOf(scores)),
    };
  };
}

/**
 * Return what gives the score of each cell to the mover of an unfinished position; null where the cell is taken.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {number[][]} lines The cells of each line.
 * @returns {(board: string) => (number | null)[]}
 */
export function solver(rules, lines) {
  const cells = rules.rows * rules.cols;
  const ofLine = resultOfLine(rules);
  const all = Array.from({ length: cells }, (_, cell) => cell);
  const bits = (chosen) => chosen.reduce((sum, cell) => sum | (1 << cell), 0);
  const linesThrough = all.map((cell) => lines.filter((line) => line.includes(cell)).map(bits));
  const powers = all.map((cell) => 3 ** cell);
  const full = bits(all);
  const known = new Int8Array(3 ** cells).fill(UNKNOWN); // by the position's number

  /** Return the score of a position without a line to its mover; `digit` is the mover's in the position's number. */
  function value(own, other, digit, number) {
    if ((own | other) === full) {
      return 0;
    }
    if (known[number] === UNKNOWN) {
      let best = -SOON;
      for (let cell = 0; cell < cells; cell += 1) {
        if ((((own | other) >> cell) & 1) === 0) {
          best = Math.max(best, valueOfMove(own, other, digit, number, cell));
        }
      }
      known[number] = best;
    }
    return known[number];
  }

  function valueOfMove(own, other, digit, number, cell) {
    const marks = own | (1 << cell);
    const completes = linesThrough[cell].some((line) => (marks & line) === line);
    if (completes) {
      return ofLine * (SOON - 1);
    }
    const score = 0 - value(other, marks, 3 - digit, number + digit * powers[cell]);
    return score - Math.sign(score); // a ply later
  }

  return (board) => {
    const seat = seatToMove(board);
    const [own, other] = [seat, 1 - seat].map((each) => bits(all.filter((cell) => board[cell] === MARKS[each])));
    const number = positionNumber(board);
    return all.map((cell) => (board[cell] === EMPTY ? valueOfMove(own, other, seat + 1, number, cell) : null));
  };
}
