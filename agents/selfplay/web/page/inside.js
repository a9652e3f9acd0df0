// The panel "Look inside": the player's learned values beside the exact results, and beside those of another player.
import { html } from "./dom.js";
import { MARKS, sameRules, seatToMove } from "./rules.js";
import { exactMap, learnedMap, saysResults, worthOf } from "./heat_map.js";
import { exactSentence, moveSentence, numberText, valueText } from "./sentences.js";
import { mistakeSteps } from "./mistakes.js";
import { stopsOf } from "./time_bar.js";

const ENDS = "In 3: the game ends after 3 more moves, if the winner hurries and the loser resists. 1/8: one of eight replies keeps the draw.";
const WHY_WRONG = "It is proved all the same: a proof needs the right square first, not the right numbers.";

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function insidePanel(app) {
  const steps = mistakeSteps(app);
  const verdict = html("p", { class: "verdict" });
  const [learned, exact, other] = [1, 2, 3].map(() => html("figure", {}));
  const maps = html("div", { class: "maps" }, learned, exact, other);
  const legend = html("div", { class: "legends" });
  const truth = html("p", { class: "hint" });
  const beside = besideChooser(app);
  const root = html("div", {}, steps.root, verdict, maps, legend, truth, beside.root);
  let drawn = null;

  function draw(board) {
    const player = app.player();
    const analysis = app.look();
    verdict.className = `verdict ${moveClass(analysis.gives_away)}`;
    verdict.textContent = moveSentence(board, analysis, app.state.steps !== null);
    maps.className = player.rules.cols > 3 ? "maps wide" : "maps";
    const mover = analysis.moves.length ? ` for\u00a0${MARKS[seatToMove(board)]}` : "";
    const heading = analysis.values === null ? "No learned values" : `What it has learned${mover}`;
    [maps, legend, truth].forEach((part) => { part.hidden = !analysis.moves.length; });
    const learnedPicture = learnedMap(player, board, analysis);
    learned.replaceChildren(html("figcaption", {}, html("h3", {}, heading)), learnedPicture);
    exact.replaceChildren(html("figcaption", {}, html("h3", {}, `What is true${mover}`)), exactMap(player, board, analysis));
    legend.replaceChildren(...legendOf(player, analysis));
    const why = app.judged().proved !== null && learnedPicture.querySelector(".differs") !== null ? ` ${WHY_WRONG}` : "";
    truth.textContent = exactSentence(board, analysis) + why;
    drawBeside(board);
  }

  function drawBeside(board) {
    other.hidden = app.state.beside === null;
    if (other.hidden) {
      return;
    }
    const [index, at] = app.state.beside.split("@");
    const player = app.players[Number(index)];
    const analysis = player.look(board, at === "" ? null : Number(at));
    const then = at === "" ? "" : ` after ${numberText(Number(at))} ${player.unit}`;
    other.replaceChildren(html("figcaption", {}, html("h3", {}, `${player.title}${then}`)), learnedMap(player, board, analysis),
      html("p", { class: "hint" }, moveSentence(board, analysis, at !== "")),
      ...(sameScale(player, app.player()) ? [] : legendOf(player, analysis).slice(0, 2))); // else the one legend would be wrong for it
  }

  return {
    root,
    show() {
      steps.show();
      beside.show();
      const { board } = app.position();
      const { player, steps: then, beside: also, playing } = app.state;
      const key = `${player} ${then} ${also} ${playing} ${board}`;
      if (key !== drawn) {
        drawn = key;
        draw(board);
      }
    },
  };
}

function moveClass(givesAway) {
  if (givesAway === null) {
    return "open";
  }
  return givesAway ? "bad" : "good";
}

/** Return whether the values of two players mean the same. */
function sameScale(one, other) {
  return [one, other].every(saysResults) && JSON.stringify([worthOf(one), one.worth?.illegal]) === JSON.stringify([worthOf(other), other.worth?.illegal]);
}

/** Return the one legend of both maps: what the colours mean, in which unit, and the marks. */
export function legendOf(player, analysis) {
  const names = ["loss", "draw", "win"];
  const worth = worthOf(player).map(short);
  const keys = names.map((name, i) => html("span", { class: `key ${name}` }, player.run && saysResults(player) ? `${name} ${worth[i]}` : name));
  const marks = [`\u2605 ${analysis.move === null ? "what it may mark" : "its move"}`, ...(player.run ? ["\u2260 the maps disagree"] : [])];
  const unit = ["Unit: the return that it expects, seen by the seat to move."];
  if (!saysResults(player)) {
    unit.push("With its rewards a value does not say how a game ends.");
  } else if (player.worth?.allow < 0) {
    unit.push(`Below ${worth[0]} it also counts the penalty for allowing a win.`);
  }
  if (player.worth?.illegal < 0) {
    unit.push(`A taken square costs it ${short(player.worth.illegal)}.`);
  }
  return [html("p", { class: "legend" }, ...keys, ...marks.map((mark) => html("span", {}, mark))),
    ...(player.run ? [html("p", { class: "hint" }, unit.join(" "))] : []), ...(analysis.plies ? [html("p", { class: "hint" }, ENDS)] : [])];
}

function short(value) {
  return value === 0 ? "0" : valueText(value).replace(/\.0+$/, "");
}

/** Make the list of players and snapshots that can be looked at beside the chosen one. */
function besideChooser(app) {
  const select = html("select", { id: "beside", change: () => app.update({ beside: select.value || null }) });
  const root = html("div", { class: "row beside" }, html("label", { for: "beside" }, "Beside it"), select);
  let listed = null;
  return {
    root,
    show() {
      const player = app.player();
      if (listed !== player.index) {
        listed = player.index;
        const others = app.players.filter((each) => each.index !== player.index && sameRules(each.rules, player.rules));
        const stops = stopsOf(player.stops).slice(0, -1);
        const then = [0, 0.3, 0.6].map((part) => stops[Math.floor(part * stops.length)]).filter(Boolean);
        select.replaceChildren(html("option", { value: "" }, "nobody"),
          ...then.map((steps) => html("option", { value: `${player.index}@${steps}` }, `itself after ${numberText(steps)} ${player.unit}`)),
          ...others.map((each) => html("option", { value: `${each.index}@`, title: each.name }, each.title)));
      }
      select.value = app.state.beside ?? "";
      root.hidden = select.options.length < 2;
    },
  };
}
