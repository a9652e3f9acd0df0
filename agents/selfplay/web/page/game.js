// A game: where it begins, which cells were marked, and how many of them are on the board.
import { EMPTY, MARKS, emptyBoard, sameRules, seatToMove, outcome, problemOf, resultOfLine, withMark } from "./rules.js";

/**
 * @typedef {object} Game
 * @property {string} start The board it begins with.
 * @property {number[]} cells Every ply. The last may be a taken cell, by which its mover has lost.
 * @property {number} at Plies that are on the board now.
 * @property {Partial<import("./state.js").State> | null} before The game whose position this one took over, and who played it.
 */

/**
 * @typedef {object} Position
 * @property {string} board
 * @property {0 | 1} seat The seat to move; after a taken cell the one that chose it.
 * @property {number | null} last
 * @property {number | null} taken The taken cell that has ended the game.
 * @property {0 | 1 | null} winner
 * @property {number[]} line
 * @property {boolean} over
 */

/** @returns {Game} */
export function gameFrom(start, cells = [], at = cells.length, before = null) {
  return { start, cells, at, before };
}

/**
 * Return the position after the first `at` plies.
 *
 * @param {Game} game
 * @returns {Position}
 */
export function positionOf(rules, game, at = game.at) {
  let board = game.start;
  let taken = null;
  for (const cell of game.cells.slice(0, at)) {
    if (board[cell] === EMPTY) {
      board = withMark(board, cell, MARKS[seatToMove(board)]);
    } else {
      taken = cell;
    }
  }
  const seat = /** @type {0 | 1} */ (seatToMove(board));
  const last = at > 0 ? game.cells[at - 1] : null;
  const { winner, line, over } = outcome(rules, board);
  if (taken !== null) {
    return { board, seat, last, taken, winner: /** @type {0 | 1} */ (1 - seat), line, over: true };
  }
  return { board, seat, last, taken, winner, line, over };
}

/** Return the seat that has lost a game from the empty board, whose last ply completes a line or takes a taken cell. */
export function loserOf(rules, cells) {
  const mover = (cells.length - 1) % 2;
  const illegal = cells.indexOf(cells.at(-1)) < cells.length - 1;
  return illegal || resultOfLine(rules) < 0 ? mover : 1 - mover;
}

/** Return the seat whose ply `ply` (from 0) of a game is. */
export function seatOfPly(game, ply) {
  return (seatToMove(game.start) + ply) % 2;
}

/** Return the game in which the mover of the position on the board has marked a cell; later plies are dropped. */
export function played(game, cell) {
  return cutAt({ ...game, cells: [...game.cells.slice(0, game.at), cell] }, game.at + 1);
}

/** Return the game without the plies after the first `at`. */
export function cutAt(game, at) {
  return { ...game, cells: game.cells.slice(0, at), at };
}

/** Return what changes when a seat takes back its last move, or else a game that took over a position; null if nothing does. */
export function undone({ game, seat }) {
  const ply = game.cells.findLastIndex((_, each) => each < game.at && seatOfPly(game, each) === seat);
  return ply < 0 ? game.before : { game: cutAt(game, ply) };
}

/** Return the game with another ply on the board, as near as it has one. */
export function lookedAt(game, at) {
  return { ...game, at: Math.max(0, Math.min(at, game.cells.length)) };
}

const PAUSE = 900; // milliseconds between the moves of a game that is shown

/** Show the moves of a game one after the other; once something else is `shown`, the person does not want to see them. */
export async function playThrough(game, show, shown) {
  for (let at = game.at; at <= game.cells.length; at += 1) {
    const now = lookedAt(game, at);
    show(now);
    await new Promise((done) => { setTimeout(done, PAUSE); });
    if (shown() !== now) {
      return;
    }
  }
}

/**
 * Return what changes when another player is chosen, or an earlier one of itself. A move belongs to who made it, so a new
 * game begins, from the position on the board if that has not ended; who played the old one continues it.
 *
 * @param {import("./main.js").App} app
 */
export function chosen(app, player, steps = null) {
  const { rules } = app.players[player];
  const { board, over } = app.position();
  const { game: last, seat, ...old } = app.state;
  const before = last.cells.length ? { player: old.player, steps: old.steps, game: last, seat } : last.before;
  if (before?.player === player && before.steps === steps && !last.cells.length) {
    return before;
  }
  const stays = sameRules(rules, app.rules()) && !over;
  const game = gameFrom(stays ? board : emptyBoard(rules), [], 0, before);
  const words = `A new game${stays ? " from this position" : ""}: the one before was another player\u2019s. Undo brings it back.`;
  const note = { game, text: before === null ? "" : words, cells: [] };
  return { player, steps, game, seat: /** @type {0 | 1} */ (seatToMove(game.start)), note };
}

/**
 * Return why a game cannot have been played, in a sentence; null if it can.
 *
 * @param {Game} game
 */
export function problemOfGame(rules, game) {
  const cells = rules.rows * rules.cols;
  if (game.start.length !== cells || /[^.XO]/.test(game.start)) {
    return `The board ${game.start.slice(0, 70)} does not have ${rules.rows} by ${rules.cols} cells.`;
  }
  const start = problemOf(rules, game.start);
  if (start !== null) {
    return start;
  }
  for (let ply = 0; ply < game.cells.length; ply += 1) {
    const cell = game.cells[ply];
    if (!Number.isInteger(cell) || cell < 0 || cell >= cells) {
      return `There is no square ${cell + 1} on this board.`;
    }
    if (positionOf(rules, game, ply).over) {
      return `The game is over before its move ${ply + 1}.`;
    }
  }
  return null;
}
