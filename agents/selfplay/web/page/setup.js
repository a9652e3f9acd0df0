// Setting up any position that a game can reach.
import { button, html, setAttribute } from "./dom.js";
import { EMPTY, MARKS, emptyBoard, seatToMove, problemOf } from "./rules.js";
import { gameFrom } from "./game.js";
import { say } from "./messages.js";

/** Return the board with the next mark in a square: empty, X, O, and empty again. */
export function withNextMark(board, cell) {
  const marks = EMPTY + MARKS;
  return board.slice(0, cell) + marks[(marks.indexOf(board[cell]) + 1) % marks.length] + board.slice(cell + 1);
}

/**
 * Make the controls of the mode in which squares are filled instead of played.
 *
 * @param {import("./main.js").App} app
 */
export function setupControls(app) {
  const advice = html("p", { class: "advice", "aria-live": "polite" });
  const done = button("Done", () => finish(app), { class: "main" });
  const clear = button("Clear", () => app.update({ setup: emptyBoard(app.rules()) }));
  const cancel = button("Cancel", () => app.update({ setup: null }));
  const root = html("div", { class: "controls setting-up" }, advice, html("div", { class: "row" }, done, clear, cancel));
  return {
    root,
    show() {
      const { setup } = app.state;
      if (setup === null) {
        return;
      }
      const problem = problemOf(app.rules(), setup);
      const turn = `${MARKS[seatToMove(setup)]} is to move.`;
      advice.textContent = problem ?? `Click a square for X, again for O, again to clear it. ${turn}`;
      setAttribute(advice, "class", problem === null ? "advice" : "advice problem");
      setAttribute(done, "aria-disabled", problem === null ? null : "true");
    },
  };
}

/** The position stays on the board until one moves or lets the player move: the person has the seat to move. */
function finish(app) {
  const { setup } = app.state;
  const problem = problemOf(app.rules(), setup);
  if (problem !== null) {
    say(problem);
    return;
  }
  say("The position is set up.");
  app.go({ setup: null, game: gameFrom(setup), seat: /** @type {0 | 1} */ (seatToMove(setup)) });
}
