// The API of the server. A page in a single file has an API of its own, with the same calls and responses.

/**
 * What the page requests. A response is a promise of what the server's JSON holds; a mistake rejects it with one line.
 *
 * @typedef {object} Api
 * @property {() => Promise<{players: Player[]}>} players
 * @property {(player: number, board: string, steps: number | null) => Promise<Analysis>} analysis
 * @property {(player: number, steps: number | null) => Promise<Evaluation>} evaluation
 * @property {(player: number) => Promise<{points: Point[]}>} history The evaluations of its run.
 */

/**
 * @typedef {object} Player
 * @property {number} index
 * @property {string} name
 * @property {string} kind The algorithm of a run, "built-in" or "own".
 * @property {boolean} run It comes from a run, and rates squares.
 * @property {import("./rules.js").Rules | null} rules Null if it cannot be loaded.
 * @property {string} [unit] Plies or games, of a run.
 * @property {number[]} snapshots The steps of itself as it was earlier in its run.
 * @property {{loss: number, draw: number, win: number, allow: number, illegal: number} | null} [worth] What its rewards make of
 *   results, of a move that allows a win and of a taken square; of a DQN.
 * @property {string} differs
 * @property {boolean} waiting Its run has not saved a player yet.
 * @property {string | null} error Why it cannot be chosen.
 * @property {string} [title] Its name for people, which the page gives it.
 */

/**
 * @typedef {object} Analysis
 * @property {(number | null)[] | null} values
 * @property {number | null} move
 * @property {number[]} moves None if the game is over.
 * @property {number | null} reply
 * @property {("win" | "draw" | "loss" | null)[]} exact
 * @property {(number | null)[] | null} plies To the end after each cell, if the winner hurries and the loser resists.
 * @property {(number | null)[] | null} replies That keep the other seat's result.
 * @property {boolean} [unsolved] Exact results are not known on this board, as in a file.
 * @property {"win" | "draw" | "loss" | null} position
 * @property {boolean | null} gives_away
 */

/**
 * @typedef {object} Evaluation
 * @property {string} verdict
 * @property {"unbeatable" | "unexploitable" | null} proved
 * @property {boolean} complete Every game was followed to its end; else numbers are lower bounds.
 * @property {number[]} ways Ways to beat it in each seat, by a line or by its own illegal move.
 * @property {"optimal" | "beaten"} kind
 * @property {number} number States with a mistake, or positions in which it is beaten.
 * @property {number | null} reached How many of them its own play reaches.
 * @property {number} different The groups, of which some may be left out.
 * @property {Group[]} groups
 * @property {number[][]} games The cells of games that it loses, the shortest of each seat first.
 */

/**
 * Mistakes that are images of each other, with one as an example.
 *
 * @typedef {object} Group
 * @property {string} board
 * @property {number} move
 * @property {number} states
 * @property {number} games Games that it loses by this move.
 * @property {number[] | null} game One of them.
 * @property {number | null} ply The move's place in it.
 */

/** @typedef {{steps: number, ways: number, exact: boolean}} Point */

/** @returns {Api} */
export function serverApi() {
  return {
    players: () => request("players", {}),
    analysis: (player, board, steps) => request("analysis", { player, board, ...then(steps) }),
    evaluation: (player, steps) => request("evaluation", { player, ...then(steps) }),
    history: (player) => request("history", { player }),
  };
}

function then(steps) {
  return steps === null ? {} : { steps };
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
