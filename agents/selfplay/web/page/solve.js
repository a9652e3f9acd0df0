// Exact results by negamax, which finds each position's once and remembers it.
import { EMPTY, MARKS, positionNumber, resultOfLine, seatToMove } from "./rules.js";

/** Half a megabyte for 3^12 positions, which are solved within 50 ms. */
export const SOLVABLE_CELLS = 12;

/**
 * Return what gives the result of each cell to the mover of an unfinished position if both play best from there: 1 for
 * a win, 0 for a draw, -1 for a loss, null where the cell is taken.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {number[][]} lines The cells of each line.
 * @returns {(board: string) => (1 | 0 | -1 | null)[]}
 */
export function solver(rules, lines) {
  const cells = rules.rows * rules.cols;
  const ofLine = resultOfLine(rules);
  const all = Array.from({ length: cells }, (_, cell) => cell);
  const bits = (chosen) => chosen.reduce((sum, cell) => sum | (1 << cell), 0);
  const linesThrough = all.map((cell) => lines.filter((line) => line.includes(cell)).map(bits));
  const powers = all.map((cell) => 3 ** cell);
  const full = bits(all);
  const known = new Int8Array(3 ** cells); // value + 2 by the position's number, 0 before it is found

  /** Return the value of a position without a line to its mover; `digit` is the mover's in the position's number. */
  function value(own, other, digit, number) {
    if ((own | other) === full) {
      return 0;
    }
    if (known[number] === 0) {
      let best = -1;
      for (let cell = 0; cell < cells && best < 1; cell += 1) {
        if ((((own | other) >> cell) & 1) === 0) {
          best = Math.max(best, valueOfMove(own, other, digit, number, cell));
        }
      }
      known[number] = best + 2;
    }
    return known[number] - 2;
  }

  function valueOfMove(own, other, digit, number, cell) {
    const marks = own | (1 << cell);
    const completes = linesThrough[cell].some((line) => (marks & line) === line);
    return completes ? ofLine : 0 - value(other, marks, 3 - digit, number + digit * powers[cell]);
  }

  return (board) => {
    const seat = seatToMove(board);
    const [own, other] = [seat, 1 - seat].map((each) => bits(all.filter((cell) => board[cell] === MARKS[each])));
    const number = positionNumber(board);
    return all.map((cell) => (board[cell] === EMPTY ? valueOfMove(own, other, seat + 1, number, cell) : null));
  };
}
