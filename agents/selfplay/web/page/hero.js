// The headline and the verdict: whether anybody can beat the chosen player, and a way into a game that it loses.
import { button, byId, html } from "./dom.js";
import { statusOf, stillWrong, waysText } from "./evaluation.js";
import { gameFrom } from "./game.js";
import { mistakeSentence, showMistake } from "./mistakes.js";
import { emptyBoard } from "./rules.js";
import { numberText } from "./sentences.js";

const HEADLINES = {
  unbeatable: "Nobody can beat this player. Try.",
  unexploitable: "Nobody gets more than their due from this player. Try.",
  beaten: "This player can be beaten. Try.",
  early: "So far it could be beaten.",
  unknown: "Can you beat this player?",
  learning: "Watch it learn.",
};

/**
 * Return the function that shows both.
 *
 * @param {import("./main.js").App} app
 */
export function hero(app) {
  let wanted = null;
  let headline = "";

  function drawHero(status, all) {
    headline = HEADLINES[status];
    byId("verdict").replaceChildren(...all);
    drawHeadline();
  }

  function drawHeadline() {
    byId("headline").textContent = mistakeSentence(app) ?? headline;
  }

  async function refresh(key) {
    drawHero("unknown", [html("span", { class: "chip" }, "Following every game \u2026")]);
    try {
      const [evaluation, { points }] = await Promise.all([app.evaluation(), app.history()]);
      if (key === wanted) {
        const status = statusOf(evaluation);
        drawHero(status === "beaten" && app.state.steps !== null ? "early" : status, chips(app, evaluation, points));
      }
    } catch (error) {
      if (key === wanted) {
        drawHero("unknown", [html("span", { class: "chip" }, error.message)]);
        wanted = null;
      }
    }
  }

  return () => {
    const { player, steps, playing } = app.state;
    const key = `${player} ${steps}`;
    if (playing) {
      wanted = null;
      drawHero("learning", []);
    } else if (key !== wanted) {
      wanted = key;
      refresh(key);
    } else {
      drawHeadline();
    }
  };
}

function chips(app, evaluation, points) {
  const { steps } = app.state;
  const { unit } = app.player();
  const last = steps ?? points.at(-1)?.steps;
  const trained = last === undefined ? "" : `, trained ${numberText(last)} ${unit}`;
  const status = statusOf(evaluation);
  if (status === "beaten") {
    const show = () => showMistake(app, evaluation.groups.find(({ game }) => game !== null) ?? evaluation.groups[0]);
    const words = `CAN BE BEATEN: ${waysText(evaluation)}${trained}`;
    const finished = () => app.update({ steps: null, game: gameFrom(emptyBoard(app.rules())), playing: false });
    return [html("span", { class: "chip bad" }, words), evaluation.groups.length ? button("Show me one", show, { class: "chip-button" }) : null,
      steps === null ? null : button("Play the finished player", finished, { class: "chip-button" })].filter(Boolean);
  }
  if (status === "unknown") {
    return [html("span", { class: "chip" }, "NOT PROVED: no way to beat it was met, but its play was not followed to the end")];
  }
  const words = status === "unbeatable" ? "PROVED UNBEATABLE, 0 ways to beat it" : "PROVED UNEXPLOITABLE, from the losing seat nobody is safe";
  return [html("span", { class: "chip good" }, `${words}${trained}`), button("Follow the proof", () => app.update({ view: "proof" }), { class: "chip-button" }),
    stillWrong(evaluation)].filter(Boolean);
}
