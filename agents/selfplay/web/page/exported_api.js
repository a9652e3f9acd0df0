// The API of one player inside the page and two built-in ones, with the calls and responses of server_api.js.
import { networkValues } from "./network.js";
import { EMPTY, MARKS, emptyBoard, emptyCells, outcome, seatToMove, withMark } from "./rules.js";
import { unpackSnapshots, unpackTensors } from "./safetensors.js";
import { SOLVABLE_CELLS, truthTeller } from "./solve.js";
import { tableValues } from "./tabular.js";

/**
 * What selfplay.web.export writes into the page.
 *
 * @typedef {object} PlayerData
 * @property {import("./server_api.js").Player[]} players The first is that of the file.
 * @property {import("./network.js").Game} game
 * @property {boolean} mask It never chooses a taken cell.
 * @property {string} weights What it has learned, as unpackTensors reads it.
 * @property {import("./safetensors.js").Snapshots} snapshots What it had learned earlier, rounded.
 * @property {Record<number, import("./server_api.js").Evaluation>} evaluations By the indices of the players.
 * @property {import("./server_api.js").Point[]} history
 * @property {string | null} course The folder of the course's pages, if they are beside the file.
 */

/**
 * @param {PlayerData} data
 * @returns {import("./server_api.js").Api}
 */
export function exportedApi(data) {
  const { game } = data;
  const { rules } = game;
  const cells = rules.rows * rules.cols;
  const truthOf = cells <= SOLVABLE_CELLS ? truthTeller(rules, game.lines) : null;
  const [own] = data.players; // the player of the file
  const learned = new Map(); // the functions that give values, by the steps
  let snapshots = null;
  const tensorsOf = async (steps) => {
    if (steps === null) {
      return unpackTensors(data.weights);
    }
    snapshots ??= unpackSnapshots(data.snapshots);
    return (await snapshots)(steps);
  };
  const valuesAt = (steps) => {
    if (!learned.has(steps)) {
      learned.set(steps, tensorsOf(steps).then((tensors) => valuesOf(game, tensors)));
    }
    return learned.get(steps);
  };

  async function analysis(player, board, steps) {
    if (outcome(rules, board).over) {
      return { ...NO_MOVE, ...truth(board, null) };
    }
    if (player !== own.index) {
      return builtIn(data.players.find(({ index }) => index === player).name, board);
    }
    const valuesOfBoard = await valuesAt(steps);
    const values = [...valuesOfBoard(board)];
    const reply = greedy(values, (cell) => board[cell] === EMPTY);
    const move = data.mask ? reply : greedy(values, () => true);
    return { values, move, moves: [move], reply, ...truth(board, move) };
  }

  /** Return what a built-in opponent does: any square, or one that wins or blocks at once. */
  function builtIn(name, board) {
    if (!["random", "heuristic"].includes(name)) {
      throw new Error(`this page does not know the opponent ${name}`);
    }
    const sure = name === "random" ? new Set() : decisiveCells(game, board);
    const moves = emptyCells(board).filter((cell) => !sure.size || sure.has(cell));
    const reply = moves[Math.floor(Math.random() * moves.length)];
    return { values: null, move: null, moves, reply, ...truth(board, reply), gives_away: null };
  }

  /** Follow a snapshot against every reply, in both seats, and return the games that it loses as an evaluation. */
  async function lostGames(player, steps) {
    const complete = cells <= SOLVABLE_CELLS;
    const games = [];
    const ways = [0, 0];
    const groups = new Map();

    /** Note a lost game, and the last move in it that gave something away. */
    function lose(seat, game, mistake) {
      games.push(game);
      ways[seat] += 1;
      if (mistake !== null) {
        const key = `${mistake.board} ${mistake.move}`;
        const group = groups.get(key) ?? { ...mistake, states: 1, games: 0, game };
        group.games += 1;
        groups.set(key, group);
      }
    }

    async function follow(board, played, seat, before = null) {
      const mover = seatToMove(board);
      const { move, gives_away: wrong } = await analysis(player, board, steps);
      const mistake = mover === seat && wrong ? { board, move, ply: played.length } : before;
      for (const cell of mover === seat ? [move] : emptyCells(board)) {
        const after = withMark(board, cell, MARKS[mover]);
        const illegal = board[cell] !== EMPTY;
        const end = outcome(rules, after);
        if (illegal || end.winner === 1 - seat) {
          lose(seat, [...played, cell], mistake);
        } else if (!end.over) {
          await follow(after, [...played, cell], seat, mistake);
        }
      }
    }

    if (complete) {
      await follow(emptyBoard(rules), [], 0);
      await follow(emptyBoard(rules), [], 1);
    }
    games.sort((one, other) => one.length - other.length);
    return {
      verdict: "In a file, the mistakes of a snapshot are listed with their turned and reflected copies.",
      proved: complete && !games.length ? "unbeatable" : null,
      complete, ways, games,
      kind: "beaten", number: groups.size, reached: null, different: groups.size,
      groups: [...groups.values()].sort((one, other) => other.games - one.games),
    };
  }

  /** Return what is true of a position, of a finished one with null as the move. */
  function truth(board, move) {
    const nothing = { exact: Array.from(board, () => null), plies: null, replies: null, position: null, gives_away: null };
    if (truthOf === null) {
      return { ...nothing, unsolved: true };
    }
    if (move === null) {
      return nothing;
    }
    const known = truthOf(board);
    return { ...known, gives_away: known.exact[move] !== known.position };
  }

  return {
    players: async () => ({ players: data.players }),
    analysis,
    evaluation: async (player, steps) => (steps === null ? data.evaluations[player] : lostGames(player, steps)),
    history: async (player) => ({ points: player === own.index ? data.history : [] }),
  };
}

const NO_MOVE = { values: null, move: null, moves: [], reply: null };

function valuesOf(game, tensors) {
  return "table" in tensors ? tableValues(tensors.table) : networkValues(game, tensors);
}

/** Return the empty cells that win at once, or else those that block a win of the other seat; none if there are none. */
function decisiveCells(game, board) {
  const own = MARKS[seatToMove(board)];
  const [wins, blocks] = [[], []];
  for (const line of game.lines) {
    const mine = line.filter((cell) => board[cell] === own).length;
    const empty = line.filter((cell) => board[cell] === EMPTY);
    if (empty.length === 1 && [0, line.length - 1].includes(mine)) {
      (mine || line.length === 1 ? wins : blocks).push(empty[0]);
    }
  }
  return new Set(wins.length ? wins : blocks);
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
