// What the page shows, and the link that restores it: `#player=shipped&seat=O&moves=5,1,9` or `&board=X.O......`.
import { byId } from "./dom.js";
import { gameFrom, lookedAt, problemOfGame } from "./game.js";
import { MARKS, emptyBoard, seatToMove } from "./rules.js";

const VIEWS = ["beat", "inside", "mistakes", "playground"];

/**
 * @typedef {object} State
 * @property {number} player Index of the chosen player.
 * @property {0 | 1} seat The person's.
 * @property {import("./game.js").Game} game
 * @property {string} view One of VIEWS.
 * @property {number | null} steps The snapshot of the player that is played and looked into; null is the player as it is now.
 * @property {string | null} setup The board that is being set up, which need not be a position yet.
 * @property {boolean} playing The time bar moves by itself.
 * @property {string | null} beside The player whose map is shown beside, its index and steps.
 * @property {{game: import("./game.js").Game, text: string, cells: number[]} | null} note What is said of a game, a hint for
 *   example, and the squares that it is about; it is gone when the game is another one.
 * @property {Record<string, string>} playground The settings there.
 */

/**
 * Return the link to what the page shows.
 *
 * @param {State} state
 * @param {import("./players.js").Player} player
 */
export function linkTo(state, player) {
  const parts = [`player=${encodeURIComponent(player.name)}`, `seat=${MARKS[state.seat]}`];
  if (state.game.start !== emptyBoard(player.rules)) {
    parts.push(`board=${state.game.start}`);
  }
  if (state.game.cells.length) {
    parts.push(`moves=${state.game.cells.map((cell) => cell + 1).join(",")}`);
  }
  if (state.game.at < state.game.cells.length) {
    parts.push(`at=${state.game.at}`);
  }
  if (state.view !== VIEWS[0]) {
    parts.push(`view=${state.view}`);
  }
  if (state.steps !== null) {
    parts.push(`steps=${state.steps}`);
  }
  if (state.view === "playground") {
    parts.push(...settingParts(state.playground));
  }
  return `#${parts.join("&")}`;
}

/**
 * Return what a link says, and in `problem` why some of it is not shown; a player with another name is the first.
 *
 * @param {string} hash
 * @param {import("./players.js").Player[]} players
 * @returns {{state: State, problem: string | null}}
 */
export function stateOf(hash, players) {
  const link = new URLSearchParams(hash.replace(/^#/, ""));
  const name = link.get("player");
  const named = players.find((each) => each.name === name);
  const player = named ?? players[0];
  let problem = name !== null && named === undefined ? `There is no player ${name.slice(0, 80)} here.` : null;

  const moves = link.get("moves") ? link.get("moves").split(",").map((square) => Number(square) - 1) : [];
  let game = gameFrom(link.get("board") ?? emptyBoard(player.rules), moves);
  const refusal = problemOfGame(player.rules, game);
  if (refusal !== null) {
    problem ??= `The link does not hold a position of this player's board. ${refusal}`;
    game = gameFrom(emptyBoard(player.rules));
  }
  game = link.has("at") ? lookedAt(game, wholeNumber(link.get("at")) ?? game.at) : game;
  const seat = link.has("seat") ? Math.max(0, MARKS.indexOf(link.get("seat"))) : seatToMove(game.start);
  const view = VIEWS.includes(link.get("view")) ? link.get("view") : VIEWS[0];
  const steps = wholeNumber(link.get("steps"));
  return {
    state: {
      player: player.index,
      seat: /** @type {0 | 1} */ (seat),
      game,
      view,
      steps: player.stops.slice(0, -1).includes(steps) ? steps : null, // the last one is the player as it is now
      setup: null,
      playing: false,
      beside: null,
      note: null,
      playground: settingsIn(link),
    },
    problem,
  };
}

function wholeNumber(text) {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

// The settings of the playground have the names and values of its lists in index.html, as texts.

const NETWORK = {
  algorithm: "dqn", target: "negamax", rate: "0.012", explore: "0.5", opponent: "itself", illegal: "penalty",
  replay: "on", targetNetwork: "on", additions: "on", seed: "0",
};
/** By algorithm. */
export const DEFAULTS = { dqn: NETWORK, table: { ...NETWORK, algorithm: "table", rate: "0.1", explore: "0.6" } };

/** Return the parts of a link that hold what differs from the defaults. */
export function settingParts(settings) {
  const usual = { ...DEFAULTS[settings.algorithm], algorithm: "dqn" };
  return Object.keys(usual).filter((name) => settings[name] !== usual[name]).map((name) => `${name}=${settings[name]}`);
}

/** Return the settings in a link, URLSearchParams; what it lacks, or what is not in a list, is as in the defaults. */
export function settingsIn(link) {
  const settings = { ...(link.get("algorithm") === "table" ? DEFAULTS.table : DEFAULTS.dqn) };
  for (const { name, options } of byId("playground-text").content.querySelectorAll("select")) {
    const option = [...options].find(({ value }) => value === link.get(name));
    settings[name] = option?.value ?? settings[name];
  }
  return settings;
}
