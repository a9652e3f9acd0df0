// The panel that follows runs while they train: plots, the opening's values, the latest game of self-play.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { learnedMap } from "./heat_map.js";
import { gameFrom, positionOf } from "./game.js";
import { emptyBoard } from "./rules.js";
import { STYLES, countScale, evenScale, legendSample, plot } from "./plot.js";
import { numberText } from "./sentences.js";

const PLOTS = [
  { key: "lost", title: "Games lost", scale: (values) => countScale(Math.max(0, ...values)) },
  { key: "illegal", title: "Illegal games", scale: (values) => countScale(Math.max(0, ...values)) },
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
  const latest = html("div", { class: "latest" });
  const root = html("div", { class: "live" }, status, legend, plots, latest);
  let runs = [];
  let gone = false; // the server does not answer
  const points = new Map(); // of the metrics, by the indices of their runs
  const states = new Map(); // the latest ones
  let stop = null;
  let drawing = false;
  let requested = null;
  /** @type {Map<number, boolean>} */
  const chosen = new Map();

  function listen(event, data) {
    gone = event === "gone" || (gone && event !== "back");
    if (event === "runs") {
      ({ runs } = data);
    } else if (event === "metrics") {
      points.set(data.run, data.points);
    } else if (event === "latest") {
      states.set(data.run, data);
    }
    if (event === "runs" || event === "latest") {
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

  /** Reload the players when a run starts or saves its first player, so that it can be chosen. */
  async function lookForPlayers() {
    const known = new Set(app.players.filter(({ error }) => error === null).map(({ name }) => name));
    const trained = runs.filter(({ index }) => states.has(index)).map(({ name }) => name).join();
    if (trained !== requested && runs.some(({ name }) => !known.has(name))) {
      requested = trained;
      await app.reload().catch(() => null); // the panel says already that the server is gone
      app.update({});
    }
  }

  /** Return the runs to plot: the chosen ones, by default the first, and at most as many as can be told apart. */
  function drawnRuns() {
    return runs.filter(({ index }) => chosen.get(index) ?? true).slice(0, STYLES);
  }

  function draw() {
    const drawn = drawnRuns();
    status.textContent = liveStatus(runs, gone);
    const focused = document.activeElement?.id;
    legend.replaceChildren(...runs.map((run) => legendLine(run, points.get(run.index)?.at(-1), drawn.indexOf(run), toggle)));
    if (focused?.startsWith("shown-")) {
      document.getElementById(focused)?.focus();
    }
    plots.replaceChildren(...PLOTS.map((each) => plotOf(each, drawn, points)).filter(Boolean));
    latest.replaceChildren(...drawn.map((run) => latestOf(app, run, states.get(run.index))).filter(Boolean));
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
        stop = app.api.live(listen);
      }
    },
    hide() {
      stop?.();
      stop = null;
    },
  };
}

function liveStatus(runs, gone) {
  if (gone) {
    return "The server does not answer. The page tries again by itself.";
  }
  return runs.length ? "The results of runs appear here while they train." :
    "There is no run yet. Start one with python train.py, and it appears here.";
}

function legendLine(run, last, style, toggle) {
  const id = `shown-${run.index}`;
  const change = (event) => toggle(run.index, event.target.checked);
  const box = html("input", { type: "checkbox", id, checked: style >= 0, change });
  const name = html("label", { for: id }, html("b", {}, run.name), html("span", {}, run.differs));
  const facts = html("span", { class: "facts" }, scoreText(run, last));
  return html("li", { "data-run": run.name }, box, style >= 0 ? legendSample(style) : null, name, facts);
}

function scoreText(run, last) {
  if (last === undefined) {
    return "not evaluated yet";
  }
  if (last.lost === null || last.illegal === null) {
    return `${numberText(last.steps)} ${run.unit}`;
  }
  const least = last.exact ? "" : "at least "; // only a part of the play was followed
  const optimal = typeof last.optimal === "number" ? `, ${numberText(last.optimal)} optimal` : "";
  const games = `${least}${numberText(last.lost)} lost, ${numberText(last.illegal)} illegal${optimal}`;
  return `${numberText(last.steps)} ${run.unit}: ${games}`;
}

function plotOf({ key, title, scale }, runs, points) {
  const series = runs.map(({ name, index }, style) => {
    const known = (points.get(index) ?? []).filter((point) => point[key] !== null);
    return { name, style, points: known.map((point) => ({ x: point.steps, y: point[key] })) };
  });
  if (series.every(({ points }) => !points.length)) {
    return null;
  }
  const units = [...new Set(runs.map(({ unit }) => unit))];
  return plot(title, series, scale, units.join(" or "));
}

function latestOf(app, run, state) {
  if (state === undefined) {
    return null;
  }
  const heading = html("h3", {}, run.name);
  const when = html("p", { class: "hint" }, `after ${numberText(state.steps)} ${run.unit}`);
  const figures = [openingFigure(run, state.opening), gameFigure(app, run, state.game)].filter(Boolean);
  return html("section", { class: "latest-run" }, heading, when, html("div", { class: "maps" }, ...figures));
}

function openingFigure(run, opening) {
  if (opening.every((value) => value === null)) {
    return null;
  }
  const best = opening.indexOf(Math.max(...opening.filter((value) => value !== null)));
  const board = emptyBoard(run);
  return html("figure", {}, html("figcaption", {}, "Values of the opening"), learnedMap(run, board, { values: opening, move: best, moves: [] }));
}

function gameFigure(app, run, cells) {
  const game = gameFrom(emptyBoard(run), cells);
  const end = positionOf(run, game);
  const result = end.taken !== null ? "ends with a taken square" : end.winner === null ? "a draw" : `${"XO"[end.winner]} wins`;
  const squares = cells.map((cell) => cell + 1).join(", ");
  const picture = smallBoard(run, end.board, { title: `Game ${squares}: ${result}`, order: cells, move: end.taken });
  const player = app.players.find(({ name, error }) => name === run.name && error === null);
  const step = () => app.update({ player: player.index, game: gameFrom(game.start, cells, 0), steps: null, setup: null, view: "game" });
  return html("figure", {}, html("figcaption", {}, `Latest game: ${result}`), picture,
    player === undefined ? null : button("Step through it", step));
}
