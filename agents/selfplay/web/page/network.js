// A trained DQN: the values that selfplay.dqn.player.QPlayer gives, by the same layers. The names of the weights say
// which layers there are.
import { seatToMove } from "./rules.js";

const DIGITS = 33; // in base 3 that Python's floats hold exactly, in which images are compared there

const TIE_BREAK = 1e-4; // that of selfplay.dqn.network

/**
 * @typedef {object} Game
 * @property {import("./rules.js").Rules} rules
 * @property {number[][]} lines The cells of each line.
 * @property {number[][]} symmetries Of each the cells that an image's cells come from.
 * @property {boolean} canonical It sees all turned and reflected boards as one of them.
 * @property {"mover" | "absolute" | null} perspective Planes that a network sees: mine and theirs, or X and O.
 */

/**
 * Return what gives the values of all cells, taken ones too, to the mover of a position.
 *
 * @param {Game} game
 * @param {Record<string, import("./safetensors.js").Tensor>} tensors
 * @returns {(board: string) => number[]}
 */
export function networkValues(game, tensors) {
  const names = ["shared", "first", "second"].filter((name) => `${name}.output.weight` in tensors);
  const networks = names.map((name) => network(game, (part) => tensors[`${name}.${part}`]));
  return (board) => {
    const seat = seatToMove(board);
    const planes = game.perspective === "mover" && seat === 1 ? ".OX" : ".XO";
    const marks = Array.from(board, (mark) => planes.indexOf(mark));
    const origin = game.canonical ? leastImage(marks, game.symmetries) : [...marks.keys()];
    const image = networks[Math.min(seat, networks.length - 1)](origin.map((cell) => marks[cell]));
    const values = [];
    origin.forEach((cell, at) => {
      values[cell] = image[at];
    });
    return values;
  };
}

/** Return the symmetry that leads to the image whose cells, read as numbers in base 3, are least; the first of equals. */
function leastImage(marks, symmetries) {
  const read = symmetries.map((origin) => {
    const digits = origin.map((cell) => marks[cell]);
    const numbers = [];
    for (let at = 0; at < digits.length; at += DIGITS) {
      numbers.push(...digits.slice(at, at + DIGITS).reverse());
    }
    return numbers.join(""); // of one length, so that texts have the order of their numbers
  });
  return symmetries[read.reduce((least, text, at) => (text < read[least] ? at : least), 0)];
}

/** Return the function from marks (of each cell 0, 1 or 2) to values; `part` gives a tensor by name, or undefined. */
function network(game, part) {
  const layer = (name) => {
    const weight = part(`${name}.weight`);
    return { weight, bias: part(`${name}.bias`)?.values ?? new Float64Array(weight.shape[0]) };
  };
  const layers = (prefix, suffix = "") => {
    const parts = [];
    while (part(`${prefix}.${parts.length}${suffix}.weight`)) {
      parts.push(layer(`${prefix}.${parts.length}${suffix}`));
    }
    return parts;
  };
  const rounds = layers("rounds", ".line").map((line, at) => {
    return { line, message: layer(`rounds.${at}.message`), cell: layer(`rounds.${at}.cell`) };
  });
  if (rounds.length > 0) {
    return messageNetwork(game, rounds, layer("mean"), [...layers("hidden"), layer("output")]);
  }
  const hidden = layers("hidden");
  const output = layer("output");
  return (marks) => {
    const observation = new Float64Array(3 * marks.length);
    marks.forEach((mark, cell) => {
      observation[3 * cell + mark] = 1;
    });
    let features = observation;
    for (const each of hidden) {
      features = relu(dense(each, features));
    }
    return dense(output, features);
  };
}

/** Return the same function of a network in which cells and lines tell each other what they know, in rounds. */
function messageNetwork({ lines }, rounds, mean, [first, ...others]) {
  return (marks) => {
    let cells = marks.map((mark) => Float64Array.from([0, 1, 2], (each) => Number(each === mark)));
    rounds.forEach(({ line, message, cell }, number) => {
      const told = lines.map((members) => dense(message, relu(dense(line, sum(members.map((at) => cells[at]))))));
      cells = cells.map((own, at) => {
        const messages = told.filter((_, from) => lines[from].includes(at));
        const learned = relu(sum([dense(cell, own), ...messages]));
        return number > 0 ? sum([own, learned]) : learned;
      });
    });
    const all = dense(mean, sum(cells).map((number) => number / cells.length));
    return cells.map((own, at) => {
      const seen = sum([dense(first, own), all]);
      return others.reduce((features, layer) => dense(layer, relu(features)), seen)[0] - TIE_BREAK * at;
    });
  };
}

function sum(vectors) {
  return vectors[0].map((_, at) => vectors.reduce((total, vector) => total + vector[at], 0));
}

function dense({ weight, bias }, inputs) {
  const outputs = Float64Array.from(bias);
  for (let input = 0; input < inputs.length; input += 1) {
    if (inputs[input] !== 0) { // most of a board's planes are
      for (let unit = 0; unit < outputs.length; unit += 1) {
        outputs[unit] += weight.values[unit * inputs.length + input] * inputs[input];
      }
    }
  }
  return outputs;
}

function relu(numbers) {
  return numbers.map((number) => Math.max(0, number));
}
