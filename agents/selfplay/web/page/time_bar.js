// The time bar below the board: the player as it was during its run, over the curve of the ways to beat it.
import { button, byId, html, setAttribute, svg } from "./dom.js";
import { chosen } from "./game.js";
import { say } from "./messages.js";
import { sameRules } from "./rules.js";
import { numberText, waysText } from "./sentences.js";

const MOST_STOPS = 60;
const [LENGTH, DEPTH] = [1000, 100];
const [PAUSE_OF_BAR, LONGEST_PLAY] = [400, 12_000]; // milliseconds between two stops, and of all at most

/** Whether the visitor wants no motion. */
export const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Return the snapshots that the bar stops at: all, or every second one, or every third, always with the last. */
export function stopsOf(steps) {
  const every = Math.ceil(steps.length / MOST_STOPS);
  return steps.filter((_, i) => (steps.length - 1 - i) % every === 0);
}

/** Return where a run was after some steps, from 0 to 1: its stops are equally far apart. */
function placeOf(stops, steps) {
  const after = stops.findIndex((each) => each >= steps);
  if (after <= 0) {
    return after === 0 ? 0 : 1;
  }
  const [low, high] = [stops[after - 1], stops[after]].map(Math.log);
  return (after - 1 + (Math.log(steps) - low) / (high - low)) / (stops.length - 1);
}

/** Return the indices of the stops that have a number below the bar: a few, from the first to the last. */
function ticksOf(stops) {
  const gaps = stops.length > 8 ? 4 : stops.length - 1;
  return Array.from({ length: gaps + 1 }, (_, i) => Math.round(i * (stops.length - 1) / gaps));
}

function tickAt(stops, at) {
  const tick = html("span", {}, stops[at].toLocaleString("en", { notation: "compact" }));
  tick.style.insetInlineStart = `${100 * at / (stops.length - 1)}%`;
  return tick;
}

/** Return the steps from which on there was no way to beat it until the end; null if the last evaluation proves nothing. */
export function proofBegins(points) {
  let first = null;
  for (const { steps, ways, exact } of points) {
    first = exact && ways === 0 ? first ?? steps : null;
  }
  return first;
}

/**
 * Make the bar, and return the function that shows it.
 *
 * @param {import("./main.js").App} app
 */
export function timeBar(app) {
  const range = html("input", { type: "range", id: "then", "aria-label": "Watch it learn", min: 0, step: 1, input: () => go(Number(range.value), true), change: () => go(Number(range.value)) });
  const output = html("output", { for: "then", class: "when" });
  const curve = svg("svg", { viewBox: `0 0 ${LENGTH} ${DEPTH}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const flag = html("span", { class: "flag-sign", hidden: true }, "\u2691 proved");
  const ticks = html("div", { class: "ticks", "aria-hidden": "true" });
  const play = button("", () => (app.state.playing ? halt() : playFrom(at() === stops().length - 1 || !moved ? 0 : at() + 1)), { class: "watch" });
  const root = html("div", { class: "time-bar" },
    html("div", { class: "row" }, play, output), html("div", { class: "track" }, curve, flag, range), ticks);
  const other = html("p", { class: "hint" });
  byId("time").append(root, other);
  let drawn = null;
  let timer = null;
  let moved = false; // the stop was chosen on the bar, so playing starts there
  const stops = () => stopsOf(app.player().stops);
  const pause = () => Math.min(PAUSE_OF_BAR, LONGEST_PLAY / stops().length);
  const at = () => (app.state.steps === null ? stops().length - 1 : Math.max(0, stops().findIndex((each) => each >= app.state.steps)));

  function go(index, playing = false) {
    const all = stops();
    moved = true;
    const write = app.state.game.cells.length ? app.go : app.update; // the browser's Back leads to the game that ends here
    write({ ...chosen(app, app.state.player, index < all.length - 1 ? all[index] : null), playing });
    if (!playing) {
      say(output.textContent);
    }
  }

  function playFrom(index) {
    const goesOn = !still.matches && index < stops().length - 1; // else steps instead of motion
    go(index, goesOn);
    if (goesOn) {
      timer = setTimeout(() => app.state.playing && playFrom(at() + 1), pause());
    }
  }

  function halt() {
    clearTimeout(timer);
    app.update({ playing: false });
  }

  function draw() {
    const all = stops();
    const points = app.player().history;
    const most = Math.max(1, ...points.map(({ ways }) => ways));
    const places = points.map(({ steps, ways }) => [placeOf(all, steps) * LENGTH, DEPTH * (1 - ways / most)]);
    const line = places.map(([x, y]) => `L${x.toFixed(1)} ${y.toFixed(1)}`).join("");
    curve.replaceChildren(svg("path", { class: "lost-area", d: places.length ? `M0 ${DEPTH}V${places[0][1].toFixed(1)}${line}L${LENGTH} ${places.at(-1)[1].toFixed(1)}V${DEPTH}Z` : "" }));
    ticks.replaceChildren(...ticksOf(all).map((at) => tickAt(all, at)), html("span", { class: "unit" }, app.player().unit));
    const proved = proofBegins(points);
    flag.hidden = proved === null;
    if (proved !== null) {
      const place = placeOf(all, proved);
      curve.append(svg("path", { class: "proof-line", d: `M${(place * LENGTH).toFixed(1)} 0V${DEPTH}` }));
      flag.style.insetInlineStart = `${(place * 100).toFixed(1)}%`;
      setAttribute(flag, "class", place > 0.8 ? "flag-sign before" : "flag-sign");
    }
  }

  function tell() {
    const steps = stops()[at()];
    output.textContent = `After ${numberText(steps)} ${app.player().unit}, ${waysText(app.judged())}`;
    setAttribute(range, "aria-valuetext", output.textContent);
  }

  return () => {
    const player = app.player();
    const all = stops();
    root.hidden = all.length < 2;
    other.hidden = !root.hidden;
    if (root.hidden) {
      const learner = app.players.find((each) => each.stops.length > 1 && sameRules(each.rules, player.rules));
      const words = learner === undefined ? ["This player has no snapshots. Train one to watch it learn: selfplay train"]
        : ["This player has no snapshots. One that has: ", button(learner.title, () => app.go({ ...chosen(app, learner.index), setup: null }), { class: "link" })];
      other.replaceChildren(...words);
      return;
    }
    if (drawn !== player.index) {
      drawn = player.index;
      moved = false;
      draw();
    }
    range.max = String(all.length - 1);
    range.value = String(at());
    const start = still.matches ? "Step: watch it learn" : "\u25b6 Watch it learn";
    play.textContent = app.state.playing ? "Pause" : start;
    tell();
  };
}
