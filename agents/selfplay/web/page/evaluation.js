// The results of a player's evaluation. They take a while, so they are requested when a panel shows them, or on demand.
import { button, html } from "./dom.js";

const FIRST_SHOWN = 24;

/** Fill a list with the first of its items; a button shows the others. */
export function longList(list, items) {
  list.append(...items.slice(0, FIRST_SHOWN));
  const others = items.slice(FIRST_SHOWN);
  const more = button(`Show ${others.length} more`, () => {
    list.append(...others);
    others[0].querySelector("button").focus();
    more.remove();
  });
  return others.length ? [list, html("div", { class: "row" }, more)] : [list];
}

/**
 * Make a section that requests the evaluation of the chosen player and draws a part of it.
 *
 * @param {import("./main.js").App} app
 * @param {(response: any) => Node[]} draw
 * @returns {{root: HTMLElement, show: () => void, response: () => any}} the response is that for the chosen player, or null
 */
export function evaluationSection(app, draw) {
  const status = html("p", { class: "hint", role: "status" });
  const content = html("div", { class: "stack" });
  const again = button("Look again", () => load(), { class: "again" });
  const root = html("div", { class: "stack" }, status, content, html("div", { class: "row" }, again));
  let player = null;
  let response = null;

  async function load() {
    player = app.state.player;
    const requested = player;
    response = null;
    status.hidden = false;
    status.textContent = "Following every reply to the player's moves. On a large board this can take a while.";
    content.replaceChildren();
    again.hidden = true;
    try {
      const loaded = await app.api.evaluation(requested);
      if (requested === player) {
        response = loaded;
        status.hidden = true;
        show();
      }
    } catch (error) {
      if (requested === player) {
        status.hidden = false;
        status.textContent = error.message;
      }
    }
    again.hidden = app.api.live === null; // a player inside the page never changes
  }

  function show() {
    if (player !== app.state.player) {
      load();
    } else if (response !== null) {
      content.replaceChildren(...draw(response));
    }
  }

  return { root, show, response: () => (player === app.state.player ? response : null) };
}
