// The rules of the game. A position is a string of one character a cell, "." or "X" or "O", row by row.

/** @typedef {{rows: number, cols: number, k: number}} Rules What the page knows; Python refuses any other rule. */

export const EMPTY = ".";
export const MARKS = "XO";
const DIRECTIONS = [[0, 1], [1, 0], [1, 1], [1, -1]];

/** Return whether two players play the same game. */
export function sameRules(one, other) {
  return Object.keys(one).every((name) => one[name] === other[name]);
}

/**
 * Return the result of the seat that completes a line: 1 if it has won, -1 if it has lost.
 *
 * @param {Rules} _rules By all of them a line wins.
 */
export function resultOfLine(_rules) {
  return 1;
}

/** @param {Rules} rules */
export function emptyBoard(rules) {
  return EMPTY.repeat(rules.rows * rules.cols);
}

/** Return how many marks of a seat are on a board. */
function marksOf(board, seat) {
  return [...board].filter((mark) => mark === MARKS[seat]).length;
}

/** Return the cells without a mark. */
export function emptyCells(board) {
  return [...board].flatMap((mark, cell) => (mark === EMPTY ? [cell] : []));
}

/** Return the seat to move, 0 or 1. */
export function seatToMove(board) {
  return (marksOf(board, 0) + marksOf(board, 1)) % 2;
}

/** Return a position as a number in base 3: digit i is cell i, 1 for X and 2 for O. Tables have a row for each. */
export function positionNumber(board) {
  return [...board].reduce((sum, mark, cell) => sum + (MARKS.indexOf(mark) + 1) * 3 ** cell, 0);
}

/** Return the board with another mark on a cell. */
export function withMark(board, cell, mark) {
  return board.slice(0, cell) + mark + board.slice(cell + 1);
}

/**
 * Return every finished line of a seat, each as its k cells.
 *
 * @param {Rules} rules
 */
export function linesOf(rules, board, seat) {
  const lines = [];
  for (let row = 0; row < rules.rows; row += 1) {
    for (let col = 0; col < rules.cols; col += 1) {
      for (const [down, right] of DIRECTIONS) {
        const cells = lineFrom(rules, row, col, down, right);
        if (cells !== null && cells.every((cell) => board[cell] === MARKS[seat])) {
          lines.push(cells);
        }
      }
    }
  }
  return lines;
}

function lineFrom(rules, row, col, down, right) {
  const lastRow = row + down * (rules.k - 1);
  const lastCol = col + right * (rules.k - 1);
  if (lastRow >= rules.rows || lastCol >= rules.cols || lastCol < 0) {
    return null;
  }
  return Array.from({ length: rules.k }, (_, i) => (row + i * down) * rules.cols + col + i * right);
}

/**
 * Return the outcome of a board.
 *
 * @param {Rules} rules
 * @returns {{winner: 0 | 1 | null, line: number[], over: boolean}} the cells of the finished lines, if there are any
 */
export function outcome(rules, board) {
  for (const seat of [0, 1]) {
    const lines = linesOf(rules, board, seat);
    if (lines.length) {
      const winner = resultOfLine(rules) > 0 ? seat : 1 - seat;
      return { winner: /** @type {0 | 1} */ (winner), line: [...new Set(lines.flat())], over: true };
    }
  }
  return { winner: null, line: [], over: !board.includes(EMPTY) };
}

/**
 * Return why no game leads to a board, in a sentence; null if one does.
 *
 * @param {Rules} rules
 */
export function problemOf(rules, board) {
  const [first, second] = [marksOf(board, 0), marksOf(board, 1)];
  if (second > first) {
    return `O has ${second} marks and X ${first}; X moves first and cannot have fewer.`;
  }
  if (first > second + 1) {
    return `X has ${first} marks and O ${second}; X can have one more at most.`;
  }
  const lines = [linesOf(rules, board, 0), linesOf(rules, board, 1)];
  if (lines[0].length && lines[1].length) {
    return "Both have a line; the first one ends the game.";
  }
  const holder = lines[0].length ? 0 : 1;
  if (lines[holder].length) {
    if (seatToMove(board) === holder) {
      return `${MARKS[holder]} has a line, but ${MARKS[1 - holder]} has moved after it.`;
    }
    const common = lines[holder].reduce((cells, line) => cells.filter((cell) => line.includes(cell)));
    if (!common.length) {
      return `${MARKS[holder]} has lines that no single mark can have finished together.`;
    }
  }
  return null;
}

/** Return a square's name in a sentence: people count squares from 1, row by row, on every board. */
export function squareWords(cell) {
  return `square ${cell + 1}`;
}
