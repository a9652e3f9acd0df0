// What every picture of a board has in common: where the squares are, marks, and the numbers around large boards.
import { svg } from "./dom.js";
import { MARKS, NUMBERED_CELLS } from "./rules.js";

/** Width of a square, in units of the picture. */
const SQUARE = 100;
/** A star in the corner of a square, which a player would mark. */
export const STAR = "M19 9l3.1 6.9 7.4.8-5.5 5 1.6 7.3-6.6-3.8-6.6 3.8 1.6-7.3-5.5-5 7.4-.8z";
const MARGIN = 46;
const GAP = 6;

/**
 * Return the picture of an empty board, and its squares' groups in the order of the cells, each moved to its place.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {Record<string, any>} attributes
 */
export function boardPicture(rules, attributes) {
  const margin = hasNumbers(rules) ? 0 : MARGIN;
  const [width, height] = [margin + rules.cols * SQUARE, margin + rules.rows * SQUARE];
  const squares = Array.from({ length: rules.rows * rules.cols }, (_, cell) => {
    const [x, y] = [margin + (cell % rules.cols) * SQUARE, margin + Math.floor(cell / rules.cols) * SQUARE];
    return svg("g", { transform: `translate(${x} ${y})`, "data-cell": cell });
  });
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, ...attributes });
  if (margin) {
    picture.append(svg("g", { class: "edge", "aria-hidden": "true" }, ...edgeNumbers(rules)));
  }
  return { picture, squares };
}

/**
 * Return whether the squares of a board have numbers.
 *
 * @param {import("./rules.js").Rules} rules
 */
export function hasNumbers(rules) {
  return rules.rows * rules.cols <= NUMBERED_CELLS;
}

function edgeNumbers(rules) {
  const middle = (index) => MARGIN + (index + 0.5) * SQUARE;
  const cols = Array.from({ length: rules.cols }, (_, col) => label(col + 1, middle(col), MARGIN / 2, 26));
  const rows = Array.from({ length: rules.rows }, (_, row) => label(row + 1, MARGIN / 2, middle(row), 26));
  return [...cols, ...rows];
}

/** Return text whose middle is at a place. */
export function label(text, x, y, size, attributes = {}) {
  const place = { x, y, "font-size": size, "text-anchor": "middle", "dominant-baseline": "central" };
  return svg("text", { ...place, ...attributes }, String(text));
}

/** Return the background of a square. */
export function tile(attributes = {}) {
  return svg("rect", { x: GAP / 2, y: GAP / 2, width: SQUARE - GAP, height: SQUARE - GAP, rx: 10, ...attributes });
}

/** Return the drawing of a mark in a square. */
export function markDrawing(mark, attributes = {}) {
  const look = { class: `mark ${mark === MARKS[0] ? "cross" : "ring"}`, pathLength: 100, ...attributes };
  if (mark === MARKS[0]) {
    return svg("path", { d: "M27 27 73 73M73 27 27 73", ...look });
  }
  return svg("circle", { cx: 50, cy: 50, r: 25, ...look });
}

/**
 * Return a small picture of a position, for a list; the words around it describe it.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {string} board
 * @param {number} move The cell that gets a dashed frame.
 */
export function smallBoard(rules, board, move) {
  const { picture, squares } = boardPicture(rules, { class: "small-board", "aria-hidden": "true" });
  squares.forEach((square, cell) => {
    square.append(tile({ class: "tile" }));
    if (MARKS.includes(board[cell])) {
      square.append(markDrawing(board[cell]));
    }
    if (cell === move) {
      square.append(tile({ class: "chosen" }));
    }
  });
  picture.append(...squares);
  return picture;
}
