// The board of the playground, what its learner believes of a position beside what is true, and how it is beaten.
import { playingBoard } from "./board.js";
import { button, html, setAttribute } from "./dom.js";
import { gameFrom, lookedAt, loserOf, played, playThrough, positionOf } from "./game.js";
import { exactMap, learnedMap } from "./heat_map.js";
import { legendOf } from "./inside.js";
import { EMPTY, MARKS, emptyBoard, linesOf } from "./rules.js";
import { exactSentence } from "./sentences.js";
import { truthTeller } from "./solve.js";

const RULES = { rows: 3, cols: 3, k: 3 };
const FIRST = [0]; // after a corner only the centre keeps the draw
/** A learner of the playground as the heat maps know players. */
const LEARNER = { rules: RULES, kind: "own", run: true, worth: { loss: -1, draw: 0, win: 1, allow: 0 } };

/** Make the maps and the table with the board; `ask` requests a report on a board. */
export function playgroundGame(ask) {
  const truthOf = truthTeller(RULES, linesOf(RULES, MARKS[0].repeat(9), 0));
  const place = html("div", {});
  const showBoard = playingBoard(place, choose);
  const status = html("p", { class: "hint", role: "status" });
  const shortest = html("p", { class: "hint shortest" });
  const maps = html("div", { class: "maps" });
  const legend = html("div", { class: "legends" });
  const [move, back, forward, watch] = [
    ["Let it move", () => letMove()],
    ["Back", () => go(lookedAt(game, game.at - 1))],
    ["Forward", () => go(lookedAt(game, game.at + 1))],
    ["Play that game", () => playThrough(gameFrom(emptyBoard(RULES), lost(), 0), go, () => game)],
  ].map(([words, click]) => button(words, click));
  let game = gameFrom(emptyBoard(RULES), FIRST);
  let report = null; // the newest one of the trainer
  let answers = false; // the learner is to move as soon as its move is known

  const now = () => positionOf(RULES, game);
  const isKnown = () => report?.board === now().board && !now().over;
  const lost = () => report?.shortest ?? []; // the shortest game that beats the learner

  function go(next, answered = false) {
    game = next;
    answers = answered;
    show();
    if (!now().over) {
      ask(now().board);
    }
  }

  function choose(cell) {
    if (!now().over && now().board[cell] === EMPTY) {
      go(played(game, cell), true);
    }
  }

  function letMove() {
    if (isKnown()) {
      go(played(game, report.move));
    }
  }

  function show() {
    const position = now();
    showBoard({ ...position, rules: RULES, filling: false, name: "Board of the playground, 3 by 3" });
    if (status.textContent !== statusWords(position)) { // else a screen reader would say it at each report
      status.textContent = statusWords(position);
    }
    shortest.textContent = lost().length ? `The shortest game that beats it: ${gameWords(lost())}` : "No game beats it.";
    const possible = [[move, !position.over], [back, game.at > 0], [forward, game.at < game.cells.length], [watch, lost().length > 0]];
    possible.forEach(([control, can]) => setAttribute(control, "aria-disabled", can ? null : "true"));
    maps.hidden = legend.hidden = position.over;
    if (isKnown()) {
      drawMaps(position.board, MARKS[position.seat]);
    }
  }

  function drawMaps(board, mover) {
    const analysis = { values: report.values, move: report.move, moves: [report.move], ...truthOf(board) };
    maps.replaceChildren(...[["What it believes", learnedMap], ["What is true", exactMap]].map(([words, map]) =>
      html("figure", {}, html("figcaption", {}, html("h2", {}, `${words} for\u00a0${mover}`)), map(LEARNER, board, analysis))));
    legend.replaceChildren(...legendOf(LEARNER, analysis), html("p", { class: "hint" }, exactSentence(board, analysis)));
  }

  return {
    maps: html("div", { class: "stack" }, maps, legend),
    table: html("div", { class: "stack" }, html("h2", {}, "Play against it as it is now"), status, place,
      html("div", { class: "row" }, move, back, forward), shortest, html("div", { class: "row" }, watch)),
    /** Return a board that the trainer can look at: one on which the game is not over. */
    board: () => (now().over ? emptyBoard(RULES) : now().board),
    update(newest) {
      report = newest;
      if (answers && isKnown()) {
        letMove();
      } else {
        show();
      }
    },
  };
}

function statusWords({ over, taken, winner, seat }) {
  if (!over) {
    return `${MARKS[seat]} is to move: mark a square, or let it move.`;
  }
  if (taken !== null) {
    return `${MARKS[1 - winner]} has marked a taken square and loses.`;
  }
  return winner === null ? "A draw." : `${MARKS[winner]} wins.`;
}

/** Return the moves of a lost game, "X1 O5 X2", and who loses it. */
function gameWords(cells) {
  const moves = cells.map((cell, ply) => MARKS[ply % 2] + (cell + 1)).join(" ");
  const loser = loserOf(RULES, cells);
  const how = (cells.length - 1) % 2 === loser ? "marks a taken square" : "loses";
  return `${moves}. It plays ${MARKS[loser]} and ${how}.`;
}
