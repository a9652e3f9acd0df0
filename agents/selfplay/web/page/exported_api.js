// The API of one player inside the page, with the calls and responses of server_api.js.
import { networkValues } from "./network.js";
import { ruleRating } from "./rule.js";
import { EMPTY, MARKS, seatToMove, outcome } from "./rules.js";
import { unpackTensors } from "./safetensors.js";
import { SOLVABLE_CELLS, solver } from "./solve.js";
import { tableValues } from "./tabular.js";

/**
 * What selfplay.web.export writes into the page.
 *
 * @typedef {object} PlayerData
 * @property {import("./server_api.js").Player} player
 * @property {import("./network.js").Game} game
 * @property {boolean} mask It never chooses a taken cell.
 * @property {number} rule_weight How many times the rule's rating it adds to its values where it chooses.
 * @property {string} weights What it has learned, as unpackTensors reads it.
 * @property {Record<string, string>} snapshots What it had learned, by the steps of its snapshots; without the last
 *   one, if that is what it has learned now.
 * @property {{mistakes: import("./server_api.js").Mistakes, games_lost: import("./server_api.js").GamesLost}} evaluation
 */

/**
 * @param {PlayerData} data
 * @returns {import("./server_api.js").Api}
 */
export function exportedApi(data) {
  const { game } = data;
  const cells = game.rows * game.cols;
  const exact = cells <= SOLVABLE_CELLS ? solver(cells, game.lines) : null;
  const learned = new Map(); // the functions that give values, by the packed text
  const valuesBy = (text) => {
    if (!learned.has(text)) {
      learned.set(text, unpackTensors(text).then((tensors) => valuesOf(game, tensors)));
    }
    return learned.get(text);
  };

  async function analysis(_player, board, steps) {
    const seat = seatToMove(board);
    const { winner, line, over } = outcome(game, board);
    if (over) {
      return { seat, result: winner === null ? "draw" : MARKS[winner], line, ...NO_MOVE, ...truth(board, null) };
    }
    const valuesOfBoard = await valuesBy(data.snapshots[steps] ?? data.weights);
    const values = [...valuesOfBoard(board)];
    const ratings = withRule(board, values);
    const reply = greedy(ratings, (cell) => board[cell] === EMPTY);
    const move = data.mask ? reply : greedy(ratings, () => true);
    return { seat, result: null, line: [], values, move, moves: [move], reply, ...truth(board, move) };
  }

  /** Return what a move is chosen by: the values, and the rule's ratings if the player has a rule weight. */
  function withRule(board, values) {
    if (!data.rule_weight) {
      return values;
    }
    const rating = ruleRating(game, board);
    return values.map((value, cell) => value + data.rule_weight * rating[cell]);
  }

  /** Return what is true of a position, of a finished one with null as the move. */
  function truth(board, move) {
    const solved = exact !== null && move !== null ? exact(board) : [];
    const known = exact === null ? "no" : "solved";
    if (solved.length === 0) {
      return { exact: Array.from(board, () => null), known, position: null, gives_away: null };
    }
    const best = Math.max(...solved.filter((result) => result !== null));
    return {
      exact: solved.map((result) => (result === null ? null : RESULTS[result + 1])),
      known,
      position: RESULTS[best + 1],
      gives_away: solved[move] === null || solved[move] < best,
    };
  }

  return {
    players: async () => ({ players: [data.player] }),
    analysis,
    evaluation: async () => data.evaluation,
    live: null,
  };
}

const RESULTS = ["loss", "draw", "win"];
const NO_MOVE = { values: null, move: null, moves: [], reply: null };

function valuesOf(game, tensors) {
  return "table" in tensors ? tableValues(tensors.table) : networkValues(game, tensors);
}

/** Return the cell of the highest value among those that are open, the first of equals. */
function greedy(values, open) {
  let best = null;
  values.forEach((value, cell) => {
    if (value !== null && open(cell) && (best === null || value > values[best])) {
      best = cell;
    }
  });
  return best;
}
