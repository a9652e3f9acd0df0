// Heat maps of a position: what a player has learned of each square, and what is true of it.
import { boardPicture, label, markDrawing, tile } from "./grid.js";
import { setAttribute, svg } from "./dom.js";
import { EMPTY, squareWords } from "./rules.js";
import { SIGNS, valueText } from "./sentences.js";

const LOW = [233, 146, 92];
const MIDDLE = [232, 229, 222];
const HIGH = [116, 176, 236];

/** Colours of the exact results, those of the worst and the best value. */
export const RESULT_COLOURS = { win: colour(1), draw: colour(0), loss: colour(-1) };

function colour(shade) {
  const [end, part] = shade > 0 ? [HIGH, shade] : [LOW, -shade];
  return `rgb(${MIDDLE.map((middle, i) => Math.round(middle + part * (end[i] - middle))).join(",")})`;
}

/**
 * Return the colour of each value: from the worst among the free squares to the best, since what a lost game is worth
 * differs between learners; null where there is no value or the square is taken.
 *
 * @param {(number | null)[]} values
 */
export function valueColours(board, values) {
  const free = values.filter((value, cell) => value !== null && board[cell] === EMPTY);
  const [worst, best] = [Math.min(...free), Math.max(...free)];
  return values.map((value, cell) => {
    if (value === null || board[cell] !== EMPTY) {
      return null;
    }
    return colour(best > worst ? (2 * (value - worst)) / (best - worst) - 1 : 0);
  });
}

/**
 * Draw what a player has learned of each square of a position, and the squares that it would mark.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {import("./server_api.js").Analysis} analysis
 */
export function learnedMap(rules, board, analysis) {
  const values = analysis.values ?? Array(board.length).fill(null);
  const colours = valueColours(board, values);
  const notes = values.map((value) => (value === null ? "" : valueText(value)));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const { picture, squares } = heatMap(rules, board, colours, notes, chosen);
  squares.forEach((square, cell) => setAttribute(square, "data-value", values[cell]));
  setAttribute(picture, "aria-label", `Learned values: ${spoken(rules, board, notes)}`);
  return picture;
}

/**
 * Draw how a position ends with best play after each of its moves, and the squares that the player would mark.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {import("./server_api.js").Analysis} analysis
 */
export function exactMap(rules, board, analysis) {
  const colours = analysis.exact.map((result) => (result === null ? null : RESULT_COLOURS[result]));
  const open = analysis.result === null;
  const notes = analysis.exact.map((result, cell) => result ?? (open && board[cell] === EMPTY ? "?" : ""));
  const chosen = analysis.move === null ? analysis.moves : [analysis.move];
  const { picture, squares } = heatMap(rules, board, colours, notes, chosen);
  squares.forEach((square, cell) => {
    setAttribute(square, "data-exact", analysis.exact[cell]);
    if (analysis.exact[cell] === "loss") {
      square.querySelector(".tile").after(hatching());
    }
  });
  setAttribute(picture, "aria-label", `Exact results: ${spoken(rules, board, notes)}`);
  return picture;
}

function heatMap(rules, board, colours, notes, chosen) {
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
  });
  picture.append(...squares);
  return { picture, squares };
}

const STAR = "M19 9l3.1 6.9 7.4.8-5.5 5 1.6 7.3-6.6-3.8-6.6 3.8 1.6-7.3-5.5-5 7.4-.8z";

function note(text, marked, cold) {
  const classes = ["note", marked ? "of-mark" : "", cold ? "cold" : ""].filter(Boolean).join(" ");
  const sign = SIGNS[text];
  if (sign === undefined) {
    return label(text, 50, marked ? 83 : 52, marked ? 20 : 25, { class: classes });
  }
  const parts = [label(sign, 50, 40, 40, { class: `${classes} sign` }), label(text, 50, 74, 23, { class: classes })];
  return svg("g", {}, ...parts);
}

/** Return the stripes of a lost square, which tell it apart without colours. */
function hatching() {
  return svg("path", { class: "hatching", d: "M8 36 36 8M8 64 64 8M8 92 92 8M36 92 92 36M64 92 92 64" });
}

function spoken(rules, board, notes) {
  const squares = notes.map((text, cell) => (text === "" ? null : `${squareWords(rules, cell)} ${nameOf(text)}`));
  return squares.filter((words, cell) => words !== null && board[cell] === EMPTY).join(", ") || "none";
}

function nameOf(text) {
  return text === "?" ? "not known" : text;
}
