// The games that a player loses, and its mistakes: the moves by which it loses them, without turned and reflected ones.
import { loserOf } from "./game.js";
import { EMPTY, MARKS, emptyBoard, emptyCells, outcome, seatToMove, withMark } from "./rules.js";

/** Return the games that a player with one move in each position, which `look` tells, loses against every reply. */
export function lostGames(rules, look) {
  const games = [];

  function follow(board, cells, seat) {
    const mover = seatToMove(board);
    for (const cell of mover === seat ? [look(board).move] : emptyCells(board)) {
      const after = withMark(board, cell, MARKS[mover]);
      const end = outcome(rules, after);
      if (board[cell] !== EMPTY || end.winner === 1 - seat) {
        games.push([...cells, cell]);
      } else if (!end.over) {
        follow(after, [...cells, cell], seat);
      }
    }
  }

  follow(emptyBoard(rules), [], 0);
  follow(emptyBoard(rules), [], 1);
  return games.sort((one, other) => one.length - other.length);
}

/**
 * Return the mistakes: those that lose most games first, then other wrong moves.
 *
 * @param {import("./players.js").Player} player
 * @returns {import("./players.js").Group[]}
 */
export function groupsOf({ rules, symmetries }, look, { games, wrong }) {
  const groups = new Map();
  const groupOf = (found) => {
    const key = imageOf(symmetries, found);
    groups.set(key, groups.get(key) ?? { game: null, ply: null, states: 0, games: 0, ...found });
    return groups.get(key);
  };
  games.forEach((game) => { groupOf(losingMove(rules, look, game)).games += 1; });
  wrong.forEach(({ states, ...found }) => { groupOf(found).states += states; });
  return [...groups.values()].sort((one, other) => other.games - one.games);
}

/** Return what a position with a move has in common with all that are turned or reflected ones of it. */
function imageOf(symmetries, { board, move }) {
  const images = symmetries.map((origin) => `${origin.map((cell) => board[cell]).join("")} ${origin.indexOf(move)}`);
  return images.sort()[0];
}

/** Return the loser's last move in a game that is known to give something away, or else its last. */
function losingMove(rules, look, game) {
  const seat = loserOf(rules, game);
  let board = emptyBoard(rules);
  let last = null;
  let losing = null;
  game.forEach((cell, ply) => {
    if (ply % 2 === seat) {
      const { exact, position } = look(board);
      last = { board, move: cell, game, ply };
      losing = board[cell] === EMPTY && exact[cell] === position ? losing : last;
    }
    board = withMark(board, cell, MARKS[ply % 2]);
  });
  return losing ?? last;
}
