// What both learners of the playground do: they play by the rules, and turn plies into transitions and targets, with the
// names and signs of selfplay.dqn.dqn.
import { ALLOW } from "./game_table.js";

/** In place of a move: any may follow. */
export const ANY = -1;
/**
 * By target: the plies from a move to the position that it bootstraps from, and 1 if what is good for the seat to move
 * there is good for the seat that made the move, -1 if it is bad.
 */
const BOOTSTRAPS = {
  negamax: { plies: 1, sign: -1 },
  independent: { plies: 2, sign: 1 },
  article: { plies: 1, sign: 1 },
};

/** Return what Q(s, a) should be: the reward, and while the game continues the discounted value of what follows. */
export function tdTarget(target, reward, continues, value, gamma) {
  return reward + continues * BOOTSTRAPS[target].sign * gamma * value;
}

/**
 * Make a board; the function that is returned plays a ply on it, and begins a new game where one has ended. A learner gives
 * the `rewards` by event, of the seat that moved and of the other one; its `best` cell in a row, and its `tries`, of which a
 * random move is one; and the `start` of a new game, a row and the cell to be marked next. `learn` gets each transition once
 * it is complete: a row, the cell, the reward of its mover until the `next` row, from which the target bootstraps, and
 * `continues`, 0 if the game has ended by then.
 */
export function selfPlay(game, settings, random, { rewards, best, tries, start, learn }) {
  let [row, move] = [0, ANY];
  let own = 0; // its seat in this game against a random opponent
  let waiting = null; // the ply before, whose target needs the next one
  const learns = (seat) => settings.opponent === "itself" || seat === own;

  function choose(seat) {
    if (move !== ANY) {
      return move;
    }
    if (!learns(seat)) {
      return anyOf(game.legal[row], random);
    }
    return random() < settings.explore ? anyOf(tries(row), random) : best(row);
  }

  return () => {
    const seat = game.seats[row];
    const cell = choose(seat);
    const event = game.events[row * game.cells + cell];
    const next = game.after[row * game.cells + cell];
    const continues = event <= ALLOW ? 1 : 0;
    const ply = { row, cell, reward: rewards.own[event], next, continues };
    if (waiting !== null && learns(1 - seat)) {
      learn({ ...waiting, reward: waiting.reward + rewards.other[event], next, continues });
    }
    waiting = continues && BOOTSTRAPS[settings.target].plies === 2 ? ply : null;
    if (waiting === null && learns(seat)) {
      learn(ply);
    }
    [row, move] = continues ? [next, ANY] : start();
    own = continues ? own : 1 - own;
  };
}

/** Return one of some things. */
export function anyOf(things, random) {
  return things[Math.floor(random() * things.length)];
}

/** Return a generator of numbers between 0 and 1: the xorshift of 32 bits (Marsaglia 2003). */
export function randomNumbers(seed) {
  let state = Math.imul(seed + 1, 0x9e3779b1); // not 0, which would stay 0
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
