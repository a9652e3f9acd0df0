// Minimax-Q in a table, as selfplay.tabular.learners.MinimaxQ: a value for each cell of each position. Here it is the value
// to the seat that moves; there the second seat's have the other sign.
import { bestCells, cellOf } from "./judge.js";
import { ANY, selfPlay, tdTarget } from "./self_play.js";

/** By event; a taken cell costs as much as a loss. */
const TABLE_REWARDS = { own: [0, 0, 0, 1, -1], other: [0, 0, 0, -1, 0] };
const TABLE_GAMMA = 0.9;

/** Return a standard normal number (Box and Muller 1958). */
function normal(random) {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Make a learner; `advance` plays and learns from one ply. */
export function tableLearner(game, settings, random) {
  const { cells, legal } = game;
  const all = Array.from({ length: cells }, (_, cell) => cell);
  const table = Float64Array.from({ length: game.rows * cells }, () => normal(random));
  const counts = { plies: 0 };
  const open = (row) => (settings.illegal === "mask" ? legal[row] : all);
  const best = (row) => cellOf(bestCells(table, row * cells, open(row)));
  const play = selfPlay(game, settings, random, { rewards: TABLE_REWARDS, best, tries: open, start: () => [0, ANY], learn });

  function learn({ row, cell, reward, next, continues }) {
    const value = continues ? table[next * cells + best(next)] : 0;
    const target = tdTarget(settings.target, reward, continues, value, TABLE_GAMMA);
    table[row * cells + cell] += settings.rate * (target - table[row * cells + cell]);
  }

  return {
    table,
    counts,
    advance() {
      play();
      counts.plies += 1;
    },
    moves: () => Uint16Array.from({ length: game.rows }, (_, row) => (legal[row] ? 1 << best(row) : 0)),
    values: (row) => table.slice(row * cells, (row + 1) * cells),
  };
}
