// The built-in rule as a rating of cells, which a player with a rule weight adds to its values where it chooses:
// selfplay.dqn.rule in JavaScript.
import { EMPTY, MARKS, seatToMove } from "./rules.js";

const BASE = 4;
const MOST_MARKS = 20; // with more marks a line is worth no more

/** Return the empty cells that win at once, or else those that block a win of the other seat; none if there are none. */
export function decisiveCells(game, board) {
  const own = MARKS[seatToMove(board)];
  const [wins, blocks] = [[], []];
  for (const line of game.lines) {
    const mine = line.filter((cell) => board[cell] === own).length;
    const empty = line.filter((cell) => board[cell] === EMPTY);
    if (empty.length === 1 && [0, line.length - 1].includes(mine)) {
      (mine || line.length === 1 ? wins : blocks).push(empty[0]);
    }
  }
  return new Set(wins.length ? wins : blocks);
}

/**
 * Return how the rule rates each cell, from 0 to 1; taken cells are rated 0.
 *
 * @param {import("./network.js").Game} game
 * @param {string} board
 * @returns {number[]}
 */
export function ruleRating(game, board) {
  const own = MARKS[seatToMove(board)];
  const worth = Array(board.length).fill(0);
  const first = decisiveCells(game, board);
  if (first.size) {
    return worth.map((_, cell) => (first.has(cell) ? 1 : 0));
  }
  for (const line of game.lines) {
    const mine = line.filter((cell) => board[cell] === own).length;
    const empty = line.filter((cell) => board[cell] === EMPTY);
    const marks = line.length - empty.length;
    if (mine > 0 && mine < marks) {
      continue; // it holds marks of both
    }
    for (const cell of empty) {
      worth[cell] += BASE ** Math.min(marks, MOST_MARKS);
    }
  }
  const most = Math.max(...worth);
  return worth.map((each, cell) => (most > 0 ? each / most : Number(board[cell] === EMPTY)));
}
