// The panel that looks inside: what the player has learned of the position beside what is true, now and earlier.
import { html } from "./dom.js";
import { MARKS } from "./rules.js";
import { RESULT_COLOURS, exactMap, learnedMap } from "./heat.js";
import { exactSentence, moveSentence, numberText } from "./words.js";
import { complain, say } from "./talk.js";
import { wrongSteps } from "./wrong.js";

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function insidePanel(app) {
  const steps = wrongSteps(app);
  const verdict = html("p", { class: "verdict" }, "Looking.");
  const learned = html("figure", {});
  const exact = html("figure", {});
  const maps = html("div", { class: "maps" }, learned, exact);
  const truth = html("p", { class: "hint" });
  const slider = keptSlider(app);
  const root = html("div", {}, steps.root, verdict, maps, truth, slider.root);
  let wanted = null;
  let shown = null;

  function draw(look, board) {
    const player = app.player();
    const judged = judgement(look.gives_away);
    verdict.className = `verdict ${judged}`;
    verdict.textContent = moveSentence(player, board, look, app.state.kept !== null);
    maps.className = player.cols > 3 ? "maps wide" : "maps";
    const mover = look.result === null ? ` for ${MARKS[look.seat]}` : "";
    const heading = player.values ? `Learned${mover}` : "It rates no squares";
    learned.replaceChildren(
      html("figcaption", {}, html("h3", {}, heading), learnedLegend(player)), learnedMap(player, board, look));
    exact.replaceChildren(
      html("figcaption", {}, html("h3", {}, `Exact${mover}`), exactLegend()), exactMap(player, board, look));
    truth.textContent = `${exactSentence(board, look)} \u2605 is ${look.move === null ? "what it may mark" : "its move"}.`;
  }

  async function refresh() {
    const { player, kept } = app.state;
    const { board } = app.position();
    const key = `${player} ${kept} ${board}`;
    if (key === wanted) {
      return;
    }
    wanted = key;
    root.setAttribute("aria-busy", "true");
    try {
      const look = await app.source.look(player, board, kept);
      if (key === wanted) {
        draw(look, board);
        shown = key;
      }
    } catch (error) {
      wanted = shown; // the next time it is asked again
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

function judgement(givesAway) {
  return givesAway === null ? "open" : givesAway ? "bad" : "good";
}

function learnedLegend(player) {
  if (!player.values) {
    return html("p", { class: "legend" }, "\u2605 what it may mark");
  }
  const scale = html("span", { class: "scale", "aria-hidden": "true" });
  return html("p", { class: "legend" }, "worst ", scale, " best");
}

function exactLegend() {
  const keys = Object.keys(RESULT_COLOURS).map((result) => html("span", { class: `key ${result}` }, result));
  return html("p", { class: "legend" }, ...keys);
}

/** Make the slider over the player's earlier selves. */
function keptSlider(app) {
  const output = html("output", { for: "kept", class: "when" });
  const range = html("input", { type: "range", id: "kept", min: 0, step: 1, input: choose });
  const label = html("label", { for: "kept" }, "What it thought then");
  const root = html("div", { class: "kept" }, label, range, output);

  function choose() {
    const { kept } = app.player();
    const at = Number(range.value);
    app.update({ kept: at < kept.steps.length - 1 ? at : null });
    say(output.textContent);
  }

  return {
    root,
    show() {
      const { kept } = app.player();
      root.hidden = kept === null || kept.steps.length < 2;
      if (root.hidden) {
        return;
      }
      const last = kept.steps.length - 1;
      const at = app.state.kept ?? last;
      range.max = String(last);
      range.value = String(at);
      output.textContent = at === last ? `now, after ${numberText(kept.steps[at])} ${kept.unit}`
        : `after ${numberText(kept.steps[at])} ${kept.unit}`;
      range.setAttribute("aria-valuetext", output.textContent);
    },
  };
}
