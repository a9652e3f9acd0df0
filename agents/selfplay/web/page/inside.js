// The panel "Look inside": the player's learned values beside the exact results, now and in earlier snapshots.
import { html } from "./dom.js";
import { MARKS } from "./rules.js";
import { RESULT_COLOURS, exactMap, learnedMap } from "./heat_map.js";
import { exactSentence, moveSentence, numberText } from "./sentences.js";
import { complain, say } from "./messages.js";
import { mistakeSteps } from "./mistakes.js";

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function insidePanel(app) {
  const steps = mistakeSteps(app);
  const verdict = html("p", { class: "verdict" }, "Looking.");
  const learned = html("figure", {});
  const exact = html("figure", {});
  const maps = html("div", { class: "maps" }, learned, exact);
  const truth = html("p", { class: "hint" });
  const slider = snapshotSlider(app);
  const root = html("div", {}, steps.root, verdict, maps, truth, slider.root);
  let wanted = null;
  let shown = null;

  function draw(analysis, board) {
    const player = app.player();
    const rating = moveClass(analysis.gives_away);
    verdict.className = `verdict ${rating}`;
    verdict.textContent = moveSentence(player, board, analysis, app.state.steps !== null);
    maps.className = player.cols > 3 ? "maps wide" : "maps";
    const mover = analysis.result === null ? ` for ${MARKS[analysis.seat]}` : "";
    const heading = player.run ? `Learned${mover}` : "No learned values";
    learned.replaceChildren(
      html("figcaption", {}, html("h3", {}, heading), learnedLegend(player)), learnedMap(player, board, analysis));
    exact.replaceChildren(
      html("figcaption", {}, html("h3", {}, `Exact${mover}`), exactLegend()), exactMap(player, board, analysis));
    const unit = player.run ? " Learned values are the discounted return that it expects; a win pays +1." : "";
    truth.textContent = `${exactSentence(board, analysis)} \u2605 is ${analysis.move === null ? "what it may mark" : "its move"}.${unit}`;
  }

  async function refresh() {
    const { player, steps: at } = app.state;
    const { board } = app.position();
    const key = `${player} ${at} ${board}`;
    if (key === wanted) {
      return;
    }
    wanted = key;
    root.setAttribute("aria-busy", "true");
    try {
      const analysis = await app.api.analysis(player, board, at);
      if (key === wanted) {
        draw(analysis, board);
        shown = key;
      }
    } catch (error) {
      wanted = shown; // so that the next time it is requested again
      complain(error.message);
    }
    root.removeAttribute("aria-busy");
  }

  return {
    root,
    show() {
      steps.show();
      slider.show();
      refresh();
    },
  };
}

function moveClass(givesAway) {
  return givesAway === null ? "open" : givesAway ? "bad" : "good";
}

function learnedLegend(player) {
  if (!player.run) {
    return html("p", { class: "legend" }, "\u2605 what it may mark");
  }
  const scale = html("span", { class: "scale", "aria-hidden": "true" });
  return html("p", { class: "legend" }, "worst ", scale, " best");
}

function exactLegend() {
  const keys = Object.keys(RESULT_COLOURS).map((result) => html("span", { class: `key ${result}` }, result));
  return html("p", { class: "legend" }, ...keys);
}

/** Make the slider over the snapshots of the player. */
function snapshotSlider(app) {
  const output = html("output", { for: "snapshot", class: "when" });
  const range = html("input", { type: "range", id: "snapshot", min: 0, step: 1, input: choose });
  const label = html("label", { for: "snapshot" }, "What it thought then");
  const root = html("div", { class: "snapshots" }, label, range, output);

  function choose() {
    const { steps: all } = app.player().snapshots;
    const at = Number(range.value);
    app.update({ steps: at < all.length - 1 ? all[at] : null });
    say(output.textContent);
  }

  return {
    root,
    show() {
      const { snapshots } = app.player();
      root.hidden = snapshots === null || snapshots.steps.length < 2;
      if (root.hidden) {
        return;
      }
      const { unit, steps: all } = snapshots;
      const last = all.length - 1;
      const at = app.state.steps === null ? last : all.indexOf(app.state.steps);
      range.max = String(last);
      range.value = String(at);
      output.textContent = at === last ? `now, after ${numberText(all[at])} ${unit}` : `after ${numberText(all[at])} ${unit}`;
      range.setAttribute("aria-valuetext", output.textContent);
    },
  };
}
