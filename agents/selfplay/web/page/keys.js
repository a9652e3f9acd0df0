// Keys for the whole page, and the dialog that names them.
import { button, byId, html } from "./dom.js";
import { newGame, chooseSquare, stepBy, undoMove } from "./play.js";

const KEYS = [
  ["1 to 9", "mark that square, row by row"],
  ["u", "undo your last move"],
  ["n", "new game in the same seat"],
  ["\u2190 and \u2192", "back and forward by a move"],
  ["?", "show this"],
];
const OWN_KEYS = "input, select, textarea, dialog, [role=tab]"; // elements in which keys mean something else

/**
 * Listen to the keys.
 *
 * @param {import("./main.js").App} app
 */
export function keyboard(app) {
  const dialog = byId("keys");
  const active = html("input", { type: "checkbox", id: "keys-on", checked: true });
  const rows = KEYS.flatMap(([key, words]) => [html("dt", {}, html("kbd", {}, key)), html("dd", {}, words)]);
  dialog.append(html("h2", { id: "keys-title" }, "Keys"), html("dl", {}, ...rows),
    html("label", { for: "keys-on", class: "check" }, active, "Use these keys"),
    html("p", { class: "hint" }, "On the board the arrows lead from square to square, and Enter marks one."),
    button("Close", () => dialog.close(), { class: "main" }));
  byId("help").addEventListener("click", () => dialog.showModal());

  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || event.target.closest?.(OWN_KEYS)) {
      return;
    }
    if (event.key === "?") {
      dialog.showModal();
      return;
    }
    const square = /^[1-9]$/.test(event.key) ? Number(event.key) - 1 : null;
    const arrow = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!active.checked || app.state.view === "playground") { // whose board they do not mean
      return;
    }
    if (square !== null && square < app.position().board.length) {
      chooseSquare(app, square);
    } else if (event.key === "u") {
      undoMove(app);
    } else if (event.key === "n") {
      newGame(app, app.state.seat);
    } else if (arrow !== undefined) {
      stepBy(app, (at) => at + arrow);
    }
  });
}
