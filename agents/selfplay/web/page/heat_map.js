// Heat maps of a position: what a player has learned of each square, and what is true of it, in one scale of colours.
import { STAR, boardPicture, label, markDrawing, shadedTile, tile } from "./grid.js";
import { setAttribute, svg } from "./dom.js";
import { EMPTY, squareWords } from "./rules.js";
import { SIGNS, valueText } from "./sentences.js";

const UNITS = { "td-value": [0, 0.5, 1], "td-backup": [0, 0.5, 1] };
const MEANINGS = ["loss", "draw", "win"];

/** Return whether a player's values say how a game ends: with its rewards only a win is above 0, and only a loss below. */
export function saysResults(player) {
  return !player.worth || (player.worth.loss < 0 && player.worth.draw === 0 && player.worth.win > 0);
}

/** Return what a loss, a draw and a win are worth to a player; -1, 0 and 1 if its values do not say how a game ends. */
export function worthOf(player) {
  if (player.worth && saysResults(player)) {
    return MEANINGS.map((result) => player.worth[result]);
  }
  return UNITS[player.kind] ?? [-1, 0, 1];
}

/** Return the shade of each value by its meaning, from a loss (-1) over a draw (0) to a win (1); null where there is none. */
function shadesOf(player, values) {
  const [loss, draw, win] = worthOf(player);
  return values.map((value) => {
    if (value === null) {
      return null;
    }
    return Math.max(-1, Math.min(1, value < draw ? (value - draw) / (draw - loss) : (value - draw) / (win - draw)));
  });
}

/** Return the words on each free square: its value, or nothing. */
function learnedNotes(values) {
  return values.map((value) => (value === null ? "" : valueText(value)));
}

/** Return the result that a value is nearest to. */
function meaningOf(player, value) {
  const [loss, draw, win] = worthOf(player);
  if (value < (loss + draw) / 2) {
    return "loss";
  }
  return value < (draw + win) / 2 ? "draw" : "win";
}

/**
 * Return for each square whether the learned value and the exact result mean different things.
 *
 * @param {import("./players.js").Analysis} analysis
 */
function disagreements(player, board, { values, exact }) {
  return exact.map((result, cell) =>
    result !== null && values !== null && values[cell] !== null && board[cell] === EMPTY && saysResults(player) &&
    meaningOf(player, values[cell]) !== result);
}

/**
 * Draw what a player has learned of each square of a position, and the squares that it would mark.
 *
 * @param {import("./players.js").Player} player
 * @param {import("./players.js").Analysis} analysis
 */
export function learnedMap(player, board, analysis) {
  const all = analysis.values ?? Array(board.length).fill(null);
  const values = all.map((value, cell) => (board[cell] === EMPTY ? value : null));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const [loss] = worthOf(player);
  const notes = learnedNotes(values).map((text, cell) =>
    text === "" && board[cell] !== EMPTY && all[cell] !== null && all[cell] < loss && !chosen.includes(cell) ? "avoids" : text);
  const wrong = disagreements(player, board, analysis);
  const { picture, squares } = heatMap(player.rules, board, shadesOf(player, values), notes, chosen, wrong);
  squares.forEach((square, cell) => setAttribute(square, "data-value", all[cell]));
  setAttribute(picture, "aria-label", `Learned values: ${spoken(board, notes, wrong)}`);
  return picture;
}

/**
 * Draw how a position ends with best play after each of its moves, and the squares that the player would mark.
 *
 * @param {import("./players.js").Player} player
 * @param {import("./players.js").Analysis} analysis
 */
export function exactMap(player, board, analysis) {
  const shades = analysis.exact.map((result) => (result === null ? null : MEANINGS.indexOf(result) - 1));
  const open = analysis.moves.length > 0;
  const notes = analysis.exact.map((result, cell) => result ?? (open && board[cell] === EMPTY ? "?" : ""));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const wrong = disagreements(player, board, analysis);
  const { picture, squares } = heatMap(player.rules, board, shades, notes, chosen, wrong, endsOf(board, analysis));
  squares.forEach((square, cell) => {
    setAttribute(square, "data-exact", analysis.exact[cell]);
    if (analysis.exact[cell] === "loss") {
      square.querySelector(".tile").after(hatching());
    }
  });
  setAttribute(picture, "aria-label", `Exact results: ${spoken(board, notes, wrong, endsOf(board, analysis))}`);
  return picture;
}

/** Return how each move's game ends: a won or lost one in how many plies, a drawn one if how many replies are right. */
function endsOf(board, { exact, plies, replies }) {
  const left = [...board].filter((mark) => mark === EMPTY).length - 1;
  return exact.map((result, cell) => {
    if (result === null || !plies) {
      return "";
    }
    return result === "draw" && left ? `${replies[cell]}/${left}` : `in ${plies[cell]}`;
  });
}

function heatMap(rules, board, shades, notes, chosen, wrong, ends = []) {
  const { picture, squares } = boardPicture(rules, { class: "heat-map", role: "img" });
  squares.forEach((square, cell) => {
    square.append(shadedTile(shades[cell]));
    const marked = board[cell] !== EMPTY;
    if (marked) {
      const place = notes[cell] === "" && !chosen.includes(cell) ? {} : { transform: "translate(14 4) scale(0.72)" }; // room for a value and a star
      square.append(markDrawing(board[cell], place));
    }
    if (notes[cell] !== "") {
      square.append(note(notes[cell], marked, shades[cell] === null, ends[cell]));
    }
    if (!marked && rules.cols > 3) { // else one has to count
      square.append(label(cell + 1, 86, 14, 14, { class: shades[cell] === null ? "square-number" : "note", "aria-hidden": "true" }));
    }
    if (chosen.includes(cell)) {
      square.append(svg("path", { class: "star", d: STAR }));
    }
    if (chosen.length === 1 && chosen[0] === cell) {
      square.append(tile({ class: "chosen" }));
    }
    if (wrong[cell]) {
      square.append(label("\u2260", 83, 19, 32, { class: "differs" }));
    }
  });
  picture.append(...squares);
  return { picture, squares };
}

function note(text, marked, cold, end = "") {
  const classes = ["note", marked ? "of-mark" : "", cold ? "cold" : ""].filter(Boolean).join(" ");
  const sign = SIGNS[text];
  if (sign === undefined) {
    return label(text, 50, marked ? 85 : 52, marked ? 19 : 25, { class: classes });
  }
  const up = end ? 11 : 0; // room for the end
  const parts = [label(sign, 50, 40 - up, 40, { class: `${classes} sign` }), label(text, 50, 74 - 1.5 * up, 23, { class: classes }), label(end, 50, 83, 21, { class: classes })];
  return svg("g", {}, ...parts);
}

/** Return the stripes of a lost square, which tell it apart without colours. */
function hatching() {
  return svg("path", { class: "hatching", d: "M8 36 36 8M8 64 64 8M8 92 92 8M36 92 92 36M64 92 92 64" });
}

function spoken(board, notes, wrong, ends = []) {
  const squares = notes.map((text, cell) => (text === "" ? null : `${squareWords(cell)} ${text === "?" ? "not known" : text} ${ends[cell] ?? ""}${wrong[cell] ? ", the maps disagree" : ""}`));
  return squares.filter((words, cell) => words !== null && board[cell] === EMPTY).join(", ") || "none";
}
