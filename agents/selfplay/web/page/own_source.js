// The answers of one player that lies inside the page, with the calls and the answers of server_source.js.
import { gameFrom, whyNoGame } from "./game.js";
import { networkValues } from "./network.js";
import { ruleRating } from "./rule.js";
import { EMPTY, MARKS, seatToMove, standing } from "./rules.js";
import { unpackTensors } from "./safetensors.js";
import { SOLVABLE_CELLS, solver } from "./solve.js";
import { tableValues } from "./table.js";

/**
 * What selfplay.web.export writes into the page.
 *
 * @typedef {object} Own
 * @property {import("./server_source.js").Player} player
 * @property {import("./network.js").Game} game
 * @property {boolean} mask It never chooses a taken cell.
 * @property {number} rule_weight How many times the rule's rating it adds to its values where it chooses.
 * @property {string} weights What it has learned, as unpackTensors reads it.
 * @property {string[]} kept What it had learned at each of its kept steps; "" where that is what it has learned now.
 * @property {import("./server_source.js").Wrong} wrong What Python has proved of it.
 * @property {import("./server_source.js").Lost} lost
 */

/**
 * @param {Own} own
 * @returns {import("./server_source.js").Source}
 */
export function ownSource(own) {
  const { game } = own;
  const cells = game.rows * game.cols;
  const exact = cells <= SOLVABLE_CELLS ? solver(cells, game.lines) : null;
  const learned = new Map(); // what gives the values, by the text that holds it; each is unpacked when it is asked for
  const valuesBy = (text) => {
    if (!learned.has(text)) {
      learned.set(text, unpackTensors(text).then((tensors) => valuesOf(game, tensors)));
    }
    return learned.get(text);
  };

  async function look(_player, board, kept) {
    const refusal = whyNoGame(game, gameFrom(board));
    if (refusal !== null) {
      throw new Error(refusal);
    }
    const seat = seatToMove(board);
    const { winner, line, over } = standing(game, board);
    if (over) {
      return { seat, result: winner === null ? "draw" : MARKS[winner], line, ...NO_MOVE, ...truth(board, null) };
    }
    const find = await valuesBy((kept !== null && own.kept[kept]) || own.weights);
    const values = [...find(board)];
    const reply = greedy(leaning(board, values), (cell) => board[cell] === EMPTY);
    const move = own.mask ? reply : greedy(leaning(board, values), () => true);
    return { seat, result: null, line: [], values, move, moves: [move], reply, ...truth(board, move) };
  }

  /** Return what a move is chosen by: the values, and the rule's ratings if the player leans on it. */
  function leaning(board, values) {
    if (!own.rule_weight) {
      return values;
    }
    const rating = ruleRating(game, board);
    return values.map((value, cell) => value + own.rule_weight * rating[cell]);
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
    players: async () => ({ players: [own.player] }),
    look,
    wrong: async () => own.wrong,
    lost: async () => own.lost,
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
