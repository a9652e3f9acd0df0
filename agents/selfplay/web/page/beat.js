// The panel "Beat it": a ladder of opponents that are ever harder to beat, and the review of the game on the board.
import { button, html } from "./dom.js";
import { gameFrom, lookedAt, positionOf, seatOfPly } from "./game.js";
import { EMPTY, MARKS, emptyBoard, sameRules, squareWords } from "./rules.js";
import { statusOf, waysText } from "./evaluation.js";
import { numberText, valueText } from "./sentences.js";
import { stopsOf } from "./time_bar.js";

const RANKS = { loss: 0, draw: 1, win: 2 };

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function beatPanel(app) {
  const ladder = html("ol", { class: "ladder" });
  const review = html("div", { class: "stack" });
  const tally = html("p", { class: "hint tally" });
  const root = html("div", {},
    html("h3", {}, "The ladder"), html("p", { class: "hint" }, "Beat one, and climb to the next. A hint gives the next move of a way to win."), ladder,
    html("h3", {}, "This game"), review, tally);
  const counts = { win: 0, draw: 0, loss: 0 };
  const beaten = new Set();
  const ways = new Map();
  let base = null;
  let rungs = [];
  let counted = null;
  let reviewed = null;

  function count() {
    const { game, seat, player, steps, mistake } = app.state;
    const end = app.position();
    const own = game.cells.some((_, ply) => seatOfPly(game, ply) === seat);
    if (!end.over || game.at < game.cells.length || !own || counted === game || (mistake && game.cells === mistake.game)) {
      return;
    }
    counted = game;
    const result = resultFor(end, seat);
    counts[result] += 1;
    if (result === "win" && game.start === emptyBoard(app.rules())) {
      beaten.add(`${player} ${steps}`);
    }
  }

  /** Request in how many ways a rung can be beaten, one after the other. */
  async function ask() {
    for (const { player, steps } of rungs) {
      const key = `${player} ${steps}`;
      if (!ways.has(key)) {
        ways.set(key, "\u2026");
        const words = await app.evaluation(player, steps).then(rungText, (error) => error.message);
        ways.set(key, words);
        drawLadder();
      }
    }
  }

  function drawLadder() {
    const now = `${app.state.player} ${app.state.steps}`;
    ladder.replaceChildren(...rungs.map(({ player, steps, words }) => {
      const key = `${player} ${steps}`;
      const click = () => app.update({ player, steps, game: gameFrom(emptyBoard(app.rules())), setup: null, playing: false });
      const rung = button("", click, { class: "rung", "aria-current": key === now ? "true" : null });
      rung.append(html("b", {}, words), html("span", {}, `${beaten.has(key) ? "\u2713 beaten \u00b7 " : ""}${ways.get(key) ?? ""}`));
      return html("li", {}, rung);
    }));
  }

  async function drawReview() {
    const { game } = app.state;
    if (reviewed === game) {
      return;
    }
    reviewed = game;
    const over = positionOf(app.rules(), game, game.cells.length).over;
    const plies = over ? await Promise.all(game.cells.map((cell, ply) => judged(app, game, cell, ply))) : game.cells.map(() => null);
    if (reviewed === game) {
      review.replaceChildren(...reviewOf(app, game, plies, over));
    }
  }

  return {
    root,
    always() {
      counted ??= app.state.game; // a game from a link was not played on this visit
      count();
    },
    show() {
      const chosen = app.player();
      if (chosen.run || base === null || !sameRules(base.rules, chosen.rules)) { // else the ladder stays while one climbs it
        base = chosen;
      }
      rungs = rungsOf(app.players, base);
      drawLadder();
      ask();
      drawReview();
      tally.textContent = `On this visit you have won ${counts.win}, drawn ${counts.draw} and lost ${counts.loss}.`;
    },
  };
}

function resultFor(position, seat) {
  if (position.winner === null) {
    return "draw";
  }
  return position.winner === seat ? "win" : "loss";
}

function rungText(evaluation) {
  const status = statusOf(evaluation);
  if (status === "beaten") {
    return waysText(evaluation);
  }
  return status === "unknown" ? "not proved" : "proved: no way to beat it";
}

/** Return the opponents of the ladder, the easiest first: built-in ones, two snapshots, the player, the shipped one. */
function rungsOf(players, base) {
  const usable = players.filter((each) => each.error === null && sameRules(each.rules, base.rules));
  const named = (name) => usable.filter((each) => each.name === name && each.index !== base.index);
  const stops = stopsOf(base.snapshots).slice(0, -1);
  const then = [0.35, 0.8].map((part) => stops[Math.floor(part * stops.length)]).filter(Boolean);
  const whole = (player) => ({ player: player.index, steps: null, words: player.title });
  return [
    ...[...named("random"), ...named("heuristic")].map(whole),
    ...then.map((steps) => ({ player: base.index, steps, words: `${base.title} after ${numberText(steps)} ${base.unit}` })),
    whole(base),
    ...named("shipped").map(whole),
  ];
}

/** Return what is true of a ply: what it gives away, or null, and what its mover has learned of it. */
async function judged(app, game, cell, ply) {
  const position = positionOf(app.rules(), game, ply);
  const analysis = await app.look(position.board).catch(() => null);
  if (analysis === null) {
    return null;
  }
  return { given: givenAway(position.board, analysis, cell), learned: analysis.values?.[cell] ?? null };
}

/** Return what a move gives away: "win" or "draw", "square" for a taken one, null for nothing or what is not known. */
function givenAway(board, { exact, position }, cell) {
  if (board[cell] !== EMPTY) {
    return "square";
  }
  return position !== null && exact[cell] !== null && RANKS[exact[cell]] < RANKS[position] ? position : null;
}

function reviewOf(app, game, plies, over) {
  const { seat } = app.state;
  if (!game.cells.length) {
    return [html("p", { class: "hint" }, "No move yet. After each game you see here where a draw or a win was given away.")];
  }
  const rows = game.cells.map((cell, ply) => plyRow(app, game, cell, ply, plies[ply]));
  const wrong = plies.filter((each) => each?.given).length;
  let about = `Click a move to go back to it. You are ${MARKS[seat]}.`;
  if (over) {
    about = `${wrong ? "Moves that give something away are marked." : "Nobody gave anything away."} You were ${MARKS[seat]}.`;
  }
  return [html("p", { class: "hint" }, about), html("ol", { class: "plies" }, ...rows)];
}

function plyRow(app, game, cell, ply, judgement) {
  const rules = app.rules();
  const mover = seatOfPly(game, ply);
  const mark = MARKS[mover];
  const open = button("", () => app.update({ game: lookedAt(app.state.game, ply + 1) }), {
    class: "move", "aria-current": game.at === ply + 1 ? "step" : null, "aria-label": `${mark}, ${squareWords(cell)}`,
  });
  open.append(`${ply + 1}. `, html("b", { class: `of-${mark}` }, mark), ` ${cell + 1}`);
  const given = judgement?.given ?? null;
  if (given === null) {
    return html("li", {}, open);
  }
  const words = given === "square" ? "marks a taken square" : `gives the ${given} away`;
  const own = mover === app.state.seat;
  const believed = !own && judgement.learned !== null ? `, and believed ${valueText(judgement.learned)}` : "";
  const retry = () => app.update({ game: gameFrom(game.start, game.cells.slice(0, ply)), seat: mover, setup: null });
  return html("li", { class: "turning" }, open, html("span", { class: "flag" }, `${own ? "you: " : "it: "}${words}${believed}`),
    own ? button("Try that move again", retry) : null);
}
