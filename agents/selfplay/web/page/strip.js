// The strip below the board: the moves of the game, what it was worth after each once it is over, and where it turned.
import { button, byId, html } from "./dom.js";
import { cutAt, lookedAt, positionOf, seatOfPly } from "./game.js";
import { EMPTY, MARKS, squareWords } from "./rules.js";
import { SIGNS, valueText } from "./sentences.js";

const RANKS = { loss: 0, draw: 1, win: 2 };

/**
 * Make the strip, and return the function that shows it.
 *
 * @param {import("./main.js").App} app
 */
export function strip(app) {
  const moves = html("ol", { class: "strip" });
  const turns = html("ul", { class: "turns" });
  const key = html("p", { class: "hint" }, "What each move was worth to who made it, with best play from there: + a win, = a draw, \u2212 a loss. ! Here the game turned.");
  byId("strip").append(moves, key, turns);
  let drawn = null;

  function draw() {
    const { game, seat } = app.state;
    const { over } = positionOf(app.rules(), game, game.cells.length);
    const plies = game.cells.map((cell, ply) => (over ? judged(app, game, cell, ply) : null)); // during a game it would be a hint
    moves.replaceChildren(...game.cells.map((cell, ply) => html("li", {}, moveButton(app, game, cell, ply, plies[ply]))));
    key.hidden = !plies.some((each) => each?.worth);
    turns.replaceChildren(...plies.flatMap((each, ply) => (each?.given ? [turnLine(app, game, ply, each, seat)] : [])));
  }

  return () => {
    const { game, seat, player, steps, setup } = app.state;
    byId("strip").hidden = setup !== null || !game.cells.length;
    const wanted = `${player} ${steps} ${seat} ${game.start} ${game.cells}`;
    if (wanted !== drawn) {
      drawn = wanted;
      draw();
    }
    [...moves.children].forEach((move, ply) => {
      move.firstChild.ariaCurrent = game.at === ply + 1 ? "step" : null;
    });
  };
}

/**
 * Return what a ply gives away, "square" for a taken one or null for nothing; its worth to who made it; and, if the player
 * would make it, what it believes of it.
 */
function judged(app, game, cell, ply) {
  const { board } = positionOf(app.rules(), game, ply);
  const { exact, position, moves, reply, values } = app.look(board);
  const taken = board[cell] !== EMPTY;
  const worth = taken ? "loss" : exact[cell];
  const worse = RANKS[worth] < RANKS[position] ? position : null;
  return { given: taken ? "square" : worse, worth, own: reply === cell || moves.includes(cell), believed: values?.[cell] ?? null };
}

function moveButton(app, game, cell, ply, judgement) {
  const mark = MARKS[seatOfPly(game, ply)];
  const worth = judgement?.worth ?? null;
  const go = () => app.update({ game: lookedAt(app.state.game, ply + 1) });
  const words = `${mark}, ${squareWords(cell)}${worth === null ? "" : `, a ${worth} for ${mark}`}${judgement?.given ? ", where it turned" : ""}`;
  const classes = ["move", worth === null ? "" : `key ${worth}`, judgement?.given ? "turning" : ""].filter(Boolean).join(" ");
  const move = button("", go, { class: classes, "aria-label": words });
  move.append(html("b", { class: worth === null ? `of-${mark}` : null }, mark), `${cell + 1}`, html("span", {}, SIGNS[worth] ?? ""));
  return move;
}

/** Return the line on a ply at which the game turned; a move of one's own can be tried again. */
function turnLine(app, game, ply, { given, believed, own }, seat) {
  const mover = seatOfPly(game, ply);
  const yours = mover === seat;
  const words = given === "square" ? "marks a taken square" : `gives the ${given} away`;
  const its = own ? "It" : "The other seat"; // a link or another player may have made the move
  const belief = !yours && own && believed !== null ? `, and believed ${valueText(believed)}` : "";
  const retry = () => app.update({ game: cutAt(game, ply), seat: mover, setup: null });
  return html("li", {}, html("span", { class: "flag" }, `${yours ? "You" : its}: ${MARKS[mover]}${game.cells[ply] + 1} ${words}${belief}`),
    yours ? button("Try that move again", retry) : null);
}
