// The page as a whole: what is chosen and shown, and who is told when that changes. It knows no server.
import { byId, html } from "./dom.js";
import { emptyBoard } from "./rules.js";
import { gameFrom, positionOf } from "./game.js";
import { linkTo, stateOf } from "./state.js";
import { complain, say } from "./talk.js";
import { tabs } from "./tabs.js";
import { playingTable } from "./play.js";
import { gamePanel } from "./moves.js";
import { insidePanel } from "./inside.js";
import { wrongPanel } from "./wrong.js";
import { lostPanel } from "./lost.js";
import { livePanel } from "./live.js";

/**
 * What the parts of the page have in common.
 *
 * @typedef {object} App
 * @property {import("./server_source.js").Source} source
 * @property {import("./server_source.js").Player[]} players
 * @property {import("./state.js").State} state
 * @property {() => import("./server_source.js").Player} player The chosen one.
 * @property {() => import("./game.js").Position} position The one that one looks at.
 * @property {(change: Partial<import("./state.js").State>) => void} update Changes the state and shows it.
 */

/**
 * Fill the page with what a source answers.
 *
 * @param {import("./server_source.js").Source} source
 */
export async function start(source) {
  let players;
  try {
    ({ players } = await source.players());
  } catch (error) {
    complain(error.message);
    return;
  }
  const { state, problem } = stateOf(location.hash, players);
  complain(problem);
  const shown = [];
  const app = {
    source,
    players,
    state,
    player: () => players.find((each) => each.index === app.state.player),
    position: () => positionOf(app.player(), app.state.game),
    update(change) {
      app.state = { ...app.state, ...change };
      history.replaceState(null, "", linkTo(app.state, app.player()));
      shown.forEach((show) => show());
    },
  };
  shown.push(chooser(app), playingTable(app), panels(app));
  addEventListener("hashchange", () => {
    const link = stateOf(location.hash, players);
    complain(link.problem);
    app.update(link.state);
  });
  app.update({});
}

/** Fill the list of players; one that cannot be loaded stands below it with the reason. */
function chooser(app) {
  const select = byId("player");
  const groups = new Map();
  for (const player of app.players) {
    const option = html("option", { value: player.index, disabled: player.error !== null }, optionText(player));
    groups.set(groupOf(player), [...(groups.get(groupOf(player)) ?? []), option]);
  }
  select.replaceChildren(...[...groups].map(([name, options]) => html("optgroup", { label: name }, ...options)));
  select.addEventListener("change", () => {
    const player = app.players.find((each) => each.index === Number(select.value));
    complain(null);
    app.update({ player: player.index, game: gameFrom(emptyBoard(player)), kept: null, setup: null });
    say(`You play against ${player.name}.`);
  });
  const damaged = app.players.filter((player) => player.error !== null);
  if (damaged.length) {
    const lines = damaged.map((player) => html("li", {}, `${player.name}: ${player.error}`));
    byId("about").after(html("ul", { class: "damaged", "aria-label": "Cannot be loaded" }, ...lines));
  }
  return () => {
    select.value = String(app.state.player);
    byId("about").textContent = aboutText(app.player());
  };
}

function optionText(player) {
  const board = player.error === null ? `, ${player.rows}\u00d7${player.cols}` : ", cannot be loaded";
  return `${player.name}${board}${player.differs ? ` (${player.differs})` : ""}`;
}

function groupOf(player) {
  return player.kind === "built-in" ? "Built in" : player.run ? "Trained" : "Others";
}

function aboutText(player) {
  const kind = player.kind === "built-in" ? "built-in opponent" : player.kind === "own" ? "own agent" : player.kind;
  const differs = player.differs ? ` with ${player.differs}` : "";
  return `${kind}${differs}, on ${player.rows}\u00d7${player.cols}, where ${player.k} in a row win`;
}

/** Fill the panels beside the board, those for which the source has answers. */
function panels(app) {
  const { source } = app;
  const all = [
    { id: "game", title: "Game", panel: gamePanel(app), there: () => true },
    { id: "inside", title: "Look inside", panel: insidePanel(app), there: () => true },
    { id: "wrong", title: "Still wrong", panel: wrongPanel(app), there: () => source.wrong !== null && app.player().run },
    { id: "lost", title: "What beats it", panel: lostPanel(app), there: () => source.lost !== null && app.player().run },
    { id: "live", title: "Live", panel: livePanel(app), there: () => source.live !== null },
  ];
  const show = tabs(byId("panels"), all, (view) => app.update({ view }));
  return () => {
    const there = all.filter((each) => each.there()).map((each) => each.id);
    const view = there.includes(app.state.view) ? app.state.view : there[0];
    show(view, there);
    for (const { id, panel } of all) {
      if (id === view) {
        panel.show();
      } else {
        panel.hide?.();
      }
    }
  };
}
