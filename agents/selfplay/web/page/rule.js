// The built-in rule as a rating of cells, which a player with a rule weight adds to its values where it chooses:
// selfplay.dqn.rule in JavaScript.
import { EMPTY, MARKS, seatToMove } from "./rules.js";

const BASE = 4;
const MOST_MARKS = 20; // with more marks a line is worth no more

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
  const decisive = { wins: new Set(), blocks: new Set() };
  for (const line of game.lines) {
    const mine = line.filter((cell) => board[cell] === own).length;
    const empty = line.filter((cell) => board[cell] === EMPTY);
    const marks = line.length - empty.length;
    if (mine > 0 && mine < marks) {
      continue; // it holds marks of both
    }
    for (const cell of empty) {
      worth[cell] += BASE ** Math.min(marks, MOST_MARKS);
      if (empty.length === 1) {
        decisive[mine === marks ? "wins" : "blocks"].add(cell);
      }
    }
  }
  const first = [decisive.wins, decisive.blocks].find((cells) => cells.size > 0);
  if (first) {
    return worth.map((_, cell) => (first.has(cell) ? 1 : 0));
  }
  const most = Math.max(...worth);
  return worth.map((each, cell) => (most > 0 ? each / most : Number(board[cell] === EMPTY)));
}
