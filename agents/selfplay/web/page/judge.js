// The exact verdict, as in selfplay.judging: every reply to a player's moves is followed to the end. A set of cells is a
// number whose bit i is cell i.
import { ALLOW, ILLEGAL, WIN } from "./game_table.js";
import { ANY } from "./self_play.js";

/**
 * Return for each seat the ways to beat a player, and the cells of a shortest game that does, none if there is none;
 * `moves` has by row the set of the cells that it may mark.
 */
export function judge(game, moves) {
  return [0, 1].map((seat) => {
    const { ways, toLoss, soonest } = follow(game, moves, seat);
    const shortest = [];
    let row = 0;
    while (ways[0] > 0 && shortest.length < toLoss[0]) {
      const cell = cellOf(soonest[row] & -soonest[row]);
      shortest.push(cell);
      row = game.after[row * game.cells + cell];
    }
    return { ways: ways[0], shortest };
  });
}

/**
 * Follow a player in a seat. Return by row the ways to beat it from there (NaN where it does not come), by its own illegal
 * move or by a line; the plies to its loss; and the set of the cells, its own or replies, by which it loses soonest.
 */
function follow(game, moves, seat) {
  const ways = new Float64Array(game.rows).fill(NaN);
  const toLoss = new Float64Array(game.rows).fill(Infinity);
  const soonest = new Uint16Array(game.rows);

  function visit(row) {
    const own = game.seats[row] === seat;
    ways[row] = 0;
    for (let cell = 0; cell < game.cells; cell += 1) {
      const place = row * game.cells + cell;
      const event = game.events[place];
      const next = game.after[place];
      let plies = Infinity;
      if (own ? (moves[row] >> cell & 1) === 0 : event === ILLEGAL) {
        continue;
      }
      if (event === (own ? ILLEGAL : WIN)) {
        ways[row] += 1;
        plies = 1;
      } else if (event <= ALLOW) {
        if (Number.isNaN(ways[next])) {
          visit(next);
        }
        ways[row] += ways[next];
        plies = 1 + toLoss[next];
      }
      if (plies < toLoss[row]) {
        toLoss[row] = plies;
        soonest[row] = 0;
      }
      if (plies < Infinity && plies === toLoss[row]) {
        soonest[row] |= 1 << cell;
      }
    }
  }

  visit(0);
  return { ways, toLoss, soonest };
}

/**
 * Return where training starts games, as pairs of a row and the cell to be marked next: the positions of a player's play
 * from which some replies beat it, and those after its losing moves, with each reply that beats it soonest.
 */
export function counterexampleStarts(game, moves) {
  return [0, 1].flatMap((seat) => {
    const { ways, soonest } = follow(game, moves, seat);
    const lost = game.decisions.filter((row) => ways[row] > 0);
    return lost.flatMap((row) => {
      if (game.seats[row] === seat) {
        return [[row, ANY]];
      }
      const replies = row === 0 ? [] : game.legal[row].filter((cell) => soonest[row] >> cell & 1); // 0: after no move
      return replies.map((cell) => [row, cell]);
    });
  });
}

/**
 * Return the set of the best of the open cells, the first of equals; with a margin, of all that are at most so much worse.
 * The values of the position begin at `start`.
 */
export function bestCells(values, start, open, margin = 0) {
  let best = open[0];
  for (const cell of open) {
    if (values[start + cell] > values[start + best]) {
      best = cell;
    }
  }
  let set = 1 << best;
  if (margin > 0) {
    for (const cell of open) {
      set |= values[start + cell] >= values[start + best] - margin ? 1 << cell : 0;
    }
  }
  return set;
}

/** Return the only cell of a set. */
export function cellOf(set) {
  return 31 - Math.clz32(set);
}
