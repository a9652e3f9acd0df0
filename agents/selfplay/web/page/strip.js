// The strip below the board: the moves of the game, what it was worth after each once it is over, and where it turned.
import { button, byId, html } from "./dom.js";
import { gameFrom, lookedAt, positionOf, seatOfPly } from "./game.js";
import { EMPTY, MARKS, squareWords } from "./rules.js";
import { SIGNS, valueText } from "./sentences.js";

const RANKS = { loss: 0, draw: 1, win: 2 };
const OF_THE_OTHER = { win: "loss", draw: "draw", loss: "win" };

/**
 * Make the strip, and return the function that shows it.
 *
 * @param {import("./main.js").App} app
 */
export function strip(app) {
  const moves = html("ol", { class: "strip" });
  const turns = html("ul", { class: "turns" });
  const key = html("p", { class: "hint" }, "With best play + you win, = draw, \u2212 you lose. ! Here the game turned.");
  byId("strip").append(moves, key, turns);
  let drawn = null;
  let plies = [];

  async function judge(wanted, { game, seat }, rules) {
    plies = game.cells.map(() => null);
    if (positionOf(rules, game, game.cells.length).over) { // during a game it would be a hint
      const found = await Promise.all(game.cells.map((cell, ply) => judged(app, game, cell, ply, seat)));
      if (wanted !== drawn) {
        return;
      }
      plies = found;
    }
    draw();
  }

  function draw() {
    const { game, seat } = app.state;
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
      judge(wanted, app.state, app.rules());
    }
    [...moves.children].forEach((move, ply) => {
      move.firstChild.ariaCurrent = game.at === ply + 1 ? "step" : null;
    });
  };
}

/** Return what a ply gives away, "square" for a taken one or null for nothing, its worth to a seat, and what its mover believes. */
async function judged(app, game, cell, ply, seat) {
  const { board, seat: mover } = positionOf(app.rules(), game, ply);
  const analysis = await app.look(board).catch(() => null);
  if (analysis === null) {
    return null;
  }
  const result = board[cell] === EMPTY ? analysis.exact[cell] : "loss";
  const worse = result !== null && RANKS[result] < RANKS[analysis.position] ? analysis.position : null;
  return { given: board[cell] === EMPTY ? worse : "square", worth: mover === seat ? result : OF_THE_OTHER[result] ?? null, believed: analysis.values?.[cell] ?? null };
}

function moveButton(app, game, cell, ply, judgement) {
  const mark = MARKS[seatOfPly(game, ply)];
  const worth = judgement?.worth ?? null;
  const go = () => app.update({ game: lookedAt(app.state.game, ply + 1) });
  const words = `${mark}, ${squareWords(cell)}${worth === null ? "" : `, then a ${worth} for you`}${judgement?.given ? ", where it turned" : ""}`;
  const classes = ["move", worth === null ? "" : `key ${worth}`, judgement?.given ? "turning" : ""].filter(Boolean).join(" ");
  const move = button("", go, { class: classes, "aria-label": words });
  move.append(html("b", { class: worth === null ? `of-${mark}` : null }, mark), `${cell + 1}`, html("span", {}, SIGNS[worth] ?? ""));
  return move;
}

/** Return the line on a ply at which the game turned; a move of one's own can be tried again. */
function turnLine(app, game, ply, { given, believed }, seat) {
  const mover = seatOfPly(game, ply);
  const own = mover === seat;
  const words = given === "square" ? "marks a taken square" : `gives the ${given} away`;
  const belief = !own && believed !== null ? `, and believed ${valueText(believed)}` : "";
  const retry = () => app.update({ game: gameFrom(game.start, game.cells.slice(0, ply)), seat: mover, setup: null });
  return html("li", {}, html("span", { class: "flag" }, `${own ? "you" : "it"}: ${MARKS[mover]}${game.cells[ply] + 1} ${words}${belief}`),
    own ? button("Try that move again", retry) : null);
}
