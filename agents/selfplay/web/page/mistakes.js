// The panel of a player's mistakes, the worst first.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { gameFrom } from "./game.js";
import { seatToMove, squareName, squareWords } from "./rules.js";
import { evaluationSection, longList } from "./evaluation.js";
import { counted, listed, valueText } from "./sentences.js";

let section = null; // the panel's, whose states the steps go through
const MOST_NAMED = 4;

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function mistakesPanel(app) {
  section = evaluationSection(app, ({ mistakes }) => drawMistakes(app, mistakes));
  return section;
}

function drawMistakes(app, mistakes) {
  const verdict = html("p", { class: `verdict ${verdictClass(mistakes)}` }, mistakes.verdict);
  const heading = html("h3", {}, headingOf(mistakes));
  const about = html("p", { class: "hint" }, aboutOf(mistakes));
  const cards = mistakes.states.map((state) => html("li", {}, stateCard(app, state)));
  return [verdict, heading, about, ...longList(html("ul", { class: "cards" }), cards)];
}

function verdictClass(mistakes) {
  return mistakes.number === 0 ? "good" : mistakes.verdict.startsWith("PROVED") ? "open" : "bad";
}

function headingOf(mistakes) {
  const noun = mistakes.kind === "optimal" ? "state" : "position";
  const least = mistakes.complete ? "" : "At least ";
  return `${least}${counted(mistakes.number, noun)} ${mistakes.kind === "optimal" ? "with a mistake" : "in which it is beaten"}`;
}

function aboutOf(mistakes) {
  if (mistakes.number === 0 && mistakes.kind === "optimal") {
    return "Its move keeps the value of every state.";
  }
  if (mistakes.number === 0) {
    return mistakes.complete ? "No reply beats it." : "None was found in the part of its play that was followed.";
  }
  const what = mistakes.kind === "optimal" ? "States in which its move gives something away"
    : "Positions of its own play from which some replies beat it (this board is too large to look at every state)";
  const some = mistakes.states.length < mistakes.number ? ` Shown are ${mistakes.states.length}.` : "";
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
  const card = button("", () => showMistake(app, state), { class: "card" });
  card.append(smallBoard(player, state.board, { move: state.move }), html("span", { class: "card-words" }, ...words.filter(Boolean)));
  return card;
}

function showMistake(app, state) {
  const seat = /** @type {0 | 1} */ (seatToMove(state.board));
  app.update({ game: gameFrom(state.board), seat, setup: null, view: "inside" });
}

/**
 * Make the buttons that lead from the state on the board to the one before and after it in the list.
 *
 * @param {import("./main.js").App} app
 */
export function mistakeSteps(app) {
  const words = html("span", {});
  const list = button("All mistakes", () => app.update({ view: "mistakes" }));
  const before = button("\u25c0", () => step(-1), { "aria-label": "The previous state", class: "step" });
  const after = button("\u25b6", () => step(1), { "aria-label": "The next state", class: "step" });
  const root = html("div", { class: "row mistake-steps" }, words, before, after, list);

  function states() {
    return section.response()?.mistakes.states ?? [];
  }

  function current() {
    return states().findIndex((state) => state.board === app.state.game.start);
  }

  function step(by) {
    const state = states()[current() + by];
    if (state !== undefined) {
      showMistake(app, state);
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
        words.textContent = `${at + 1} of ${states().length} mistakes shown${instead}`;
      }
    },
  };
}
