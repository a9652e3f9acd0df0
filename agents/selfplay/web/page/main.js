// The page as a whole: what is chosen and shown, and what is redrawn when that changes. It knows no server.
import { byId, html } from "./dom.js";
import { emptyBoard, sameRules } from "./rules.js";
import { gameFrom, positionOf } from "./game.js";
import { linkTo, stateOf } from "./state.js";
import { complain, say } from "./messages.js";
import { titled } from "./names.js";
import { strip } from "./strip.js";
import { tabs } from "./tabs.js";
import { showOpening } from "./opening.js";
import { hero } from "./hero.js";
import { playingTable } from "./play.js";
import { timeBar } from "./time_bar.js";
import { insidePanel } from "./inside.js";
import { mistakesPanel } from "./mistakes.js";
import { beatPanel } from "./beat.js";
import { tourPanel } from "./tour.js";
import { playgroundPanel } from "./playground.js";
import { keyboard } from "./keys.js";

const MOST_REMEMBERED = 4000;

/**
 * What the parts of the page have in common.
 *
 * @typedef {object} App
 * @property {import("./server_api.js").Api} api
 * @property {import("./server_api.js").Player[]} players
 * @property {import("./state.js").State} state
 * @property {() => import("./server_api.js").Player} player The chosen one.
 * @property {() => import("./rules.js").Rules} rules The chosen player's.
 * @property {() => import("./game.js").Position} position The one on the board.
 * @property {(change: Partial<import("./state.js").State>) => void} update Changes the state and shows it.
 * @property {(board: string, player?: number, steps?: number | null) => Promise<import("./server_api.js").Analysis>} look
 * @property {() => import("./server_api.js").Analysis | null} thought What is known of the position on the board by now;
 *   until a snapshot's analysis has come, that of the snapshot before.
 * @property {(player?: number, steps?: number | null) => Promise<import("./server_api.js").Evaluation>} evaluation
 * @property {(player?: number) => Promise<{points: import("./server_api.js").Point[]}>} history
 * @property {{game: object, player: number, steps: number | null, cell: number | null, text: string}} [hint] The last one
 *   that was given, and for what.
 * @property {boolean} [punishing] A punishment is being shown, so the player's moves are not requested.
 * @property {() => Worker} newTrainer Starts the worker of the playground, trainer.js.
 * @property {string | null} course The folder of the course's pages, null where they are not beside this page.
 */

/**
 * Fill the page.
 *
 * @param {import("./server_api.js").Api} api
 */
export async function start(api, newTrainer, course = null) {
  const shown = [];
  const answers = new Map();
  let thought = { key: null, place: null, analysis: null };
  const ask = (key, request) => {
    if (!answers.has(key)) {
      if (answers.size > MOST_REMEMBERED) {
        answers.clear();
      }
      const answer = request();
      answers.set(key, answer);
      answer.catch(() => answers.delete(key)); // the next time it is requested again
    }
    return answers.get(key);
  };
  const placeNow = () => `${app.state.player} ${app.position().board}`;
  const keyNow = () => `${placeNow()} ${app.state.steps}`;
  const show = () => shown.forEach((each) => each());

  async function think() {
    const key = keyNow();
    try {
      const analysis = await app.look(app.position().board);
      if (key === keyNow() && thought.key !== key) {
        thought = { key, place: placeNow(), analysis };
        show();
      }
    } catch (error) {
      complain(error.message);
    }
  }

  const app = {
    api,
    newTrainer,
    course,
    players: [],
    state: null,
    player: () => app.players.find((each) => each.index === app.state.player),
    rules: () => app.player().rules,
    position: () => positionOf(app.rules(), app.state.game),
    update(change) {
      app.state = { ...app.state, ...change };
      const link = linkTo(app.state, app.player());
      if (!app.state.playing && link !== location.hash) { // a browser allows some hundred changes of the address in a while
        history.replaceState(null, "", link);
      }
      show();
      think();
    },
    look: (board, player = app.state.player, steps = app.state.steps) =>
      ask(`${player} ${steps} ${board}`, () => api.analysis(player, board, steps)),
    thought: () => (thought.place === placeNow() ? thought.analysis : null),
    evaluation: (player = app.state.player, steps = app.state.steps) =>
      ask(`evaluation ${player} ${steps}`, () => api.evaluation(player, steps)),
    history: (player = app.state.player) => ask(`history ${player}`, () => api.history(player)),
  };
  try {
    app.players = titled((await api.players()).players);
  } catch (error) {
    complain(error.message);
    return;
  }
  const opensOnLink = location.hash !== "";
  const { state, problem } = stateOf(location.hash, app.players);
  app.state = state;
  complain(problem);
  shown.push(chooser(app), hero(app), playingTable(app), strip(app), timeBar(app), panels(app));
  keyboard(app);
  addEventListener("hashchange", () => {
    const link = stateOf(location.hash, app.players);
    complain(link.problem);
    app.update(link.state);
  });
  app.update({});
  if (!opensOnLink) {
    showOpening(app).catch(() => {}); // what is missing is said where it is shown
  }
}

/** Fill the list of players; those that cannot be loaded are listed below it with the reasons. */
function chooser(app) {
  const select = byId("player");
  select.replaceChildren(...playerOptions(app.players));
  byId("trouble").before(...damagedLines(app.players));
  select.addEventListener("change", () => {
    const player = app.players.find((each) => each.index === Number(select.value));
    const game = sameRules(player.rules, app.rules()) ? app.state.game : gameFrom(emptyBoard(player.rules));
    complain(null);
    app.update({ player: player.index, game, steps: null, beside: null, setup: null, playing: false });
    say(`You play against ${player.title}.`);
  });
  return () => {
    const player = app.player();
    select.value = String(app.state.player);
    select.title = player.name;
    document.title = `${player.title}: play, look inside, watch it learn`;
  };
}

function playerOptions(players) {
  const groups = new Map();
  for (const player of players) {
    const attributes = { value: player.index, title: player.name, disabled: player.error !== null };
    const option = html("option", attributes, optionText(player));
    groups.set(groupOf(player), [...(groups.get(groupOf(player)) ?? []), option]);
  }
  return [...groups].map(([name, options]) => html("optgroup", { label: name }, ...options));
}

function damagedLines(players) {
  const damaged = players.filter((player) => player.error !== null && !player.waiting);
  if (!damaged.length) {
    return [];
  }
  const lines = damaged.map((player) => html("li", {}, player.error));
  const summary = html("summary", {}, `Cannot be loaded: ${damaged.map(({ name }) => name).join(", ")}`);
  return [html("details", { class: "damaged" }, summary, html("ul", {}, ...lines))];
}

function optionText({ title, error, waiting, rules }) {
  if (error === null) {
    return `${title}, ${rules.rows}\u00d7${rules.cols}`;
  }
  return `${title}, ${waiting ? "has no player yet" : "cannot be loaded"}`;
}

function groupOf(player) {
  if (player.kind === "built-in") {
    return "Built in";
  }
  return player.run ? "Trained" : "Others";
}

/** Fill the panels beside the board. */
function panels(app) {
  const all = [
    { id: "inside", title: "Look inside", panel: insidePanel(app) },
    { id: "mistakes", title: "Mistakes", panel: mistakesPanel(app) },
    { id: "beat", title: "Beat it", panel: beatPanel(app) },
    { id: "proof", title: "Proof", panel: tourPanel(app) },
    { id: "playground", title: "Playground", panel: playgroundPanel(app) },
  ];
  const show = tabs(byId("panels"), all, (view) => app.update({ view }));
  return () => {
    const { id: view } = all.find((each) => each.id === app.state.view) ?? all[0];
    show(view);
    document.body.className = view === "playground" ? "alone" : view; // it has a board and a player of its own
    for (const { id, panel } of all) {
      panel.always?.();
      if (id === view) {
        panel.show();
      }
    }
  };
}
