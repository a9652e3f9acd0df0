// The worker of the playground: it trains a learner, judges it now and then, and reports to the page.
import { dqnLearner } from "./dqn_learner.js";
import { gameTable } from "./game_table.js";
import { cellOf, judge } from "./judge.js";
import { positionNumber } from "./rules.js";
import { randomNumbers } from "./self_play.js";
import { tableLearner } from "./table_learner.js";

/** By algorithm: what makes the learner, the plies between two verdicts, and those after which it pauses. */
const LEARNERS = {
  dqn: { make: dqnLearner, every: 1024, most: 1_000_000 },
  table: { make: tableLearner, every: 20_000, most: 20_000_000 },
};
const PROOFS_TO_STOP = 3; // in a row

const game = gameTable({ rows: 3, cols: 3, k: 3 });
let training = null; // the run: its settings, its learner and what was found of it
let asked = { board: ".........", wait: 50, running: false };
let timer = null;

/** Follow every reply to the learner's moves. */
function evaluate() {
  const { learner, points, proofs } = training;
  const moves = learner.moves();
  const seats = judge(game, moves);
  const ways = seats.map((seat) => seat.ways);
  const games = seats.map((seat) => seat.shortest).filter((cells) => cells.length);
  const [shortest = []] = games.sort((one, other) => one.length - other.length);
  points.push({ steps: learner.counts.plies, ways: ways[0] + ways[1], exact: true });
  Object.assign(training, { moves, ways, shortest, proofs: ways[0] + ways[1] === 0 ? proofs + 1 : 0 });
}

/** Train up to the next verdict. */
function step() {
  const started = performance.now();
  const { learner, every, most } = training;
  const due = learner.counts.plies + every;
  while (learner.counts.plies < due) {
    learner.advance();
  }
  evaluate();
  learner.teach?.();
  training.seconds += (performance.now() - started) / 1000;
  training.spent = due >= most;
  if (training.proofs === PROOFS_TO_STOP || training.spent) {
    asked.running = false;
  }
}

/**
 * Report the run's number, whether it is running, and whether all its moves are spent; the verdicts since the last report; of the last one the ways to beat
 * it as X and as O and a shortest game that does; and what it has learned and would mark on the board that was asked for.
 */
function report() {
  const { run, ways, shortest, seconds, learner, moves, points, spent } = training;
  const { board, running } = asked;
  const row = positionNumber(board);
  postMessage({ run, running, spent, points: points.splice(0), ways, shortest, seconds, board, values: [...learner.values(row)], move: cellOf(moves[row]) });
}

/** Train until the next report is due, and continue after requests that have come meanwhile. */
function keepRunning() {
  const end = performance.now() + asked.wait;
  while (asked.running && performance.now() < end) {
    step();
  }
  report();
  timer = asked.running ? setTimeout(keepRunning) : null;
}

/** A request has a new `run` with its `settings`, or `step`, or changes what is `asked`; a report answers it. */
onmessage = ({ data: { run, settings, step: once, ...change } }) => {
  asked = { ...asked, ...change };
  if (settings) {
    const { make, ...kind } = LEARNERS[settings.algorithm];
    const numbers = { rate: Number(settings.rate), explore: Number(settings.explore) };
    const learner = make(game, { ...settings, ...numbers }, randomNumbers(Number(settings.seed)));
    training = { run, ...kind, learner, points: [], proofs: 0, seconds: 0, spent: false };
    evaluate();
  }
  if (once) {
    step();
  }
  report();
  clearTimeout(timer);
  timer = asked.running ? setTimeout(keepRunning) : null;
};
