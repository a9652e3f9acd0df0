// Hints: the moves that win, or else those that begin a way to beat the player, or else those that keep the draw.
import { loserOf } from "./game.js";
import { emptyBoard } from "./rules.js";
import { capital, counted, listed } from "./sentences.js";

/** The places of a board of 3 by 3. */
const PLACES = [["the centre", [4]], ["a corner", [0, 2, 6, 8]], ["an edge", [1, 3, 5, 7]]];

/**
 * Return the squares of a hint for the position on the board, and its sentence. A hint is the truth, never what a player has
 * learned.
 *
 * @param {import("./players.js").Analysis} analysis
 * @param {import("./players.js").Evaluation} evaluation
 */
export function hintFor(rules, game, position, analysis, { complete, games, ways }) {
  const { exact, plies, replies, position: worth } = analysis;
  const right = exact.flatMap((result, cell) => (result !== null && result === worth ? [cell] : []));
  const least = (numbers) => right.filter((cell) => numbers[cell] === Math.min(...right.map((each) => numbers[each])));
  const squares = (cells) => capital(placeWords(rules, cells));
  if (worth === "win") {
    const soonest = least(plies);
    const when = plies[soonest[0]] === 1 ? "wins at once" : `wins: the game ends after ${plies[soonest[0]]} moves, or sooner`;
    return { cells: soonest, text: `${squares(soonest)} ${when}.` };
  }
  const begun = game.cells.slice(0, game.at);
  const whole = game.start === emptyBoard(rules); // the games that the player loses begin there
  const lost = games.filter((cells) => whole && loserOf(rules, cells) !== position.seat && cells.length > begun.length && begun.every((cell, ply) => cells[ply] === cell));
  if (lost.length) {
    const next = [lost[0][begun.length]]; // the shortest of a seat's games is first
    return { cells: next, text: `${squares(next)}: ${lost.length === 1 ? "the only way" : `the shortest of ${lost.length} ways`} to beat this player begins there.` };
  }
  const all = complete && games.length === ways.reduce((sum, number) => sum + number, 0);
  const why = whole && all ? "From here this player cannot be beaten. " : "";
  if (worth === "draw") {
    const left = [...exact].filter((result) => result !== null).length - 1;
    const traps = least(replies);
    return { cells: traps, text: left ? `${why}${squares(traps)}: only ${replies[traps[0]]} of ${counted(left, "reply")} holds.`.replace("replys", "replies") : `${why}${squares(traps)} keeps the draw.` };
  }
  if (worth === "loss") {
    const longest = least(plies.map((each) => -each));
    return { cells: longest, text: `Every move loses against best play. ${squares(longest)} resists longest: ${counted(plies[longest[0]], "move")}.` };
  }
  return { cells: [], text: "Which moves are right is not known yet." };
}

/** Return squares in words: "a corner" if only corners are meant, else "square 1 or 3". */
function placeWords(rules, cells) {
  const kind = PLACES.find(([, some]) => rules.rows === 3 && rules.cols === 3 && (cells.length > 1 || some.length === 1) && cells.every((cell) => some.includes(cell)));
  return kind?.[0] ?? `square ${listed(cells.map((cell) => cell + 1))}`;
}
