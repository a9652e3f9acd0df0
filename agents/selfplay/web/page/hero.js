// The headline and the verdict: whether anybody can beat the chosen player, and a way into a game that it loses.
import { button, byId, html } from "./dom.js";
import { gameFrom } from "./game.js";
import { mistakeSentence, playMistake, showMistake } from "./mistakes.js";
import { emptyBoard } from "./rules.js";
import { numberText, statusOf, stillWrong, waysText } from "./sentences.js";
import { stopsOf } from "./time_bar.js";

/**
 * Return the function that shows both.
 *
 * @param {import("./main.js").App} app
 */
export function hero(app) {
  let drawn = null;
  return () => {
    const { player, steps, playing } = app.state;
    byId("headline").textContent = playing ? "Watch it learn." : mistakeSentence(app) ?? headline(app);
    const key = `${player} ${steps} ${playing}`;
    if (key !== drawn) {
      drawn = key;
      byId("verdict").replaceChildren(...(playing ? [] : verdictParts(app)));
    }
  };
}

function headline(app) {
  const { steps } = app.state;
  if (statusOf(app.judged()) !== "beaten") {
    return "Can you beat it?";
  }
  return steps === null ? "This player can be beaten. Try." : `After ${numberText(steps)} ${app.player().unit} it could still be beaten.`;
}

function verdictParts(app) {
  const evaluation = app.judged();
  const { steps } = app.state;
  const { unit, history } = app.player();
  const last = steps ?? history.at(-1)?.steps;
  const trained = last === undefined ? "" : `, trained ${numberText(last)} ${unit}`;
  const status = statusOf(evaluation);
  const finished = steps === null ? null : button("Play the finished player", () => app.go({ steps: null, game: gameFrom(emptyBoard(app.rules())), playing: false }), { class: "chip-button" });
  const wrong = html("span", { class: "hint" }, stillWrong(evaluation) ?? "");
  const parts = {
    beaten: () => [html("span", { class: "chip bad" }, `CAN BE BEATEN: ${waysText(evaluation)}${trained}`),
      evaluation.games.length ? button("Show me one", () => playMistake(app, worstOf(evaluation)), { class: "chip-button" }) : null],
    unknown: () => [html("span", { class: "chip" }, `NOT PROVED: no way to beat it was met, but its play was not followed to the end${trained}`)],
    unbeatable: () => [html("span", { class: "chip good" }, `PROVED UNBEATABLE: there are 0 ways to beat it${trained}`), wrong],
    unexploitable: () => [html("span", { class: "chip good" }, `PROVED UNEXPLOITABLE: from the losing seat nobody is safe${trained}`), wrong],
  };
  return [...parts[status](), finished, steps === null ? earlyMistake(app) : null].filter(Boolean);
}

/** Return the mistake by which a player loses most games. */
function worstOf(evaluation) {
  return evaluation.groups()[0];
}

/** Return a button that leads to a mistake of the last snapshot that could be beaten; null if none is known. */
function earlyMistake(app) {
  const { history, stops, unit, judged } = app.player();
  const wrong = history.findLast(({ ways }) => ways > 0);
  const steps = stopsOf(stops).slice(0, -1).findLast((each) => each <= wrong?.steps);
  if (steps === undefined || !judged(steps).games.length) {
    return null;
  }
  const show = () => showMistake(app, worstOf(judged(steps)), { steps });
  return button(`See a mistake that it made after ${numberText(steps)} ${unit}`, show, { class: "chip-button" });
}
