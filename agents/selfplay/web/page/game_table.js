// The whole game of a small board in tables, made from rules.js, through which learners and the judge walk millions of
// times. A position is its number in base 3, which is its row in these tables.
import { EMPTY, MARKS, emptyBoard, emptyCells, outcome, positionNumber, seatToMove, withMark } from "./rules.js";

/** What a move leads to, for the seat that made it, by the numbers of tictactoe.rules.Event. */
export const [ONGOING, ALLOW, DRAW, WIN, ILLEGAL] = [0, 1, 2, 3, 4];

/**
 * Return the tables of a board: their sizes `cells` and `rows`; `decisions`, the rows of the unfinished positions, which alone
 * have all that follows; by row `seats`, the seat to move, `digits`, of each cell 0 if it is empty, 1 for X, 2 for O, and
 * `legal`, the empty cells; and by row * cells + cell `events`, and `after`, the row that a legal move leads to.
 */
export function gameTable(rules) {
  const cells = rules.rows * rules.cols;
  const rows = 3 ** cells;
  const events = new Uint8Array(rows * cells).fill(ILLEGAL);
  const after = new Int32Array(rows * cells);
  const seats = new Uint8Array(rows);
  const [digits, legal] = [Array(rows), Array(rows)];
  const boards = new Map([[0, emptyBoard(rules)]]); // grows while one walks through it
  const winning = new Set(); // the rows from which the mover can win at once
  for (const [row, board] of boards) {
    seats[row] = seatToMove(board);
    digits[row] = Array.from(board, (mark) => (EMPTY + MARKS).indexOf(mark));
    legal[row] = emptyCells(board);
    for (const cell of legal[row]) {
      const next = withMark(board, cell, MARKS[seats[row]]);
      const place = row * cells + cell;
      const { winner, over } = outcome(rules, next);
      after[place] = positionNumber(next);
      if (winner !== null) {
        events[place] = WIN;
        winning.add(row);
      } else if (over) {
        events[place] = DRAW;
      } else {
        events[place] = ONGOING;
        boards.set(after[place], next);
      }
    }
  }
  events.forEach((event, place) => {
    if (event === ONGOING && winning.has(after[place])) {
      events[place] = ALLOW;
    }
  });
  return { cells, rows, decisions: [...boards.keys()], seats, events, after, digits, legal };
}
