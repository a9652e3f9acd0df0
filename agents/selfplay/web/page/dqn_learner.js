// Deep Q-learning for two players, as in selfplay.dqn.dqn, with a network of 27 inputs, 64 hidden units and 9 values.
import { bestCells, cellOf, counterexampleStarts } from "./judge.js";
import { ANY, anyOf, selfPlay, tdTarget } from "./self_play.js";

const CELLS = 9;
const INPUTS = 3 * CELLS;
const HIDDEN = 64;
/** Where the parts of a network are in its weights: inputs to hidden, their biases, hidden to values, their biases. */
const BIAS = INPUTS * HIDDEN;
const OUTPUT = BIAS + HIDDEN;
const OUTPUT_BIAS = OUTPUT + CELLS * HIDDEN;
const SIZE = OUTPUT_BIAS + CELLS;

/** By event: the rewards "shaped" of the environment. */
const DQN_REWARDS = { own: [0, -1, 0, 1, -10], other: [0, 0, 0, 0, 0] };
const BOARDS = 256;
const BATCH = 192;
const MEMORY = 10_000;
const WARMUP = 1024;
const UPDATES_PER_STEP = 2;
const DQN_GAMMA = 0.99;
const SOFT_UPDATE = 0.06;
const RATE_HOLD = 600;
const [BETA_1, BETA_2, TINY] = [0.9, 0.999, 1e-8]; // of Adam
const STARTS = 0.9; // part of the new games that begins at a counterexample
const [ENOUGH, EARLIER] = [64, 256]; // counterexamples of the last verdict, and those before that are remembered
const MARGIN = 0.4; // moves that are so much worse are followed too when counterexamples are looked for

/** Return a network's first weights, uniform in +-1/sqrt(inputs of a unit), as PyTorch's are. */
function firstWeights(random) {
  return Float32Array.from({ length: SIZE }, (_, at) => (2 * random() - 1) / Math.sqrt(at < OUTPUT ? INPUTS : HIDDEN));
}

/** Add a multiple of one number for each hidden unit to another; `to` and `from` are where they begin. */
function addUnits(sums, to, numbers, from, factor) {
  for (let unit = 0; unit < HIDDEN; unit += 1) {
    sums[to + unit] += factor * numbers[from + unit];
  }
}

/** Compute the hidden units for the inputs that are 1, of which each cell has one. */
function computeHidden(weights, inputs, hidden) {
  hidden.fill(0);
  addUnits(hidden, 0, weights, BIAS, 1);
  for (const input of inputs) {
    addUnits(hidden, 0, weights, input * HIDDEN, 1);
  }
  for (let unit = 0; unit < HIDDEN; unit += 1) {
    hidden[unit] = Math.max(0, hidden[unit]);
  }
}

function valueOf(weights, hidden, cell) {
  const from = OUTPUT + cell * HIDDEN;
  let sum = weights[OUTPUT_BIAS + cell];
  for (let unit = 0; unit < HIDDEN; unit += 1) {
    sum += weights[from + unit] * hidden[unit];
  }
  return sum;
}

/** Return the turns and reflections of the board in the order of tictactoe.symmetry: of each cell where it comes from. */
function squareSymmetries() {
  const same = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const turn = (board) => [2, 5, 8, 1, 4, 7, 0, 3, 6].map((cell) => board[cell]);
  const flip = (board) => [2, 1, 0, 5, 4, 3, 8, 7, 6].map((cell) => board[cell]);
  return [same, turn(turn(same)), turn(same), turn(turn(turn(same)))].flatMap((board) => [board, flip(board)]);
}

/**
 * Return how the network sees each position: by row the number of its view, and for each cell of the view the cell of the
 * board; by view its inputs and its empty cells. Canonical views are the same for all turned and reflected boards.
 */
function viewsOf(game, canonical) {
  const symmetries = squareSymmetries().slice(0, canonical ? 8 : 1);
  const [views, origins, inputs, legal] = [0, 1, 2, 3].map(() => Array(game.rows));
  for (const row of game.decisions) {
    const marks = game.digits[row].map((digit) => (digit === 0 || game.seats[row] === 0 ? digit : 3 - digit)); // 1 is mine
    const numbers = symmetries.map((origin) => origin.reduce((sum, cell, at) => sum + marks[cell] * 3 ** at, 0));
    views[row] = Math.min(...numbers);
    origins[row] = symmetries[numbers.indexOf(views[row])];
    inputs[views[row]] = origins[row].map((cell, at) => 3 * at + marks[cell]);
    legal[views[row]] = origins[row].flatMap((cell, at) => (marks[cell] === 0 ? [at] : []));
  }
  return { views, origins, inputs, legal };
}

/** Make a learner; `advance` plays a ply on every board and learns from it. */
export function dqnLearner(game, settings, random) {
  const additions = settings.additions === "on";
  const { views, origins, inputs, legal } = viewsOf(game, additions);
  const all = squareSymmetries()[0];
  const open = (view) => (settings.illegal === "mask" ? legal[view] : all);
  const weights = firstWeights(random);
  const [target, average] = [weights.slice(), weights.slice()];
  const judged = additions ? average : weights; // the player
  const [gradient, moment, square] = [0, 1, 2].map(() => new Float32Array(SIZE));
  const [hidden, values] = [new Float32Array(HIDDEN), new Float32Array(CELLS)];
  const capacity = settings.replay === "on" ? MEMORY : BOARDS;
  const memory = []; // the newest transitions, as the network sees them, in a ring
  const counts = { plies: 0, updates: 0, stored: 0 };
  let [last, earlier] = [[], []]; // starts of games, of the last evaluation and of those before

  const learner = { rewards: DQN_REWARDS, best, tries: (row) => game.legal[row], start, learn: remember };
  const boards = Array.from({ length: BOARDS }, () => selfPlay(game, settings, random, learner));

  function remember({ row, cell, reward, next, continues }) {
    memory[counts.stored % capacity] = { view: views[row], cell: origins[row].indexOf(cell), reward, next: views[next], continues };
    counts.stored += 1;
  }

  function computeValues(network, view) {
    computeHidden(network, inputs[view], hidden);
    for (let cell = 0; cell < CELLS; cell += 1) {
      values[cell] = valueOf(network, hidden, cell);
    }
  }

  function best(row) {
    computeValues(weights, views[row]);
    return origins[row][cellOf(bestCells(values, 0, open(views[row])))];
  }

  function start() {
    const some = random() * ENOUGH < last.length ? last : earlier;
    return some.length && random() < STARTS ? anyOf(some, random) : [0, ANY];
  }

  function targetOf({ reward, next, continues }) {
    if (!continues) {
      return reward;
    }
    computeValues(target, next);
    return tdTarget(settings.target, reward, continues, values[cellOf(bestCells(values, 0, open(next)))], DQN_GAMMA);
  }

  /** Add what a transition contributes to the gradient of Huber's loss, the mean over a batch. */
  function addGradient({ view, cell }, wanted, size) {
    computeHidden(weights, inputs[view], hidden);
    const error = valueOf(weights, hidden, cell) - wanted;
    const slope = Math.max(-1, Math.min(1, error)) / size;
    const out = OUTPUT + cell * HIDDEN;
    gradient[OUTPUT_BIAS + cell] += slope;
    addUnits(gradient, out, hidden, 0, slope);
    for (let unit = 0; unit < HIDDEN; unit += 1) {
      hidden[unit] = hidden[unit] > 0 ? slope * weights[out + unit] : 0; // from here on the slope in this unit
    }
    addUnits(gradient, BIAS, hidden, 0, 1);
    for (const input of inputs[view]) {
      addUnits(gradient, input * HIDDEN, hidden, 0, 1);
    }
  }

  /** Take a step of Adam towards the targets of some transitions; the target network and the average follow. */
  function update(batch) {
    const targets = batch.map(targetOf);
    gradient.fill(0);
    batch.forEach((transition, i) => addGradient(transition, targets[i], batch.length));
    counts.updates += 1;
    const number = counts.updates;
    const rate = settings.rate * (additions ? Math.min(1, RATE_HOLD / number) : 1);
    const step = rate / (1 - BETA_1 ** number);
    const scale = Math.sqrt(1 - BETA_2 ** number);
    const follow = settings.targetNetwork === "on" ? SOFT_UPDATE : 1;
    for (let at = 0; at < SIZE; at += 1) {
      moment[at] += (1 - BETA_1) * (gradient[at] - moment[at]);
      square[at] += (1 - BETA_2) * (gradient[at] ** 2 - square[at]);
      weights[at] -= step * moment[at] / (Math.sqrt(square[at]) / scale + TINY);
      target[at] += follow * (weights[at] - target[at]);
      average[at] += 2 / (number + 1) * (weights[at] - average[at]); // the n-th weights count n times
    }
  }

  /** Return by row the set of the cells that the player may mark if it takes any that is at most so much worse. */
  function movesWithin(margin) {
    const known = Array(game.rows); // by view
    const moves = new Uint16Array(game.rows);
    for (const row of game.decisions) {
      const view = views[row];
      if (known[view] === undefined) {
        computeValues(judged, view);
        known[view] = bestCells(values, 0, open(view), margin);
      }
      origins[row].forEach((cell, at) => { moves[row] |= (known[view] >> at & 1) << cell; });
    }
    return moves;
  }

  return {
    counts, memory, weights, target, average, remember, targetOf, update, // for tests
    advance() {
      boards.forEach((play) => play());
      counts.plies += BOARDS;
      for (let i = 0; counts.plies >= WARMUP && i < UPDATES_PER_STEP; i += 1) {
        update(Array.from({ length: BATCH }, () => anyOf(memory, random)));
      }
    },
    moves: () => movesWithin(0),
    values(row) {
      computeValues(judged, views[row]);
      return origins[row].map((_, cell) => values[origins[row].indexOf(cell)]);
    },
    /** Start games where the player, or one that takes nearly as good moves, is beaten. */
    teach() {
      if (additions) {
        const different = new Map(); // one of the turned and reflected images of each
        for (const [row, move] of counterexampleStarts(game, movesWithin(MARGIN))) {
          different.set(`${views[row]} ${origins[row].indexOf(move)}`, [row, move]);
        }
        earlier = [...last, ...earlier].slice(0, EARLIER);
        last = [...different.values()];
      }
    },
  };
}
