// The panel "Beat it": a ladder of opponents that are ever harder to beat.
import { button, html } from "./dom.js";
import { gameFrom } from "./game.js";
import { emptyBoard, sameRules } from "./rules.js";
import { capital, numberText, statusOf, waysText } from "./sentences.js";
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
  let base = null;
  let counted = app.state.game; // a game from a link was not played on this visit

  function count() {
    const { game, seat, player, steps } = app.state;
    const { over, winner } = app.position();
    if (over && game.at === game.cells.length && counted !== game) {
      counted = game;
      const shown = app.judged().groups().some((group) => group.game === game.cells); // and not played
      if (winner === seat && game.start === emptyBoard(app.rules()) && !shown) {
        beaten.add(`${player} ${steps}`);
      }
    }
  }

  function rungOf({ player, steps, words }) {
    const key = `${player} ${steps}`;
    const now = `${app.state.player} ${app.state.steps}`;
    const click = () => app.go({ player, steps, game: gameFrom(emptyBoard(app.rules())), setup: null, playing: false });
    const rung = button("", click, { class: "rung", "aria-current": key === now ? "true" : null });
    rung.append(html("b", {}, words), html("span", {}, `${beaten.has(key) ? "\u2713 Beaten \u00b7 " : ""}${rungText(app.players[player].judged(steps))}`));
    return html("li", {}, rung);
  }

  return {
    root,
    always: count,
    show() {
      const player = app.player();
      if (player.run || base === null || !sameRules(base.rules, player.rules)) { // else the ladder stays while one climbs it
        base = player;
      }
      const focused = [...ladder.children].findIndex((each) => each.contains(document.activeElement));
      ladder.replaceChildren(...rungsOf(app.players, base).map(rungOf));
      ladder.children[focused]?.firstChild.focus();
    },
  };
}

function rungText(evaluation) {
  const status = statusOf(evaluation);
  if (status === "beaten") {
    return capital(waysText(evaluation));
  }
  return status === "unknown" ? "Not proved" : "Proved: no way to beat it";
}

/** Return the opponents of the ladder, the easiest first: built-in ones, two snapshots, the player, the shipped one. */
function rungsOf(players, base) {
  const usable = players.filter((each) => sameRules(each.rules, base.rules));
  const named = (name) => usable.filter((each) => each.name === name && each.index !== base.index);
  const stops = stopsOf(base.stops).slice(0, -1);
  const then = [0.35, 0.8].map((part) => stops[Math.floor(part * stops.length)]).filter(Boolean);
  const whole = (player) => ({ player: player.index, steps: null, words: player.title });
  return [
    ...[...named("random"), ...named("heuristic")].map(whole),
    ...then.map((steps) => ({ player: base.index, steps, words: `${base.title} after ${numberText(steps)} ${base.unit}` })),
    whole(base),
    ...named("shipped").map(whole),
  ];
}
