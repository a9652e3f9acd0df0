// The panel that follows runs while they train: plots, the opening's values, the newest game of self-play.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { learnedMap } from "./heat.js";
import { gameFrom, positionOf } from "./game.js";
import { emptyBoard } from "./rules.js";
import { STYLES, countScale, evenScale, legendSample, plot } from "./plot.js";
import { numberText } from "./words.js";
import { emptyRecord, withEvent } from "./record.js";

const PLOTS = [
  { key: "lost", title: "Lost lines", scale: (values) => countScale(Math.max(0, ...values)) },
  { key: "illegal", title: "Illegal lines", scale: (values) => countScale(Math.max(0, ...values)) },
  { key: "optimal", title: "Optimal states", scale: (values) => evenScale(Math.min(...values), Math.max(...values)) },
  { key: "positions", title: "Beaten positions", scale: (values) => countScale(Math.max(0, ...values)) },
];

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function livePanel(app) {
  const status = html("p", { class: "hint", role: "status" });
  const legend = html("ul", { class: "runs", "aria-label": "Runs" });
  const plots = html("div", { class: "plots" });
  const newest = html("div", { class: "newest" });
  const root = html("div", { class: "live" }, status, legend, plots, newest);
  let record = emptyRecord();
  let stop = null;
  let drawing = false;
  let asked = null;
  /** @type {Map<number, boolean>} */
  const chosen = new Map();

  function hear(event, data) {
    record = withEvent(record, event, data);
    if (event === "runs" || event === "newest") {
      lookForPlayers();
    }
    if (!drawing) {
      drawing = true;
      requestAnimationFrame(() => {
        drawing = false;
        draw();
      });
    }
  }

  /** A run that has begun since, or has its first player only now, can be chosen as well. */
  async function lookForPlayers() {
    const known = new Set(app.players.filter(({ error }) => error === null).map(({ name }) => name));
    const heard = record.runs.filter(({ index }) => record.newest.has(index)).map(({ name }) => name).join();
    if (heard !== asked && record.runs.some(({ name }) => !known.has(name))) {
      asked = heard;
      await app.reload().catch(() => null); // that the server is gone is said already
      app.update({});
    }
  }

  /** Return the runs that are drawn, at most as many as can be told apart; the first ones until one chooses. */
  function drawnRuns() {
    const wanted = record.runs.filter(({ index }) => chosen.get(index) ?? true);
    return wanted.slice(0, STYLES);
  }

  function draw() {
    const runs = drawnRuns();
    status.textContent = statusOf(record);
    const focused = document.activeElement?.id;
    legend.replaceChildren(...record.runs.map((run) => legendLine(record, run, runs.indexOf(run), toggle)));
    if (focused?.startsWith("shown-")) {
      document.getElementById(focused)?.focus();
    }
    plots.replaceChildren(...PLOTS.map((each) => plotOf(each, record, runs)).filter(Boolean));
    newest.replaceChildren(...runs.map((run) => newestOf(app, record, run)).filter(Boolean));
  }

  function toggle(index, shown) {
    chosen.set(index, shown);
    if (shown && drawnRuns().every((run) => run.index !== index)) {
      chosen.set(drawnRuns().at(-1).index, false);
    }
    draw();
  }

  return {
    root,
    show() {
      if (stop === null) {
        status.textContent = "Looking for runs.";
        stop = app.source.live(hear);
      }
    },
    hide() {
      stop?.();
      stop = null;
    },
  };
}

function statusOf(record) {
  if (record.gone) {
    return "The server does not answer. The page tries again by itself.";
  }
  return record.runs.length ? "What is written while runs train appears here by itself." :
    "There is no run yet. Start one with python train.py, and it appears here.";
}

function legendLine(record, run, style, toggle) {
  const id = `shown-${run.index}`;
  const change = (event) => toggle(run.index, event.target.checked);
  const box = html("input", { type: "checkbox", id, checked: style >= 0, change });
  const name = html("label", { for: id }, html("b", {}, run.name), html("span", {}, run.differs));
  const facts = html("span", { class: "facts" }, standingText(run, record.points.get(run.index)?.at(-1)));
  return html("li", { "data-run": run.name }, box, style >= 0 ? legendSample(style) : null, name, facts);
}

function standingText(run, last) {
  if (last === undefined) {
    return "not evaluated yet";
  }
  const least = last.exact === false ? "at least " : ""; // of a large board only a part was followed
  const optimal = typeof last.optimal === "number" ? `, ${numberText(last.optimal)} optimal` : "";
  const lines = `${least}${numberText(last.lost)} lost, ${numberText(last.illegal)} illegal${optimal}`;
  return `${numberText(last.steps)} ${run.unit}: ${lines}`;
}

function plotOf({ key, title, scale }, record, runs) {
  const series = runs.map((run, style) => ({
    name: run.name,
    style,
    points: pointsOf(record, run, key),
  }));
  if (series.every(({ points }) => !points.length)) {
    return null;
  }
  const units = [...new Set(runs.map(({ unit }) => unit))];
  return plot(title, series, scale, units.join(" or "));
}

function pointsOf(record, run, key) {
  const points = record.points.get(run.index) ?? [];
  return points.filter((point) => typeof point[key] === "number").map((point) => ({ x: point.steps, y: point[key] }));
}

function newestOf(app, record, run) {
  const found = record.newest.get(run.index);
  if (found === undefined) {
    return null;
  }
  const heading = html("h3", {}, run.name);
  const when = html("p", { class: "hint" }, `after ${numberText(found.steps)} ${run.unit}`);
  const figures = [openingFigure(run, found.opening), gameFigure(app, run, found.game)].filter(Boolean);
  return html("section", { class: "newest-run" }, heading, when, html("div", { class: "maps" }, ...figures));
}

function openingFigure(run, opening) {
  if (!opening?.some((value) => value !== null)) {
    return null;
  }
  const best = opening.indexOf(Math.max(...opening.filter((value) => value !== null)));
  const board = emptyBoard(run);
  return html("figure", {}, html("figcaption", {}, "Values of the opening"), learnedMap(run, board, { values: opening, move: best, moves: [] }));
}

function gameFigure(app, run, cells) {
  if (!cells?.length) {
    return null;
  }
  const game = gameFrom(emptyBoard(run), cells);
  const end = positionOf(run, game);
  const result = end.taken !== null ? "ends by a taken square" : end.winner === null ? "a draw" : `${"XO"[end.winner]} wins`;
  const squares = cells.map((cell) => cell + 1).join(", ");
  const picture = smallBoard(run, end.board, { title: `Game ${squares}: ${result}`, order: cells, move: end.taken });
  const player = app.players.find(({ name, error }) => name === run.name && error === null);
  const step = () => app.update({ player: player.index, game: gameFrom(game.start, cells, 0), kept: null, setup: null, view: "game" });
  return html("figure", {}, html("figcaption", {}, `Newest game: ${result}`), picture,
    player === undefined ? null : button("Step through it", step));
}
