// The players in the page: what each would do in a position, what is true of it, how each is judged, and how its run went.
import { loserOf } from "./game.js";
import { groupsOf, lostGames } from "./groups.js";
import { networkValues } from "./network.js";
import {
  EMPTY, MARKS, emptyBoard, emptyCells, linesOf, outcome, positionNumber, seatToMove, withMark,
} from "./rules.js";
import { truthTeller } from "./solve.js";
import { tableValues } from "./tabular.js";
import { unpackAnswers, unpackSnapshots, unpackTensors } from "./tensors.js";

/** Largest board on which the games of a snapshot are followed here; on others its run says how many beat it. */
const FOLLOWED_CELLS = 9;
const MOST_REMEMBERED = 4000;

/**
 * @typedef {object} Player
 * @property {number} index
 * @property {string} name
 * @property {string} title Its name for people.
 * @property {string} kind The algorithm of a run, "built-in" or "own".
 * @property {boolean} run It comes from a run, and rates squares.
 * @property {import("./rules.js").Rules} rules
 * @property {string} [unit] Plies or games, of a run.
 * @property {number[]} stops The steps of itself as it was earlier in its run; the last is the player as it is now.
 * @property {{steps: number, ways: number, exact: boolean}[]} history The evaluations of its run.
 * @property {{loss: number, draw: number, win: number, allow: number, illegal: number} | null} [worth] What its rewards make of
 *   results, of a move that allows a win and of a taken square; of a DQN.
 * @property {(board: string, steps: number | null) => Analysis} look
 * @property {(board: string, steps: number | null) => number} reply Its move against a person, which is always legal.
 * @property {(steps: number | null) => Evaluation} judged
 */

/**
 * @typedef {object} Analysis
 * @property {(number | null)[] | null} values
 * @property {number | null} move
 * @property {number[]} moves None if the game is over.
 * @property {number | null} reply Its legal move, if that is only one.
 * @property {("win" | "draw" | "loss" | null)[]} exact
 * @property {(number | null)[] | null} plies To the end after each cell, if the winner hurries and the loser resists.
 * @property {(number | null)[] | null} replies That keep the other seat's result.
 * @property {boolean} unsolved Exact results are not known yet.
 * @property {"win" | "draw" | "loss" | null} position
 * @property {boolean | null} gives_away
 */

/**
 * @typedef {object} Evaluation
 * @property {string} verdict
 * @property {"unbeatable" | "unexploitable" | null} proved
 * @property {boolean} complete Every game was followed to its end; else numbers are lower bounds.
 * @property {boolean} [about] The numbers are those of its run a little earlier or later.
 * @property {number[]} ways Ways to beat it in each seat, by a line or by its own illegal move.
 * @property {"optimal" | "beaten"} kind
 * @property {number} number States with a mistake, or positions in which it is beaten.
 * @property {number | null} reached How many of them its own play reaches.
 * @property {number} different These without turned and reflected ones, of which some may be left out.
 * @property {() => Group[]} groups
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

/**
 * Return the players of the page's data, as selfplay.web.player_data writes it.
 *
 * @returns {Promise<Player[]>}
 */
export async function openPlayers(entries) {
  const truths = new Map(); // by the rules: players of one game share what is known of it
  return titled(await Promise.all(entries.map((entry, index) => {
    const game = JSON.stringify(entry.rules);
    truths.set(game, truths.get(game) ?? truthTeller(entry.rules, entry.lines));
    return openPlayer(entry, index, truths.get(game));
  })));
}

async function openPlayer(entry, index, truthOf) {
  const { rules, snapshots, history, evaluation } = entry;
  const stops = snapshots.steps;
  const choices = "answers" in entry ? answersOf(entry, await unpackAnswers(entry.answers)) : await learnedChoices(entry);

  const look = remembered((board, steps) => {
    if (outcome(rules, board).over) {
      return { values: null, move: null, moves: [], reply: null, gives_away: null, ...nothingTrue(board) };
    }
    const chosen = choices(board, steps);
    const truth = truthOf(board) ?? { ...nothingTrue(board), unsolved: true };
    return { ...chosen, ...truth, gives_away: givesAway(board, chosen.move, truth) };
  });

  function reply(board, steps) {
    const { moves, reply: only } = look(board, steps);
    const legal = moves.filter((cell) => board[cell] === EMPTY);
    return only ?? oneOf(legal.length ? legal : emptyCells(board));
  }

  const judged = remembered((steps) => {
    const lookThen = (board) => look(board, steps);
    const found = steps === null ? evaluation : judgedThen(rules, lookThen, history, steps);
    let groups = null;
    return { ...found, groups: () => { groups ??= groupsOf(entry, lookThen, found); return groups; } };
  });
  return { ...entry, index, stops, run: stops.length > 0 || "weights" in entry, look, reply, judged };
}

/** Return a function that remembers its answers, of which it forgets all if they become too many. */
function remembered(answer) {
  const answers = new Map();
  return (...question) => {
    const key = question.join(" ");
    if (answers.size > MOST_REMEMBERED) {
      answers.clear();
    }
    if (!answers.has(key)) {
      answers.set(key, answer(...question));
    }
    return answers.get(key);
  };
}

function nothingTrue(board) {
  return { exact: Array.from(board, () => null), plies: null, replies: null, position: null, unsolved: false };
}

function givesAway(board, move, { exact, position }) {
  if (move === null || (position === null && board[move] === EMPTY)) {
    return null;
  }
  return exact[move] !== position || position === null;
}

/** Return what chooses by a table of answers: of each position the cells that the player may mark, as bits. */
function answersOf({ rules, samples }, table) {
  const all = emptyCells(emptyBoard(rules));
  return (board) => {
    const set = table[positionNumber(board)];
    const moves = all.filter((cell) => set >> cell & 1);
    const move = samples ? null : moves[0];
    return { values: null, move, moves, reply: board[move] === EMPTY ? move : null };
  };
}

/** Return what chooses by the values that a player has learned, by the end of its run or after some steps. */
async function learnedChoices(entry) {
  const valuesOf = (tensors) => ("table" in tensors ? tableValues(tensors.table) : networkValues(entry, tensors));
  const last = valuesOf(await unpackTensors(entry.weights));
  const tensorsOf = entry.snapshots.steps.length ? await unpackSnapshots(entry.snapshots) : null;
  const valuesAt = remembered((steps) => (steps === null ? last : valuesOf(tensorsOf(steps))));
  return (board, steps) => {
    const values = [...valuesAt(steps)(board)];
    const wins = entry.take_wins ? winningCells(entry.rules, board) : [];
    const reply = greedy(values, (cell) => (wins.length ? wins.includes(cell) : board[cell] === EMPTY));
    const move = entry.mask || wins.length ? reply : greedy(values, () => true);
    return { values, move, moves: [move], reply };
  };
}

/** Return the cells that complete a line of the seat to move. */
function winningCells(rules, board) {
  const seat = seatToMove(board);
  return emptyCells(board).filter((cell) => linesOf(rules, withMark(board, cell, MARKS[seat]), seat).length);
}

/** Return the evaluation of a snapshot; on a larger board what its run says of it. */
function judgedThen(rules, look, history, steps) {
  const rest = { wrong: [], number: 0, reached: null, different: 0, kind: "beaten" };
  if (rules.rows * rules.cols > FOLLOWED_CELLS) {
    const { ways, exact, steps: then } = history.findLast((point) => point.steps <= steps) ?? history[0] ?? { ways: 0, exact: false };
    const verdict = "The mistakes of an earlier player are listed on boards of up to 9 squares.";
    const about = then !== steps;
    return { ...rest, verdict, about, proved: exact && !about && ways === 0 ? "unbeatable" : null, complete: exact, ways: [ways], games: [] };
  }
  const games = lostGames(rules, look);
  const ways = [0, 1].map((seat) => games.filter((game) => loserOf(rules, game) === seat).length);
  const verdict = games.length ? "It can be beaten." : "No reply beats it.";
  return { ...rest, verdict, proved: games.length ? null : "unbeatable", complete: true, ways, games };
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

function oneOf(things) {
  return things[Math.floor(Math.random() * things.length)];
}

const ALGORITHMS = { dqn: "DQN", "minimax-q": "Minimax-Q", "afterstate-q": "Afterstate Q", "td-value": "TD values", "td-backup": "TD backup" };

/** Give each player a title, "DQN, learning rate 0.001 (seed 5)"; where two have the same one, with the name of its folder. */
function titled(players) {
  const titles = players.map(titleOf);
  return players.map((player, i) => {
    const unique = titles.filter((title) => title === titles[i]).length === 1;
    return { ...player, title: unique ? titles[i] : `${titles[i]} (${player.name})` };
  });
}

function titleOf({ name, kind, run, differs }) {
  if (name === "shipped") {
    return "Shipped player";
  }
  if (kind === "built-in") {
    return name[0].toUpperCase() + name.slice(1);
  }
  if (!run || !differs) {
    return name;
  }
  const settings = differs.split(", ").filter((setting) => !/^(total steps|eval every) /.test(setting)); // how long, not what
  const seed = settings.pop();
  return `${[ALGORITHMS[kind] ?? kind, ...settings].join(", ")} (${seed})`;
}
