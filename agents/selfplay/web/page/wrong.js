// The panel of the states that a player still has wrong, the worst first, each a click away.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { gameFrom } from "./game.js";
import { seatToMove, squareName, squareWords } from "./rules.js";
import { finding, longList } from "./findings.js";
import { counted, listed, valueText } from "./words.js";

const findings = new WeakMap();
const MOST_NAMED = 4;

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function wrongPanel(app) {
  const found = finding(app, (player) => app.source.wrong(player), (answer) => drawWrong(app, answer));
  findings.set(app, found);
  return { root: html("div", { class: "wrong" }, found.root), show: found.show };
}

function drawWrong(app, answer) {
  const verdict = html("p", { class: `verdict ${verdictClass(answer)}` }, answer.verdict);
  const heading = html("h3", {}, headingOf(answer));
  const about = html("p", { class: "hint" }, aboutOf(answer));
  const cards = answer.states.map((state) => html("li", {}, stateCard(app, state)));
  return [verdict, heading, about, ...longList(html("ul", { class: "cards" }), cards)];
}

function verdictClass(answer) {
  return answer.number === 0 ? "good" : answer.verdict.startsWith("PROVED") ? "open" : "bad";
}

function headingOf(answer) {
  const noun = answer.kind === "optimal" ? "state" : "position";
  const least = answer.complete ? "" : "At least ";
  return `${least}${counted(answer.number, noun)} ${answer.kind === "optimal" ? "still wrong" : "in which it is beaten"}`;
}

function aboutOf(answer) {
  if (!answer.states.length) {
    return answer.kind === "optimal" ? "Its move keeps the value of every state." : "No reply beats it.";
  }
  const what = answer.kind === "optimal" ? "States in which its move gives something away"
    : "Positions of its own play from which some replies beat it; this board is too large to look at every state";
  const some = answer.states.length < answer.number ? ` Shown are ${answer.states.length}.` : "";
  return `${what}, the worst first.${some} Click one to look inside.`;
}

function stateCard(app, state) {
  const player = app.player();
  const best = state.best.map((cell) => squareName(player, cell));
  const loses = state.to === "illegal" ? "taken square" : state.to;
  const change = state.from !== null && loses !== null && state.from !== state.to;
  const words = [
    html("b", {}, change ? `${state.from} \u2192 ${loses}` : "beaten from here"),
    html("span", {}, `plays ${squareName(player, state.move)}`),
    state.learned === null ? null : html("span", {}, `learned ${valueText(state.learned)}`),
    best.length ? html("span", {}, best.length > MOST_NAMED ? `${best.length} squares are best` : `best: ${listed(best)}`) : null,
  ];
  const card = button("", () => showWrong(app, state), { class: "card" });
  card.append(smallBoard(player, state.board, { move: state.move }), html("span", { class: "card-words" }, ...words.filter(Boolean)));
  return card;
}

function showWrong(app, state) {
  const seat = /** @type {0 | 1} */ (seatToMove(state.board));
  app.update({ game: gameFrom(state.board), seat, setup: null, view: "inside" });
}

/**
 * Make the buttons that lead from the state on the board to the one before and after it in the list.
 *
 * @param {import("./main.js").App} app
 */
export function wrongSteps(app) {
  const words = html("span", {});
  const list = button("All of them", () => app.update({ view: "wrong" }));
  const before = button("\u25c0", () => step(-1), { "aria-label": "The state before it", class: "step" });
  const after = button("\u25b6", () => step(1), { "aria-label": "The next state", class: "step" });
  const root = html("div", { class: "row wrong-steps" }, words, before, after, list);

  function states() {
    return findings.get(app)?.answer()?.states ?? [];
  }

  function current() {
    return states().findIndex((state) => state.board === app.state.game.start);
  }

  function step(by) {
    const state = states()[current() + by];
    if (state !== undefined) {
      showWrong(app, state);
    }
  }

  return {
    root,
    show() {
      const at = current();
      root.hidden = at < 0;
      if (at >= 0) {
        const { best } = states()[at];
        const instead = best.length ? `; best is ${listed(best.map((cell) => squareWords(app.player(), cell)))}` : "";
        words.textContent = `${at + 1} of ${states().length} shown as wrong${instead}`;
      }
    },
  };
}
