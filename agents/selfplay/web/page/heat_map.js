// Heat maps of a position: what a player has learned of each square, and what is true of it, in one scale of colours.
import { STAR, boardPicture, label, markDrawing, tile } from "./grid.js";
import { setAttribute, svg } from "./dom.js";
import { EMPTY, squareWords } from "./rules.js";
import { SIGNS, valueText } from "./sentences.js";

const LOSS = [233, 146, 92];
const DRAW = [232, 229, 222];
const WIN = [116, 176, 236];
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

/** Return the colour of each value by its meaning, from a loss over a draw to a win; null where there is no value. */
export function learnedColours(player, values) {
  const [loss, draw, win] = worthOf(player);
  return values.map((value) => {
    if (value === null) {
      return null;
    }
    const part = Math.max(-1, Math.min(1, value < draw ? (value - draw) / (draw - loss) : (value - draw) / (win - draw)));
    const end = part > 0 ? WIN : LOSS;
    return `rgb(${DRAW.map((middle, i) => Math.round(middle + Math.abs(part) * (end[i] - middle))).join(",")})`;
  });
}

/** Return the words on each free square: its value, or nothing. */
export function learnedNotes(values) {
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
 * @param {import("./server_api.js").Analysis} analysis
 */
function disagreements(player, board, { values, exact }) {
  return exact.map((result, cell) =>
    result !== null && values !== null && values[cell] !== null && board[cell] === EMPTY && saysResults(player) &&
    meaningOf(player, values[cell]) !== result);
}

/**
 * Draw what a player has learned of each square of a position, and the squares that it would mark.
 *
 * @param {import("./server_api.js").Player} player
 * @param {import("./server_api.js").Analysis} analysis
 */
export function learnedMap(player, board, analysis) {
  const all = analysis.values ?? Array(board.length).fill(null);
  const values = all.map((value, cell) => (board[cell] === EMPTY ? value : null));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const [loss] = worthOf(player);
  const notes = learnedNotes(values).map((text, cell) =>
    text === "" && board[cell] !== EMPTY && all[cell] !== null && all[cell] < loss && !chosen.includes(cell) ? "avoids" : text);
  const wrong = disagreements(player, board, analysis);
  const { picture, squares } = heatMap(player.rules, board, learnedColours(player, values), notes, chosen, wrong);
  squares.forEach((square, cell) => setAttribute(square, "data-value", all[cell]));
  setAttribute(picture, "aria-label", `Learned values: ${spoken(player.rules, board, notes, wrong)}`);
  return picture;
}

/**
 * Draw how a position ends with best play after each of its moves, and the squares that the player would mark.
 *
 * @param {import("./server_api.js").Player} player
 * @param {import("./server_api.js").Analysis} analysis
 */
export function exactMap(player, board, analysis) {
  const worth = worthOf(player);
  const colours = learnedColours(player, analysis.exact.map((result) => (result === null ? null : worth[MEANINGS.indexOf(result)])));
  const open = analysis.moves.length > 0;
  const notes = analysis.exact.map((result, cell) => result ?? (open && board[cell] === EMPTY ? "?" : ""));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const wrong = disagreements(player, board, analysis);
  const { picture, squares } = heatMap(player.rules, board, colours, notes, chosen, wrong);
  squares.forEach((square, cell) => {
    setAttribute(square, "data-exact", analysis.exact[cell]);
    if (analysis.exact[cell] === "loss") {
      square.querySelector(".tile").after(hatching());
    }
  });
  setAttribute(picture, "aria-label", `Exact results: ${spoken(player.rules, board, notes, wrong)}`);
  return picture;
}

function heatMap(rules, board, colours, notes, chosen, wrong) {
  const { picture, squares } = boardPicture(rules, { class: "heat-map", role: "img" });
  squares.forEach((square, cell) => {
    square.append(tile(colours[cell] === null ? { class: "tile" } : { class: "tile coloured", fill: colours[cell] }));
    const marked = board[cell] !== EMPTY;
    if (marked) {
      const place = notes[cell] === "" && !chosen.includes(cell) ? {} : { transform: "translate(14 4) scale(0.72)" }; // room for a value and a star
      square.append(markDrawing(board[cell], place));
    }
    if (notes[cell] !== "") {
      square.append(note(notes[cell], marked, colours[cell] === null));
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

function note(text, marked, cold) {
  const classes = ["note", marked ? "of-mark" : "", cold ? "cold" : ""].filter(Boolean).join(" ");
  const sign = SIGNS[text];
  if (sign === undefined) {
    return label(text, 50, marked ? 85 : 52, marked ? 19 : 25, { class: classes });
  }
  const parts = [label(sign, 50, 40, 40, { class: `${classes} sign` }), label(text, 50, 74, 23, { class: classes })];
  return svg("g", {}, ...parts);
}

/** Return the stripes of a lost square, which tell it apart without colours. */
function hatching() {
  return svg("path", { class: "hatching", d: "M8 36 36 8M8 64 64 8M8 92 92 8M36 92 92 36M64 92 92 64" });
}

function spoken(rules, board, notes, wrong) {
  const squares = notes.map((text, cell) => (text === "" ? null : `${squareWords(rules, cell)} ${text === "?" ? "not known" : text}${wrong[cell] ? ", the maps disagree" : ""}`));
  return squares.filter((words, cell) => words !== null && board[cell] === EMPTY).join(", ") || "none";
}
