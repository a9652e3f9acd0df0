// The panel "Beat it": a ladder of opponents that are ever harder to beat.
import { button, html } from "./dom.js";
import { gameFrom } from "./game.js";
import { emptyBoard, sameRules } from "./rules.js";
import { statusOf, waysText } from "./evaluation.js";
import { numberText } from "./sentences.js";
import { stopsOf } from "./time_bar.js";

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function beatPanel(app) {
  const ladder = html("ol", { class: "ladder" });
  const root = html("div", {},
    html("h3", {}, "The ladder"), html("p", { class: "hint" }, "Beat one, and climb to the next. A hint gives the next move of a way to win."), ladder);
  const beaten = new Set();
  const ways = new Map();
  let base = null;
  let rungs = [];
  let counted = null;

  function count() {
    const { game, seat, player, steps, mistake } = app.state;
    const { over, winner } = app.position();
    if (over && game.at === game.cells.length && counted !== game) { // once, even if another player is chosen then
      counted = game;
      if (winner === seat && game.start === emptyBoard(app.rules()) && game.cells !== mistake?.game) {
        beaten.add(`${player} ${steps}`);
      }
    }
  }

  /** Request in how many ways a rung can be beaten, one after the other. */
  async function ask() {
    for (const { player, steps } of rungs) {
      const key = `${player} ${steps}`;
      if (!ways.has(key)) {
        ways.set(key, "\u2026");
        const words = await app.evaluation(player, steps).then(rungText, (error) => error.message);
        ways.set(key, words);
        drawLadder();
      }
    }
  }

  function drawLadder() {
    const now = `${app.state.player} ${app.state.steps}`;
    ladder.replaceChildren(...rungs.map(({ player, steps, words }) => {
      const key = `${player} ${steps}`;
      const click = () => app.update({ player, steps, game: gameFrom(emptyBoard(app.rules())), setup: null, playing: false });
      const rung = button("", click, { class: "rung", "aria-current": key === now ? "true" : null });
      rung.append(html("b", {}, words), html("span", {}, `${beaten.has(key) ? "\u2713 beaten \u00b7 " : ""}${ways.get(key) ?? ""}`));
      return html("li", {}, rung);
    }));
  }

  return {
    root,
    always() {
      counted ??= app.state.game; // a game from a link was not played on this visit
      count();
    },
    show() {
      const chosen = app.player();
      if (chosen.run || base === null || !sameRules(base.rules, chosen.rules)) { // else the ladder stays while one climbs it
        base = chosen;
      }
      rungs = rungsOf(app.players, base);
      drawLadder();
      ask();
    },
  };
}

function rungText(evaluation) {
  const status = statusOf(evaluation);
  if (status === "beaten") {
    return waysText(evaluation);
  }
  return status === "unknown" ? "not proved" : "proved: no way to beat it";
}

/** Return the opponents of the ladder, the easiest first: built-in ones, two snapshots, the player, the shipped one. */
function rungsOf(players, base) {
  const usable = players.filter((each) => each.error === null && sameRules(each.rules, base.rules));
  const named = (name) => usable.filter((each) => each.name === name && each.index !== base.index);
  const stops = stopsOf(base.snapshots).slice(0, -1);
  const then = [0.35, 0.8].map((part) => stops[Math.floor(part * stops.length)]).filter(Boolean);
  const whole = (player) => ({ player: player.index, steps: null, words: player.title });
  return [
    ...[...named("random"), ...named("heuristic")].map(whole),
    ...then.map((steps) => ({ player: base.index, steps, words: `${base.title} after ${numberText(steps)} ${base.unit}` })),
    whole(base),
    ...named("shipped").map(whole),
  ];
}
