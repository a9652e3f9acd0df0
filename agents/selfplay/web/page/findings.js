// What a proof has found of a player, which takes a while: asked for when it is looked at, and kept until asked anew.
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
 * Make the place of a finding.
 *
 * @template T
 * @param {import("./main.js").App} app
 * @param {(player: number) => Promise<T>} ask
 * @param {(answer: T) => Node[]} draw
 * @returns {{root: HTMLElement, show: () => void, answer: () => T | null}} the answer is that of the chosen player
 */
export function finding(app, ask, draw) {
  const status = html("p", { class: "hint", role: "status" });
  const content = html("div", { class: "stack" });
  const again = button("Look again", () => find(), { class: "again" });
  const root = html("div", { class: "stack" }, status, content, html("div", { class: "row" }, again));
  let player = null;
  let answer = null;

  async function find() {
    player = app.state.player;
    const asked = player;
    answer = null;
    status.hidden = false;
    status.textContent = "Following the player's games over every reply. This can take a while on a large board.";
    content.replaceChildren();
    again.hidden = true;
    try {
      const found = await ask(asked);
      if (asked === player) {
        answer = found;
        status.hidden = true;
        show();
      }
    } catch (error) {
      if (asked === player) {
        status.hidden = false;
        status.textContent = error.message;
      }
    }
    again.hidden = app.source.live === null; // a player that lies in the page never changes
  }

  function show() {
    if (player !== app.state.player) {
      find();
    } else if (answer !== null) {
      content.replaceChildren(...draw(answer));
    }
  }

  return { root, show, answer: () => (player === app.state.player ? answer : null) };
}
