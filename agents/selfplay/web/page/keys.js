// Keys for the whole page, and the dialog that names them and explains words.
import { button, byId, html } from "./dom.js";
import { chooseSquare, giveHint, newGame, stepBy, undoMove } from "./play.js";

const KEYS = [
  ["1 to 9", "mark that square, row by row"],
  ["h", "hint"],
  ["u", "undo your last move"],
  ["n", "new game in the same seat"],
  ["\u2190 and \u2192", "back and forward by a move"],
  ["Space", "watch it learn, or pause"],
  ["?", "show this"],
];
const WORDS = [
  ["Ply", "one move by one seat; a game of 3 by 3 has at most nine"],
  ["Way to beat it", "one sequence of replies after which the player has lost, by a line or by marking a taken square"],
  ["\u2260", "the value that it has learned means another result than the true one"],
  ["Proved", "every reply to its moves was followed to the end, and none beats it"],
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
  const list = (pairs, tag) => html("dl", {}, ...pairs.flatMap(([name, words]) => [html("dt", {}, html(tag, {}, name)), html("dd", {}, words)]));
  dialog.append(html("h2", { id: "keys-title" }, "Keys"), list(KEYS, "kbd"),
    html("label", { for: "keys-on", class: "check" }, active, "Use these keys"),
    html("p", { class: "hint" }, "On the board the arrows lead from square to square, and Enter marks one."),
    html("h2", {}, "Words"), list(WORDS, "b"), button("Close", () => dialog.close(), { class: "main" }));
  byId("help").addEventListener("click", () => dialog.showModal());
  let pointed = null; // the last thing that was clicked: its own keys are not wanted
  addEventListener("pointerdown", ({ target }) => { pointed = target.closest?.(OWN_KEYS) ?? null; });

  const actions = {
    "?": () => dialog.showModal(),
    h: () => giveHint(app),
    u: () => undoMove(app),
    n: () => newGame(app, app.state.seat),
    ArrowLeft: () => stepBy(app, (at) => at - 1),
    ArrowRight: () => stepBy(app, (at) => at + 1),
    " ": () => [...document.querySelectorAll(".watch, .start")].find((each) => each.checkVisibility())?.click(),
  };

  function actionOf({ key }) {
    const square = /^[1-9]$/.test(key) ? Number(key) - 1 : Infinity;
    const action = square < app.position().board.length ? () => chooseSquare(app, square) : actions[key];
    const onItsBoard = app.state.view === "playground" && ![" ", "?"].includes(key); // which has a board of its own
    return key === "?" || (active.checked && !onItsBoard) ? action : undefined;
  }

  addEventListener("keydown", (event) => {
    const within = event.target.closest?.(OWN_KEYS);
    if (event.key === "Tab") {
      pointed = null;
    }
    const itsOwn = within && (within !== pointed || within === dialog || (within.type === "range" && event.key.startsWith("Arrow")));
    const pressed = event.key === " " && event.target.closest?.("button, summary, a");
    if (event.altKey || event.ctrlKey || event.metaKey || event.defaultPrevented || itsOwn || pressed) {
      return;
    }
    const action = actionOf(event);
    if (action !== undefined) {
      event.preventDefault(); // a list would look for a name that begins so
      action();
    }
  });
}
