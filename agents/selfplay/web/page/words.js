// What the page says in words: values, results, and whether a move gives something away.
import { EMPTY, MARKS, squareWords } from "./rules.js";

/** Signs of the results, for squares too small for words, and so that no colour has to be told apart. */
export const SIGNS = { win: "+", draw: "=", loss: "\u2212" };

/** Return a learned value as people read it. */
export function valueText(value) {
  const size = Math.abs(value);
  const digits = size.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : 2);
  const sign = Number(digits) === 0 ? "" : value < 0 ? "\u2212" : "+";
  return sign + digits;
}

/** Return a number with a separator between thousands. */
export function numberText(number) {
  return number.toLocaleString("en");
}

/** Return a count with its noun, "1 line" or "3 lines". */
export function counted(number, noun) {
  return `${numberText(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return words in a row: "a", "a or b", "a, b or c". */
export function listed(words, last = "or") {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

const MOST_LISTED = 4;
const WORTH = { win: "a win", draw: "a draw", loss: "a loss" };
const KEPT_WORTH = { win: "the win", draw: "the draw" };

/**
 * Return what a player does on a board that was looked at, in one or two sentences.
 *
 * @param {import("./server_source.js").Player} player
 * @param {import("./server_source.js").Look} look
 * @param {boolean} then It is an earlier self of the player that was looked into.
 */
export function moveSentence(player, board, look, then) {
  if (look.result !== null) {
    return "The game is over: there is no move to look at.";
  }
  const would = then ? "It would have played" : "It would play";
  if (look.move === null) {
    const several = look.moves.length > MOST_LISTED;
    const squares = several ? `any of ${look.moves.length} squares` : listed(look.moves.map((cell) => squareWords(player, cell)));
    return `${would} ${squares}${look.moves.length > 1 ? ", drawn at random" : ""}. ${drawnWorth(look)}`.trim();
  }
  const square = squareWords(player, look.move);
  if (board[look.move] !== EMPTY) {
    const instead = look.reply === null ? "" : ` Against you it plays ${squareWords(player, look.reply)} instead.`;
    return `${would} ${square}, which is taken: by the rules it loses at once.${instead}`;
  }
  return `${would} ${square}. ${worthOfMove(look)}`;
}

function worthOfMove(look) {
  const result = look.exact[look.move];
  if (look.gives_away === null) {
    return "Whether that gives anything away is not known on this board.";
  }
  if (look.gives_away) {
    return result === null
      ? `That gives ${KEPT_WORTH[look.position]} away.`
      : `That gives ${KEPT_WORTH[look.position]} away: it is ${WORTH[result]} if both play best from there.`;
  }
  return look.position === "loss" ? "No move does better: the position is lost." : `That keeps ${KEPT_WORTH[look.position]}.`;
}

function drawnWorth(look) {
  const results = new Set(look.moves.map((cell) => look.exact[cell]));
  if (results.has(null) || look.position === null) {
    return "";
  }
  const worse = [...results].filter((result) => result !== look.position);
  if (!worse.length) {
    return look.position === "loss" ? "The position is lost." : `Each keeps ${KEPT_WORTH[look.position]}.`;
  }
  return `Some of these give ${KEPT_WORTH[look.position]} away.`;
}

/** Return what the exact results of a position are, in a sentence. */
export function exactSentence(board, look) {
  if (look.known === "no") {
    return "Exact results are not known: this board is too large to be solved here.";
  }
  if (look.result !== null) {
    return "The game is over.";
  }
  const whole = look.position === null ? "What the position is worth is not known."
    : `With best play the position is ${WORTH[look.position]} for ${MARKS[look.seat]}.`;
  const unsettled = look.exact.some((result, cell) => result === null && board[cell] === EMPTY);
  return unsettled ? `${whole} ? is not known: a search could not settle it in time.` : whole;
}

/** Return how a game has ended, as one hears it who plays in a seat; null while it goes on. */
export function resultSentence(position, seat, playerName) {
  if (!position.over) {
    return null;
  }
  if (position.taken !== null) {
    return seat === position.winner ? `You win: ${playerName} chose a taken square.` : "You lose: the square was taken.";
  }
  if (position.winner === null) {
    return "A draw.";
  }
  return position.winner === seat ? "You win." : `${playerName} wins.`;
}
