// The sentences of the page: values, results, and whether a move keeps what the position is worth.
import { EMPTY, MARKS, seatToMove, squareWords } from "./rules.js";
import { SOLVABLE_SQUARES } from "./solve.js";

/** Signs of the results, for small squares and for people who cannot tell the colours apart. */
export const SIGNS = { win: "+", draw: "=", loss: "\u2212" };

/** Return a learned value as people read it: signed, with three digits or so. */
export function valueText(value) {
  const size = Math.abs(value);
  let decimals = 2;
  if (size >= 100) {
    decimals = 0;
  } else if (size >= 10) {
    decimals = 1;
  }
  const digits = size.toFixed(decimals);
  if (Number(digits) === 0) {
    return digits;
  }
  return (value < 0 ? "\u2212" : "+") + digits;
}

/** Return a number with a separator between thousands. */
export function numberText(number) {
  return number.toLocaleString("en");
}

/** Return a count with its noun, "1 line" or "3 lines". */
export function counted(number, noun) {
  return `${numberText(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Return words as a sentence begins. */
export function capital(words) {
  return words[0].toUpperCase() + words.slice(1);
}

/** Return words in a row: "a", "a or b", "a, b or c". */
export function listed(words, last = "or") {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} ${last} ${words.at(-1)}`;
}

/** Squares that a sentence about a move names. */
const MOST_LISTED = 4;
const WORTH = { win: "a win", draw: "a draw", loss: "a loss" };
const KEPT_WORTH = { win: "the win", draw: "the draw" };

/**
 * Return what a player does on a board that was analysed, in one or two sentences.
 *
 * @param {import("./players.js").Analysis} analysis
 * @param {boolean} then A snapshot of the player was analysed.
 */
export function moveSentence(board, analysis, then) {
  if (!analysis.moves.length) {
    return "The game is over. Go back by a move to look inside.";
  }
  const would = then ? "It would have played" : "It would play";
  if (analysis.move === null) {
    const several = analysis.moves.length > MOST_LISTED;
    const squares = several ? `any of ${analysis.moves.length} squares` : listed(analysis.moves.map(squareWords));
    return `${would} ${squares}${analysis.moves.length > 1 ? ", chosen at random" : ""}. ${drawnWorth(analysis)}`.trim();
  }
  const square = squareWords(analysis.move);
  if (board[analysis.move] !== EMPTY) {
    const instead = analysis.reply === null ? "" : ` Against you it plays ${squareWords(analysis.reply)} instead.`;
    return `${would} ${square}, which is taken, so by the rules it loses at once.${instead}`;
  }
  return `${would} ${square}. ${worthOfMove(analysis)}`;
}

function worthOfMove(analysis) {
  const result = analysis.exact[analysis.move];
  if (analysis.gives_away === null) {
    return "Whether that is right is not known yet.";
  }
  if (analysis.gives_away) {
    return `That gives ${KEPT_WORTH[analysis.position]} away: it is ${WORTH[result]} if both play best from there.`;
  }
  return analysis.position === "loss" ? "No move does better: the position is lost." : `That keeps ${KEPT_WORTH[analysis.position]}.`;
}

function drawnWorth(analysis) {
  const results = new Set(analysis.moves.map((cell) => analysis.exact[cell]));
  if (results.has(null) || analysis.position === null) {
    return "";
  }
  const several = analysis.moves.length > 1;
  const worse = [...results].filter((result) => result !== analysis.position);
  if (!worse.length) {
    return analysis.position === "loss" ? "The position is lost." : `${several ? "Each" : "That"} keeps ${KEPT_WORTH[analysis.position]}.`;
  }
  return `${several ? "Some of these give" : "That gives"} ${KEPT_WORTH[analysis.position]} away.`;
}

/** Return the exact result of a position in a sentence. */
export function exactSentence(board, analysis) {
  if (analysis.unsolved) {
    return `What is true is not known yet. It is once at most ${SOLVABLE_SQUARES} squares are empty.`;
  }
  if (!analysis.moves.length) {
    return "The game is over.";
  }
  return `With best play the position is ${WORTH[analysis.position]} for ${MARKS[seatToMove(board)]}${endText(analysis)}.`;
}

/** Return after how many plies a position ends with best play. */
function endText({ exact, plies, position }) {
  const lengths = plies.filter((_, cell) => exact[cell] === position);
  return `: the game ends after ${counted(position === "win" ? Math.min(...lengths) : Math.max(...lengths), "more move")}`;
}

/** Return how a game has ended, for the person in a seat; null if it has not. */
export function resultSentence(position, seat) {
  if (!position.over) {
    return null;
  }
  if (position.taken !== null) {
    return seat === position.winner ? "You win: it chose a taken square." : "You lose: the square was taken.";
  }
  if (position.winner === null) {
    return "A draw.";
  }
  return position.winner === seat ? "You win." : "It wins.";
}

/** Return what is proved: "unbeatable", "unexploitable", "beaten", or "unknown". */
export function statusOf({ proved, ways }) {
  return proved ?? (ways.some((number) => number > 0) ? "beaten" : "unknown");
}

/** Return the number of ways to beat a player, the sum of some, with a word where there may be more. */
export function waysText({ ways, complete, about = false }) {
  const all = ways.reduce((sum, number) => sum + number, 0);
  const bound = complete ? "" : "at least ";
  return `${about ? "about " : bound}${counted(all, "way")} to beat it`;
}

/** Return the sentence that reconciles a proof with states that are still wrong; null if there are none. */
export function stillWrong({ number, reached }) {
  if (!number || reached === null) {
    return null;
  }
  const states = `${numberText(number)} state${number === 1 ? " is" : "s are"} still wrong`;
  const met = reached === 0 ? "its own play never reaches them" : `its own play reaches ${numberText(reached)}, and gives only a win away there`;
  return `${states}: ${met}.`;
}
