// What every picture of a board has in common: where the squares are, marks, and the small pictures of lists.
import { svg } from "./dom.js";
import { MARKS } from "./rules.js";

/** Width of a square, in units of the picture. */
const SQUARE = 100;
/** A star in the corner of a square, which a player would mark. */
export const STAR = "M19 9l3.1 6.9 7.4.8-5.5 5 1.6 7.3-6.6-3.8-6.6 3.8 1.6-7.3-5.5-5 7.4-.8z";
const GAP = 6;

/**
 * Return the picture of an empty board, and its squares' groups in the order of the cells, each moved to its place.
 *
 * @param {import("./rules.js").Rules} rules
 * @param {Record<string, any>} attributes
 */
export function boardPicture(rules, attributes) {
  const squares = Array.from({ length: rules.rows * rules.cols }, (_, cell) => {
    const [x, y] = [(cell % rules.cols) * SQUARE, Math.floor(cell / rules.cols) * SQUARE];
    return svg("g", { transform: `translate(${x} ${y})`, "data-cell": cell });
  });
  const picture = svg("svg", { viewBox: `0 0 ${rules.cols * SQUARE} ${rules.rows * SQUARE}`, ...attributes });
  return { picture, squares };
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

/** Return the background of a square in the colour of a shade, from a loss (-1) over a draw (0) to a win (1); or in none. */
export function shadedTile(shade) {
  if (shade === null) {
    return tile({ class: "tile" });
  }
  const part = `${Math.round(100 * Math.abs(shade))}%`;
  return tile({ class: "tile coloured", fill: `color-mix(in srgb, var(--${shade > 0 ? "win" : "loss"}) ${part}, var(--draw))` });
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
