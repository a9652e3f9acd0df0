// The board that one plays on: with the mouse, a finger or the keyboard. What a click means is not known here.
import { setAttribute, svg } from "./dom.js";
import { boardPicture, label, markDrawing, tile } from "./grid.js";
import { EMPTY, MARKS, sameRules, squareWords } from "./rules.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/**
 * @typedef {object} BoardView
 * @property {import("./rules.js").Rules} rules
 * @property {string} board
 * @property {number | null} last The cell of the last move.
 * @property {number | null} taken The taken cell that has ended the game.
 * @property {number[]} line The cells of a finished line.
 * @property {boolean} over
 * @property {boolean} filling Squares are filled instead of played.
 * @property {number[]} [hints] The squares of a hint.
 * @property {string} name What a screen reader calls the board.
 */

/**
 * Make a board; `choose` is called with the cell that a person has clicked or pressed Enter or Space on.
 *
 * @param {HTMLElement} place
 * @param {(cell: number) => void} choose
 * @returns {(view: BoardView) => void} shows a position
 */
export function playingBoard(place, choose) {
  let picture = null;
  let squares = [];
  let shown = null;
  let current = 0;
  const drawn = new Map();

  function make(rules) {
    ({ picture, squares } = boardPicture(rules, { class: "board", role: "grid" }));
    squares.forEach((square) => setAttribute(square, "role", "gridcell"));
    for (let row = 0; row < rules.rows; row += 1) {
      const cells = squares.slice(row * rules.cols, (row + 1) * rules.cols);
      picture.append(svg("g", { role: "row" }, ...cells));
    }
    setAttribute(picture, "click", (event) => {
      const square = event.target.closest("[data-cell]");
      if (square !== null) {
        choose(Number(square.dataset.cell));
      }
    });
    setAttribute(picture, "keydown", onKey);
    place.replaceChildren(picture);
    current = Math.floor(rules.rows / 2) * rules.cols + Math.floor(rules.cols / 2);
    makeCurrent(current);
  }

  // Not listened for on the picture: Chromium lets the keyboard stop at an SVG element that does.
  place.addEventListener("focusin", (event) => makeCurrent(Number(event.target.closest("[data-cell]").dataset.cell)));

  function makeCurrent(cell) {
    current = cell;
    squares.forEach((square, index) => setAttribute(square, "tabindex", index === cell ? 0 : -1));
  }

  function onKey(event) {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(current);
      return;
    }
    const next = cellAfterKey(shown.rules, current, event.key);
    if (next !== null && !event.altKey && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      squares[next].focus();
    }
  }

  return (view) => {
    if (shown === null || !sameRules(shown.rules, view.rules)) {
      make(view.rules);
      shown = null;
    }
    setAttribute(picture, "aria-label", view.name);
    setAttribute(picture, "class", view.over ? "board over" : "board");
    squares.forEach((square, cell) => {
      const looks = JSON.stringify([view.board[cell], view.line.includes(cell), view.over, view.filling, view.hints?.includes(cell),
        ...["last", "taken"].map((name) => view[name] === cell)]);
      if (looks !== drawn.get(square)) { // else a stroke that is being drawn would be cut short
        drawn.set(square, looks);
        fill(square, cell, view, shown?.board[cell] ?? EMPTY);
      }
    });
    shown = view;
  };
}

/** Return the cell to which a key leads, null if it leads nowhere. */
function cellAfterKey(rules, cell, key) {
  const row = Math.floor(cell / rules.cols);
  const col = cell % rules.cols;
  if (key === "Home" || key === "End") {
    return row * rules.cols + (key === "Home" ? 0 : rules.cols - 1);
  }
  if (!(key in STEPS)) {
    return null;
  }
  const [down, right] = STEPS[key];
  const [toRow, toCol] = [row + down, col + right];
  const inside = toRow >= 0 && toRow < rules.rows && toCol >= 0 && toCol < rules.cols;
  return inside ? toRow * rules.cols + toCol : null;
}

/** Draw a square; a mark that was not there before is drawn stroke by stroke. */
function fill(square, cell, view, before) {
  const mark = view.board[cell];
  const classes = ["square", mark === EMPTY ? "free" : "marked"];
  const notes = [mark === EMPTY ? "free" : mark];
  if (cell === view.last) {
    notes.push("last move");
  }
  if (view.hints?.includes(cell)) {
    notes.push("the hint");
  }
  if (view.line.includes(cell)) {
    classes.push("winning");
    notes.push("part of the line");
  }
  if (cell === view.taken) {
    classes.push("fault");
    notes.push("chosen though it was taken");
  }
  setAttribute(square, "class", classes.join(" "));
  setAttribute(square, "data-mark", mark);
  setAttribute(square, "aria-label", `${squareWords(cell)}, ${notes.join(", ")}`);
  setAttribute(square, "aria-disabled", view.filling || (mark === EMPTY && !view.over) ? null : "true");
  square.replaceChildren(tile({ class: "tile" }));
  if (mark !== EMPTY) {
    square.append(markDrawing(mark, mark === before ? {} : { class: `mark fresh ${mark === MARKS[0] ? "cross" : "ring"}` }));
  } else {
    square.append(label(cell + 1, 50, 50, 22, { class: "square-number", "aria-hidden": "true" }));
  }
  if (cell === view.last && mark !== EMPTY) {
    square.append(svg("circle", { cx: 84, cy: 16, r: 5, class: "last-dot" }));
  }
  if (view.hints?.includes(cell)) {
    square.append(tile({ class: "chosen" }));
  }
  if (cell === view.taken) {
    square.append(label("!", 17, 22, 32, { class: "fault-sign", "aria-hidden": "true" }));
  }
  square.append(tile({ class: "focus-frame" }));
}
