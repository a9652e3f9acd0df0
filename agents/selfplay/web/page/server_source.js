// The answers of the server. A page in a single file has another source, with the same calls and the same answers.

/**
 * What the page asks. An answer is a promise of what the server's JSON holds; a mistake rejects it with one line.
 * `wrong`, `lost` and `live` are null where a source has none, and the page then leaves out what they are for.
 *
 * @typedef {object} Source
 * @property {() => Promise<{players: Player[]}>} players
 * @property {(player: number, board: string, kept: number | null) => Promise<Look>} look
 * @property {((player: number) => Promise<Wrong>) | null} wrong
 * @property {((player: number) => Promise<Lost>) | null} lost
 * @property {((hear: (event: "runs" | "points" | "newest" | "gone" | "back", data: any) => void) => () => void) | null}
 *   live Follows the runs, and returns what ends that.
 */

/**
 * @typedef {object} Player
 * @property {number} index
 * @property {string} name
 * @property {string} kind
 * @property {number} rows
 * @property {number} cols
 * @property {number} k
 * @property {boolean} values It rates squares.
 * @property {{unit: string, steps: number[]} | null} kept Itself as it was earlier in its run.
 * @property {boolean} run
 * @property {string} differs
 * @property {string | null} error Why it cannot be chosen.
 */

/**
 * @typedef {object} Look
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
 * @typedef {object} Wrong
 * @property {string} verdict
 * @property {"optimal" | "beaten"} kind
 * @property {number} number
 * @property {boolean} complete
 * @property {{board: string, move: number, best: number[], from: string | null, to: string | null,
 *   learned: number | null}[]} states
 */

/**
 * @typedef {object} LostLine
 * @property {0 | 1} seat
 * @property {number[]} cells
 * @property {boolean} illegal
 * @property {number | null} turning
 * @property {(number | null)[]} learned
 * @property {(string | null)[]} exact
 */

/** @typedef {{number: (number | null)[], complete: boolean, lines: LostLine[]}} Lost */

const EVENTS = ["runs", "points", "newest"];

/** @returns {Source} */
export function serverSource() {
  return {
    players: () => ask("players", {}),
    look: (player, board, kept) => ask("look", kept === null ? { player, board } : { player, board, kept }),
    wrong: (player) => ask("wrong", { player }),
    lost: (player) => ask("lost", { player }),
    live: follow,
  };
}

async function ask(what, query) {
  let response;
  let answer;
  try {
    response = await fetch(`api/${what}?${new URLSearchParams(query)}`);
    answer = await response.json();
  } catch {
    throw new Error("The server does not answer. Is selfplay web still running?");
  }
  if (!response.ok) {
    throw new Error(answer.error);
  }
  return answer;
}

function follow(hear) {
  const events = new EventSource("api/live");
  for (const name of EVENTS) {
    events.addEventListener(name, (event) => hear(name, JSON.parse(event.data)));
  }
  events.addEventListener("error", () => hear("gone", null)); // the browser itself tries again
  events.addEventListener("open", () => hear("back", null));
  return () => events.close();
}
