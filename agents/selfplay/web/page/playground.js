// The panel "Playground": a learner trains in this browser, with what one has set, and is judged exactly as it learns.
import { button, byId, html, setAttribute } from "./dom.js";
import { complain, say } from "./messages.js";
import { copyLink } from "./play.js";
import { playgroundGame } from "./playground_game.js";
import { counted, numberText } from "./sentences.js";
import { DEFAULTS, settingParts, settingsIn } from "./state.js";
import { still } from "./time_bar.js";
import { waysCurve } from "./ways_curve.js";

const [WAIT, WAIT_WITHOUT_MOTION] = [50, 1000]; // milliseconds between two reports

/** Make the panel of the page, an App. */
export function playgroundPanel(app) {
  const root = byId("playground-text").content.firstElementChild.cloneNode(true);
  const [presets, selects] = [".preset", "select"].map((each) => [...root.querySelectorAll(each)]);
  const why = root.querySelector(".verdict");
  const [, facts] = root.querySelectorAll("details");
  const start = button("", () => run(!running), { class: "main start" });
  const step = button("Step", () => run(false, { step: true }));
  const reset = button("Reset", () => { wanted = false; begin(); });
  const share = button("Copy a link", () => copyLink(share));
  const score = html("p", { class: "score" });
  const curve = waysCurve();
  const game = playgroundGame((board) => send({ board }));
  facts.before(html("div", { class: "row" }, start, step, reset, share, score),
    html("div", { class: "playground" }, curve.root, game.maps, game.table));
  presets.forEach((preset) => setAttribute(preset, "click", () =>
    choose({ ...settingsIn(new URLSearchParams(preset.dataset.link)), seed: app.state.playground.seed }, true)));
  selects.forEach((select) => setAttribute(select, "change", () => change(select.name, select.value)));
  const nameStart = (steps) => { start.textContent = running ? "\u23f8 Pause" : `\u25b6 ${steps ? "Continue" : "Start"}`; };
  let worker = null;
  let running = false;
  let wanted = false; // until the visitor pauses it: what is changed runs at once
  let begun = null; // the settings of the run
  let number = 0; // of the run
  let [points, before] = [[], []]; // of the run, and of the one before

  function send(request) {
    if (worker === null) {
      worker = app.newTrainer();
      worker.addEventListener("message", ({ data }) => receive(data));
      worker.addEventListener("error", ({ message }) => complain(`The playground has stopped. ${message ?? ""}`));
    }
    worker.postMessage(request);
  }

  function run(on, request = {}) {
    wanted = on;
    send({ running: on, ...request });
  }

  function begin() {
    begun = app.state.playground;
    running = wanted; // before the first report, for a click on the button meanwhile
    nameStart(0);
    number += 1;
    [points, before] = [[], points.length > 1 ? points : before];
    send({ run: number, settings: begun, running: wanted, board: game.board(), wait: still.matches ? WAIT_WITHOUT_MOTION : WAIT });
  }

  function choose(settings, runs = wanted) {
    wanted = runs;
    app.update({ playground: settings });
  }

  function change(name, value) {
    const { target, seed: chosen } = app.state.playground;
    choose(name === "algorithm" ? { ...DEFAULTS[value], target, seed: chosen } : { ...app.state.playground, [name]: value });
  }

  function receive(report) {
    if (report.run !== number) {
      return; // of a run that has ended
    }
    points.push(...report.points);
    const { ways, steps } = points.at(-1);
    const proved = ways === 0;
    const words = proved ? "PROVED: nobody can beat it" : `${counted(ways, "way")} to beat it (as X ${numberText(report.ways[0])}, as O ${numberText(report.ways[1])})`;
    score.className = proved ? "score good" : "score";
    const end = report.spent && !proved ? ". It has stopped, because so many moves did not lead to a proof" : "";
    score.textContent = `${words}, after ${numberText(steps)} moves and ${report.seconds.toFixed(1)} s${end}`;
    if (!report.running && report.points.length) {
      say(score.textContent);
    }
    running = report.running;
    nameStart(steps);
    curve.show(points, before);
    game.update(report);
  }

  function showSettings(now) {
    const link = settingParts({ ...now, seed: DEFAULTS.dqn.seed }).join("&");
    const shown = presets.find((preset) => preset.dataset.link === link);
    presets.forEach((preset) => setAttribute(preset, "aria-pressed", String(preset === shown)));
    for (const select of selects) {
      select.value = now[select.name];
      select.disabled = "network" in select.dataset && now.algorithm === "table";
    }
    const own = root.querySelector("[name=target]").selectedOptions[0].dataset.why;
    why.replaceChildren(...(shown ? [`${shown.dataset.why} `, unitLink(app.course, shown.dataset.unit)] : [own]));
  }

  return {
    root,
    always() {
      if (running && app.state.view !== "playground") {
        run(false);
      }
    },
    show() {
      if (begun !== app.state.playground) { // the same settings, chosen once more, are others too
        showSettings(app.state.playground);
        begin();
      }
    },
  };
}

/** Return the link to a unit of the course, or its name where its page is not beside this one. */
function unitLink(course, unit) {
  const words = `Unit ${unit} of the course`;
  return course === null ? `${words} (selfplay course) is about this.` : html("a", { href: `${course}unit_${unit}.html`, target: "_top" }, `${words} is about this.`);
}
