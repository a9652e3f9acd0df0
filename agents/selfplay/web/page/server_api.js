// The API of the server. A page in a single file has an API of its own, with the same calls and responses.

/**
 * What the page requests. A response is a promise of what the server's JSON holds; a mistake rejects it with one line.
 * `live` is null where there are no runs to follow, and the page then leaves out the panel.
 *
 * @typedef {object} Api
 * @property {() => Promise<{players: Player[]}>} players
 * @property {(player: number, board: string, steps: number | null) => Promise<Analysis>} analysis
 * @property {(player: number) => Promise<{mistakes: Mistakes, games_lost: GamesLost}>} evaluation
 * @property {((listen: (event: "runs" | "metrics" | "latest" | "gone" | "back", data: any) => void) => () => void) | null}
 *   live Follows the runs, and returns what ends that.
 */

/**
 * @typedef {object} Player
 * @property {number} index
 * @property {string} name
 * @property {string} kind The algorithm of a run, "built-in" or "own".
 * @property {boolean} run It comes from a run, and rates squares.
 * @property {number} rows
 * @property {number} cols
 * @property {number} k
 * @property {{unit: string, steps: number[]} | null} snapshots Itself as it was earlier in its run.
 * @property {string} differs
 * @property {string | null} error Why it cannot be chosen.
 */

/**
 * @typedef {object} Analysis
 * @property {0 | 1} seat
 * @property {string | null} result
 * @property {number[]} line
 * @property {(number | null)[] | null} values
 * @property {number | null} move
 * @property {number[]} moves
 * @property {number | null} reply
 * @property {("win" | "draw" | "loss" | null)[]} exact
 * @property {"solved" | "searched" | "no"} known
 * @property {"win" | "draw" | "loss" | null} position
 * @property {boolean | null} gives_away
 */

/**
 * @typedef {object} Mistakes
 * @property {string} verdict
 * @property {"optimal" | "beaten"} kind
 * @property {number} number
 * @property {boolean} complete
 * @property {{board: string, move: number, best: number[], from: string | null, to: string | null,
 *   learned: number | null}[]} states
 */

/**
 * @typedef {object} GameLost
 * @property {0 | 1} seat
 * @property {number[]} cells
 * @property {boolean} illegal
 * @property {number | null} turning
 * @property {(number | null)[]} learned
 * @property {(string | null)[]} exact
 */

/** @typedef {{number: (number | null)[], complete: boolean, games: GameLost[]}} GamesLost */

const EVENTS = ["runs", "metrics", "latest"];

/** @returns {Api} */
export function serverApi() {
  return {
    players: () => request("players", {}),
    analysis: (player, board, steps) => request("analysis", steps === null ? { player, board } : { player, board, steps }),
    evaluation: (player) => request("evaluation", { player }),
    live: follow,
  };
}

async function request(name, query) {
  let response;
  let content;
  try {
    response = await fetch(`api/${name}?${new URLSearchParams(query)}`);
    content = await response.json();
  } catch {
    throw new Error("The server does not answer. Is selfplay web still running?");
  }
  if (!response.ok) {
    throw new Error(content.error);
  }
  return content;
}

function follow(listen) {
  const events = new EventSource("api/live");
  for (const name of EVENTS) {
    events.addEventListener(name, (event) => listen(name, JSON.parse(event.data)));
  }
  events.addEventListener("error", () => listen("gone", null)); // the browser itself tries again
  events.addEventListener("open", () => listen("back", null));
  return () => events.close();
}
