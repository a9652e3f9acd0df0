// The page as a whole: what is chosen and shown, and what is redrawn when that changes. It knows no server.
import { byId, html } from "./dom.js";
import { emptyBoard } from "./rules.js";
import { gameFrom, positionOf } from "./game.js";
import { linkTo, stateOf } from "./state.js";
import { complain, say } from "./messages.js";
import { tabs } from "./tabs.js";
import { playingTable } from "./play.js";
import { gamePanel } from "./moves.js";
import { insidePanel } from "./inside.js";
import { mistakesPanel } from "./mistakes.js";
import { gamesLostPanel } from "./games_lost.js";
import { livePanel } from "./live.js";

/**
 * What the parts of the page have in common.
 *
 * @typedef {object} App
 * @property {import("./server_api.js").Api} api
 * @property {import("./server_api.js").Player[]} players
 * @property {import("./state.js").State} state
 * @property {() => import("./server_api.js").Player} player The chosen one.
 * @property {() => import("./game.js").Position} position The one on the board.
 * @property {(change: Partial<import("./state.js").State>) => void} update Changes the state and shows it.
 * @property {() => Promise<void>} reload Requests the players again.
 */

/**
 * Fill the page.
 *
 * @param {import("./server_api.js").Api} api
 */
export async function start(api) {
  const shown = [];
  const app = {
    api,
    players: [],
    state: null,
    player: () => app.players.find((each) => each.index === app.state.player),
    position: () => positionOf(app.player(), app.state.game),
    update(change) {
      app.state = { ...app.state, ...change };
      history.replaceState(null, "", linkTo(app.state, app.player()));
      shown.forEach((show) => show());
    },
    async reload() {
      app.players = (await api.players()).players;
    },
  };
  try {
    await app.reload();
  } catch (error) {
    complain(error.message);
    return;
  }
  const { state, problem } = stateOf(location.hash, app.players);
  app.state = state;
  complain(problem);
  shown.push(chooser(app), playingTable(app), panels(app));
  addEventListener("hashchange", () => {
    const link = stateOf(location.hash, app.players);
    complain(link.problem);
    app.update(link.state);
  });
  app.update({});
}

/** Fill the list of players; those that cannot be loaded are listed below it with the reasons. */
function chooser(app) {
  const select = byId("player");
  const damaged = html("div", {});
  byId("trouble").before(damaged);
  let listed = null;
  select.addEventListener("change", () => {
    const player = app.players.find((each) => each.index === Number(select.value));
    complain(null);
    app.update({ player: player.index, game: gameFrom(emptyBoard(player)), steps: null, setup: null });
    say(`You play against ${player.name}.`);
  });
  return () => {
    if (listed !== app.players) {
      listed = app.players;
      select.replaceChildren(...playerOptions(app.players));
      damaged.replaceChildren(...damagedLines(app.players));
    }
    select.value = String(app.state.player);
    byId("about").textContent = aboutText(app.player());
  };
}

function playerOptions(players) {
  const groups = new Map();
  for (const player of players) {
    const option = html("option", { value: player.index, disabled: player.error !== null }, optionText(player));
    groups.set(groupOf(player), [...(groups.get(groupOf(player)) ?? []), option]);
  }
  return [...groups].map(([name, options]) => html("optgroup", { label: name }, ...options));
}

function damagedLines(players) {
  const damaged = players.filter((player) => player.error !== null);
  if (!damaged.length) {
    return [];
  }
  const lines = damaged.map((player) => html("li", {}, player.error));
  const summary = html("summary", {}, `Cannot be loaded: ${damaged.map(({ name }) => name).join(", ")}`);
  return [html("details", { class: "damaged" }, summary, html("ul", {}, ...lines))];
}

function optionText(player) {
  return `${player.name}, ${player.error === null ? `${player.rows}\u00d7${player.cols}` : "cannot be loaded"}`;
}

function groupOf(player) {
  return player.kind === "built-in" ? "Built in" : player.run ? "Trained" : "Others";
}

function aboutText(player) {
  const kind = player.kind === "built-in" ? "built-in opponent" : player.kind === "own" ? "own agent" : player.kind;
  const differs = player.differs ? ` with ${player.differs}` : "";
  return `${kind}${differs}; ${player.k} in a row win`;
}

/** Fill the panels beside the board. */
function panels(app) {
  const all = [
    { id: "game", title: "Game", panel: gamePanel(app) },
    { id: "inside", title: "Look inside", panel: insidePanel(app) },
    { id: "mistakes", title: "Mistakes", panel: mistakesPanel(app) },
    { id: "games-lost", title: "Games lost", panel: gamesLostPanel(app) },
    ...(app.api.live === null ? [] : [{ id: "live", title: "Live", panel: livePanel(app) }]),
  ];
  const show = tabs(byId("panels"), all, (view) => app.update({ view }));
  return () => {
    const { id: view } = all.find((each) => each.id === app.state.view) ?? all[0];
    show(view);
    for (const { id, panel } of all) {
      if (id === view) {
        panel.show();
      } else {
        panel.hide?.();
      }
    }
  };
}
