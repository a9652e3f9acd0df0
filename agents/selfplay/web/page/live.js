// The panel that follows runs while they train: one on the stage, others to compare, and older ones in a table.
import { button, html, setAttribute } from "./dom.js";
import { smallBoard } from "./grid.js";
import { learnedMap } from "./heat_map.js";
import { gameFrom, positionOf } from "./game.js";
import { MARKS, emptyBoard } from "./rules.js";
import { STYLES, countScale, evenScale, legendSample, plot } from "./plot.js";
import { numberText } from "./sentences.js";
import { still } from "./time_bar.js";

const MOST_CHIPS = 8;
const PLOTS = [
  { key: "lost", title: "Games lost", scale: (values) => countScale(Math.max(0, ...values)) },
  { key: "optimal", title: "Optimal states", scale: (values) => evenScale(Math.min(...values), Math.max(...values)) },
];
const PLY_WAIT = 500; // milliseconds between the moves of the newest game

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function livePanel(app) {
  const status = html("p", { class: "hint", role: "status" });
  const stage = html("section", { class: "live-stage", "aria-label": "The run on the stage" });
  const picture = html("div", {});
  const chips = html("div", { class: "row", role: "group", "aria-label": "Compare with" });
  const plots = html("div", { class: "plots" });
  const table = html("div", {});
  const root = html("div", { class: "live" }, status, stage, picture, chips, plots, table);
  let runs = []; // the newest first
  let listed = []; // as the server numbers them, which is another order each time that the panel is opened
  let gone = false; // the server does not answer
  const points = new Map(); // of the metrics, by the keys of their runs: names, which keep when the numbers change
  const states = new Map(); // the latest ones
  const speeds = new Map(); // steps a second, and the steps and time of the last news
  const evaluated = new Map(); // what is said of runs that have no metrics, such as repaired players
  const compared = new Set();
  let staged = null;
  let stop = null;
  let drawing = false;
  let requested = null;
  let moving = null;

  function listen(event, data) {
    gone = event === "gone" || (gone && event !== "back");
    if (event === "runs") {
      listed = data.runs;
      takeOver(keyed(listed));
    } else if (event === "metrics") {
      points.set(listed[data.run].key, data.points);
    } else if (event === "latest") {
      const { key } = listed[data.run];
      measure(key, data.steps);
      states.set(key, data);
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

  /** Put the runs that have begun before the others; the newest takes the stage. */
  function takeOver(all) {
    const others = runs.filter(({ key }) => all.has(key)).map(({ key }) => all.get(key));
    others.forEach(({ key }) => all.delete(key));
    const begun = [...all.values()];
    if (others.includes(listed[0])) {
      begun.reverse(); // the server lists the newest first, and appends those that begin later
    }
    runs = [...begun, ...others];
    if ((others.length && begun.length) || !runs.some(({ key }) => key === staged)) {
      staged = runs[0]?.key ?? null;
    }
  }

  function measure(run, steps) {
    const before = speeds.get(run);
    const now = performance.now();
    const rate = before && steps > before.steps ? (1000 * (steps - before.steps)) / (now - before.now) : null;
    speeds.set(run, { steps, now, rate });
  }

  /** Reload the players when a run starts or saves its first player, so that it can be chosen. */
  async function lookForPlayers() {
    const known = new Set(app.players.filter(({ error }) => error === null).map(({ name }) => name));
    const trained = runs.filter(({ key }) => states.has(key)).map(({ name }) => name).join();
    if (trained !== requested && runs.some(({ name }) => !known.has(name))) {
      requested = trained;
      await app.reload().catch(() => null); // the panel says already that the server is gone
      app.update({});
      draw();
    }
  }

  /** Return the runs to plot: that on the stage, and the compared ones with its unit. */
  function drawnRuns() {
    const main = runs.filter(({ key }) => key === staged);
    const others = runs.filter(({ key, unit }) => compared.has(key) && key !== staged && unit === main[0].unit);
    return [...main, ...others].slice(0, STYLES);
  }

  function draw() {
    const [main] = drawnRuns();
    status.textContent = liveStatus(runs, gone);
    if (main === undefined) {
      return;
    }
    const drawn = drawnRuns();
    stage.replaceChildren(...stageOf(app, main, points.get(staged)?.at(-1), states.get(staged), speeds.get(staged)?.rate ?? null));
    drawGame(main, states.get(staged));
    const others = runs.filter(({ key, unit }) => key !== staged && unit === main.unit && points.has(key)).slice(0, MOST_CHIPS);
    const focused = document.activeElement?.id;
    chips.hidden = !others.length;
    chips.replaceChildren(...others.map((run) => chipOf(app, run, drawn.indexOf(run), () => toggle(run.key))));
    plots.replaceChildren(...PLOTS.map((each) => plotOf(app, each, drawn, points)).filter(Boolean));
    table.replaceChildren(...tableOf(app, runs.filter(({ key }) => key !== staged), points, evaluated, take));
    if (focused?.startsWith("run-") || focused?.startsWith("chip-")) {
      document.getElementById(focused)?.focus();
    }
    askForOthers();
  }

  /** Evaluate the players of runs without metrics, one after the other. */
  async function askForOthers() {
    for (const { key, name } of runs) {
      const player = app.players.find((each) => each.name === name && each.error === null);
      if (!points.has(key) && player !== undefined && !evaluated.has(key)) {
        evaluated.set(key, "\u2026");
        const text = ({ lost, complete }) => scoreText({ lost: lost[0] + lost[1], exact: complete });
        evaluated.set(key, await app.evaluation(player.index, null).then(text, (error) => error.message));
        draw();
      }
    }
  }

  function drawGame(run, state) {
    if (state === undefined || moving?.state === state) {
      picture.hidden = state === undefined;
      return;
    }
    picture.hidden = false;
    clearTimeout(moving?.timer);
    moving = { state, timer: null };
    const move = (at) => {
      picture.replaceChildren(html("div", { class: "maps" }, ...[openingFigure(app, run, state.opening), gameFigure(app, run, state.game, at)].filter(Boolean)));
      if (at < state.game.length && stop !== null) {
        moving.timer = setTimeout(() => move(at + 1), PLY_WAIT);
      }
    };
    move(still.matches ? state.game.length : 1);
  }

  function toggle(key) {
    if (!compared.delete(key)) {
      compared.add(key);
    }
    draw();
  }

  function take(key) {
    staged = key;
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
      if (stop !== null) {
        stop();
        stop = null;
        app.reload().then(() => app.update({}), () => {}); // a run may have saved snapshots meanwhile
      }
    },
  };
}

/** Give each run a key, its name unless another has that, and return the runs by their keys. */
function keyed(runs) {
  const all = new Map();
  for (const run of runs) {
    run.key = all.has(run.name) ? `${run.name} ${run.index}` : run.name;
    all.set(run.key, run);
  }
  return all;
}

function liveStatus(runs, gone) {
  if (gone) {
    return "The server does not answer. The page tries again by itself.";
  }
  return runs.length ? "A run that begins now takes the stage." :
    "There is no run yet. Start one with python train.py, and it appears here.";
}

function nameOfRun(app, run) {
  return app.players.find(({ name, run: trained }) => trained && name === run.name)?.title ?? run.name;
}

function stageOf(app, run, last, state, rate) {
  const steps = state?.steps ?? last?.steps ?? 0;
  const progress = html("progress", { max: run.length, value: Math.min(steps, run.length), "aria-label": "Progress" });
  const facts = [
    ["progress", `${numberText(steps)} of at most ${numberText(Math.max(steps, run.length))} ${run.unit}`],
    ...(rate === null ? [] : [["speed", `${numberText(Math.round(rate))} ${run.unit} a second`]]),
    ["games lost", last === undefined ? "not evaluated yet" : scoreText(last)],
    ...(typeof last?.optimal === "number" ? [["states in which its move is optimal", numberText(last.optimal)]] : []),
  ];
  return [html("h3", { title: run.name }, nameOfRun(app, run)), progress,
    html("dl", { class: "facts" }, ...facts.map(([name, words]) => html("div", {}, html("dt", {}, name), html("dd", {}, words))))];
}

function scoreText({ lost, exact }) {
  return lost === null ? "not known" : `${exact ? "" : "at least "}${numberText(lost)}`;
}

function chipOf(app, run, style, click) {
  const chip = button("", click, { id: `chip-${run.key}`, class: "run-chip", "aria-pressed": String(style >= 0), title: run.name });
  chip.append(...(style >= 0 ? [legendSample(style)] : []), nameOfRun(app, run));
  return chip;
}

function plotOf(app, { key, title, scale }, runs, points) {
  const series = runs.map((run, style) => {
    const known = (points.get(run.key) ?? []).filter((point) => point[key] !== null);
    return { name: nameOfRun(app, run), style, points: known.map((point) => ({ x: point.steps, y: point[key] })) };
  });
  return series.every(({ points: some }) => !some.length) ? null : plot(title, series, scale, runs[0].unit);
}

function tableOf(app, runs, points, evaluated, take) {
  if (!runs.length) {
    return [];
  }
  const heads = ["Run", "Length", "Games lost"].map((words) => html("th", { scope: "col" }, words));
  const rows = runs.map((run) => {
    const last = points.get(run.key)?.at(-1);
    const open = button(nameOfRun(app, run), () => take(run.key), { id: `run-${run.key}`, class: "link", title: run.name });
    const length = last === undefined ? "" : `${numberText(last.steps)} ${run.unit}`;
    return html("tr", { "data-run": run.name }, html("td", {}, open), html("td", {}, length),
      html("td", {}, last === undefined ? evaluated.get(run.key) ?? "not evaluated yet" : scoreText(last)));
  });
  const caption = html("caption", {}, "Other runs");
  return [html("table", {}, caption, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows))];
}

function openingFigure(app, run, opening) {
  if (opening.every((value) => value === null)) {
    return null;
  }
  const player = app.players.find(({ name }) => name === run.name) ?? run;
  const best = opening.indexOf(Math.max(...opening.filter((value) => value !== null)));
  const analysis = { values: opening, exact: opening.map(() => null), move: best, moves: [] };
  return html("figure", {}, html("figcaption", {}, "Values of the opening"), learnedMap({ ...run, ...player }, emptyBoard(run), analysis));
}

function gameFigure(app, run, cells, at) {
  const game = gameFrom(emptyBoard(run), cells, at);
  const end = positionOf(run, game, cells.length);
  const result = end.taken !== null ? "ends with a taken square" : end.winner === null ? "a draw" : `${MARKS[end.winner]} wins`;
  const squares = cells.map((cell) => cell + 1).join(", ");
  const shown = positionOf(run, game);
  const picture = smallBoard(run, shown.board, { title: `Game ${squares}: ${result}`, order: cells.slice(0, at), move: shown.taken });
  const player = app.players.find(({ name, error }) => name === run.name && error === null);
  const step = () => app.update({ player: player.index, game: gameFrom(game.start, cells, 0), steps: null, setup: null, view: "beat" });
  const open = button("Step through it", step);
  setAttribute(open, "hidden", player === undefined);
  return html("figure", {}, html("figcaption", {}, `Its newest game: ${result}`), picture, open);
}
