// A part of the page that shows the evaluation of the chosen player, which may take a while.
import { button, html } from "./dom.js";
import { counted, numberText } from "./sentences.js";

const FIRST_SHOWN = 24;

/** Fill a list with the first of its items, which are made when they are shown; a button shows the others. */
export function longList(list, makers) {
  const fill = (some) => list.append(...some.map((make) => make()));
  fill(makers.slice(0, FIRST_SHOWN));
  const others = makers.slice(FIRST_SHOWN);
  const more = button(`Show ${others.length} more`, () => {
    fill(others);
    list.children[FIRST_SHOWN].querySelector("button").focus();
    more.remove();
  });
  return others.length ? [list, html("div", { class: "row" }, more)] : [list];
}

/**
 * Make a section that requests the evaluation of the chosen player and draws a part of it.
 *
 * @param {import("./main.js").App} app
 * @param {(response: import("./server_api.js").Evaluation) => Node[]} draw
 * @returns {{root: HTMLElement, show: () => void, response: () => import("./server_api.js").Evaluation | null}}
 */
export function evaluationSection(app, draw) {
  const status = html("p", { class: "hint", role: "status" });
  const content = html("div", { class: "stack" });
  const again = button("Look again", () => { wanted = null; show(); });
  const root = html("div", {}, status, content, html("div", { class: "row" }, again));
  const keyNow = () => `${app.state.player} ${app.state.steps}`;
  let wanted = null;
  let response = null;

  async function load(key) {
    response = null;
    status.hidden = false;
    again.hidden = true;
    status.textContent = "Following every reply to the player's moves. On a large board this can take a while.";
    content.replaceChildren();
    try {
      const loaded = await app.evaluation();
      if (key === wanted && key !== keyNow()) {
        wanted = null; // another player has been chosen while this panel is hidden
      } else if (key === wanted) {
        response = loaded;
        status.hidden = true;
        content.replaceChildren(...draw(response));
        app.update({});
      }
    } catch (error) {
      if (key === wanted) {
        status.textContent = error.message;
        again.hidden = false;
      }
    }
  }

  function show() {
    const key = keyNow();
    if (key === wanted) {
      status.hidden = response !== null;
    } else if (!app.state.playing) {
      wanted = key;
      load(key);
    } else if (response !== null && status.hidden) { // said once
      status.hidden = false;
      status.textContent = "While it learns, this stays as it was. Pause to see the mistakes of the player on the board.";
    }
  }

  return { root, show, response: () => response };
}

/** Return what is proved: "unbeatable", "unexploitable", "beaten", or "unknown". */
export function statusOf({ proved, ways }) {
  return proved ?? (ways.some((number) => number > 0) ? "beaten" : "unknown");
}

/** Return the number of ways to beat a player, the sum of some, with a word where there may be more. */
export function waysText({ ways, complete }) {
  const all = ways.reduce((sum, number) => sum + number, 0);
  return `${complete ? "" : "at least "}${counted(all, "way")} to beat it`;
}

/** Return the sentence that reconciles a proof with states that are still wrong; null if there are none. */
export function stillWrong({ number, reached }) {
  if (!number || reached === null) {
    return null;
  }
  const states = `${numberText(number)} state${number === 1 ? " is" : "s are"} still wrong`;
  const met = reached === 0 ? "its own play never reaches them" : `its own play reaches ${numberText(reached)}, and gives only a win away there`;
  return html("span", { class: "hint" }, `${states}: ${met}.`);
}
