// The panel "Proof": every reply to a player's moves in a seat, as a tree whose positions are followed until none is left.
import { button, html, setAttribute, svg } from "./dom.js";
import { smallBoard } from "./grid.js";
import { say } from "./messages.js";
import { EMPTY, MARKS, emptyBoard, emptyCells, outcome, squareWords, withMark } from "./rules.js";
import { counted, numberText } from "./sentences.js";
import { SOLVABLE_CELLS } from "./solve.js";
import { still } from "./time_bar.js";

const MOST_DRAWN = 1500; // positions of a seat that are asked for and drawn
const [DOTS_IN_ROW, APART] = [40, 25]; // dots in a row, and units between two
const [PAUSE_OF_TOUR, STEPS_OF_TOUR] = [50, 160]; // milliseconds between two steps, and about how many there are

/**
 * Return the positions in which a player moves in a seat, ply by ply as `levels`, and in the `order` in which they are done,
 * each after all that follow it; null if there are too many, or if it has no one move. A position has its `board`, the `move`, how that may `end` the
 * game, the `next` positions after the replies, its place `at` in the order, and whether the player is `beaten` from there.
 */
export async function proofTree(look, rules, seat) {
  const empty = emptyBoard(rules);
  let boards = seat === 0 ? [empty] : emptyCells(empty).map((cell) => withMark(empty, cell, MARKS[0]));
  const levels = [];
  const nodes = new Map();
  while (boards.length) {
    if (nodes.size + boards.length > MOST_DRAWN) {
      return null;
    }
    const level = await Promise.all(boards.map(async (board) => {
      const { move } = await look(board);
      return nodeOf(rules, board, move, seat);
    }));
    level.forEach((node) => nodes.set(node.board, node));
    levels.push(level);
    boards = [...new Set(level.flatMap(({ next }) => next))];
  }
  if ([...nodes.values()].some(({ move }) => move === null)) { // nothing follows it
    return null;
  }
  const order = [];
  const visit = (node) => {
    if (node.at === null) {
      node.at = -1;
      node.next = node.next.map((board) => nodes.get(board));
      node.next.forEach(visit);
      node.beaten ||= node.next.some(({ beaten }) => beaten);
      node.at = order.push(node) - 1;
    }
  };
  levels[0].forEach(visit);
  return { levels, order };
}

/** Return a node whose next are still boards. */
function nodeOf(rules, board, move, seat) {
  const node = { board, move, end: "", next: [], beaten: false, at: null };
  if (board[move] !== EMPTY) { // or none
    return { ...node, end: ", which is taken, and loses", beaten: true };
  }
  const after = withMark(board, move, MARKS[seat]);
  const { winner, over } = outcome(rules, after);
  if (over) {
    const end = winner === seat ? " and wins" : " and loses";
    return { ...node, end: winner === null ? " and draws" : end, beaten: winner === 1 - seat };
  }
  for (const cell of emptyCells(after)) {
    const reply = withMark(after, cell, MARKS[1 - seat]);
    const result = outcome(rules, reply);
    node.beaten ||= result.winner === 1 - seat;
    node.next.push(...(result.over ? [] : [reply]));
  }
  return node;
}

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function tourPanel(app) {
  const status = html("p", { class: "verdict", role: "status" });
  const seats = [0, 1].map((each) => button("", () => choose(each)));
  const play = button("", () => (timer === null ? begin() : halt()), { class: "watch" });
  const skip = button("Skip to the end", () => { halt(); go(order().length); });
  const range = html("input", { type: "range", class: "tour-range", "aria-label": "Positions followed", min: 0, input: () => { halt(); go(Number(range.value)); } });
  const tree = svg("svg", { class: "tour", role: "img" });
  const picture = html("div", { class: "tour-board" });
  const words = html("p", {});
  const whole = html("div", { class: "stack" }, html("div", { class: "row" }, ...seats, play, skip), range, html("div", { class: "card tour-now" }, picture, words), tree);
  const total = html("span", {});
  const root = html("div", {}, html("p", { class: "hint" }, "A proof tries every reply. Each dot is a position in which the player is to move. It is done when all that can "
    + "follow it is done. If none is left, and none has a cross, nobody can beat the player. ", total), status, whole);
  let wanted = null;
  let trees = [];
  let seat = 0;
  let at = 0;
  let timer = null;
  let dots = new Map();
  const order = () => trees[seat].order;

  async function load(key) {
    wanted = key;
    halt();
    whole.hidden = true;
    total.textContent = "";
    status.className = "verdict";
    status.textContent = "Asking for its move in each position that a reply leads to.";
    try {
      const large = app.position().board.length > SOLVABLE_CELLS;
      const found = large ? [null] : await Promise.all([0, 1].map((each) => proofTree(app.look, app.rules(), each)));
      if (key === wanted && found.includes(null)) {
        status.textContent = "This player chooses among several moves, or the replies lead to too many positions to be drawn here.";
      } else if (key === wanted) {
        trees = found;
        whole.hidden = false;
        total.textContent = `Both seats have ${numberText(found[0].order.length + found[1].order.length)} positions.`;
        choose(0);
      }
    } catch (error) {
      status.textContent = error.message;
      wanted = key === wanted ? null : wanted;
    }
  }

  function choose(chosen) {
    halt();
    seat = chosen;
    seats.forEach((each, i) => {
      each.textContent = `As ${MARKS[i]}: ${counted(trees[i].order.length, "position")}`;
      setAttribute(each, "aria-pressed", String(i === seat));
    });
    range.max = String(order().length);
    drawTree();
    go(0);
  }

  function drawTree() {
    dots = new Map();
    let top = APART;
    for (const level of trees[seat].levels) {
      level.forEach((node, i) => {
        const inRow = Math.min(DOTS_IN_ROW, level.length - Math.floor(i / DOTS_IN_ROW) * DOTS_IN_ROW);
        const x = (DOTS_IN_ROW / 2 + (i % DOTS_IN_ROW) - (inRow - 1) / 2) * APART;
        dots.set(node, { x, y: top + Math.floor(i / DOTS_IN_ROW) * APART, dot: svg("path", {}) });
      });
      top += (Math.ceil(level.length / DOTS_IN_ROW) + 1.2) * APART;
    }
    setAttribute(tree, "viewBox", `0 0 ${DOTS_IN_ROW * APART} ${top - APART}`);
    tree.replaceChildren(svg("path", { class: "tour-lines" }), ...[...dots.values()].map(({ dot }) => dot));
  }

  function go(to) {
    at = Math.min(to, order().length);
    range.value = String(at);
    for (const [node, { x, y, dot }] of dots) {
      const done = node.at < at;
      setAttribute(dot, "class", done ? `dot ${node.beaten ? "bad" : "good"}` : "dot");
      setAttribute(dot, "d", done && node.beaten ? `M${x - 7} ${y - 7}l14 14m-14 0l14-14` : `M${x - 7} ${y}a7 7 0 1 0 14 0a7 7 0 1 0-14 0`);
    }
    const node = order()[Math.max(0, at - 1)];
    const place = dots.get(node);
    setAttribute(tree.firstChild, "d", node.next.map((each) => `M${place.x} ${place.y}L${dots.get(each).x} ${dots.get(each).y}`).join(""));
    picture.replaceChildren(smallBoard(app.rules(), node.board, node.move));
    const then = node.next.length ? `, and ${counted(node.next.length, "position")} can follow, all done` : ", and every reply ends the game";
    words.textContent = `${MARKS[seat]} plays ${squareWords(node.move)}${node.end || then}.${node.beaten ? " From here it can be beaten." : ""}`;
    tell();
  }

  function tell() {
    const left = order().length - at;
    const beaten = order().slice(0, at).filter((node) => node.beaten).length;
    const end = beaten ? `From ${counted(beaten, "position")} it can be beaten.` : `No reply beats it as ${MARKS[seat]}.`;
    status.className = `verdict ${beaten ? "bad" : ""} ${left || beaten ? "" : "good"}`;
    status.textContent = `${numberText(left)} of ${numberText(order().length)} left as ${MARKS[seat]}. ${left && !beaten ? "" : end}`;
    setAttribute(range, "aria-valuetext", status.textContent);
    setAttribute(tree, "aria-label", `The tree of the proof as ${MARKS[seat]}: ${status.textContent}`);
    const start = still.matches ? "Step" : "\u25b6 Follow all replies";
    play.textContent = timer === null ? start : "Pause";
  }

  function begin() {
    const from = at === order().length ? 0 : at;
    timer = still.matches ? null : setInterval(step, PAUSE_OF_TOUR);
    go(still.matches ? from + 1 : from); // steps instead of motion
  }

  function step() {
    go(at + Math.ceil(order().length / STEPS_OF_TOUR));
    if (at === order().length) {
      halt();
      say(status.textContent);
    }
  }

  function halt() {
    clearInterval(timer);
    timer = null;
    if (trees.length) {
      tell();
    }
  }

  return {
    root,
    always() {
      if (timer !== null && app.state.view !== "proof") {
        halt();
      }
    },
    show() {
      const key = `${app.state.player} ${app.state.steps}`;
      if (key !== wanted && !app.state.playing) {
        load(key);
      }
    },
  };
}
