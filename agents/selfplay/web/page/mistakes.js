// The panel of a player's mistakes: the moves, up to symmetry, that lose most games first; and the way through them.
import { button, html, longList } from "./dom.js";
import { smallBoard } from "./grid.js";
import { gameFrom, lookedAt, played, playThrough, positionOf } from "./game.js";
import { EMPTY, MARKS, emptyBoard, seatToMove, squareWords } from "./rules.js";
import { capital, counted, listed, numberText, statusOf, stillWrong, valueText, waysText } from "./sentences.js";

const MOST_NAMED = 4;

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function mistakesPanel(app) {
  const root = html("div", {});
  let drawn = null;
  return {
    root,
    show() {
      const { player, steps, playing } = app.state;
      const key = `${player} ${steps} ${playing}`;
      if (key !== drawn) {
        drawn = key;
        root.replaceChildren(...(playing ? [html("p", { class: "hint" }, "Pause to see the mistakes of the player on the board.")] : drawMistakes(app)));
      }
    },
  };
}

function drawMistakes(app) {
  const evaluation = app.judged();
  const { verdict, wrong, different } = evaluation;
  const groups = evaluation.groups();
  const rating = { beaten: "bad", unknown: "open" }[statusOf(evaluation)] ?? "good";
  const losing = groups.filter(({ games }) => games > 0);
  const others = groups.filter(({ games }) => games === 0);
  const cards = (some) => longList(html("ul", { class: "cards" }), some.map((group) => () => html("li", {}, groupCard(app, group))));
  const some = wrong.length < different ? ` Shown are ${wrong.length} of ${numberText(different)}.` : "";
  return [
    html("p", { class: `verdict ${rating}` }, verdict),
    ...(losing.length ? [html("h3", {}, `${counted(losing.length, "move")} by which it loses`),
      html("p", { class: "hint" }, `Up to turning and reflecting the board; what loses most games first. Together they are in ${waysText(evaluation)}. Open one to land on that move.`), ...cards(losing)] : []),
    ...(others.length ? [html("h3", {}, othersHeading(evaluation, others) + some), html("p", { class: "hint" }, stillWrongWords(evaluation)), ...cards(others)] : []),
    ...(groups.length ? [] : [html("p", { class: "hint" }, nothingWords(evaluation))]),
  ];
}

/** Return what is said of a player without a known mistake. */
function nothingWords({ kind, complete, ways }) {
  if (kind === "optimal") {
    return "Its move keeps the value of every state.";
  }
  if (ways.some((number) => number > 0)) {
    return "Look at the player at the end of its run to see mistakes.";
  }
  return complete ? "No reply beats it." : "None was found in the part of its play that was followed.";
}

function othersHeading({ kind }, others) {
  if (kind === "optimal") {
    return `${counted(others.length, "wrong move")} that lose no game`;
  }
  return `${counted(others.length, "position")} from which some replies beat it`;
}

function stillWrongWords(evaluation) {
  if (evaluation.kind !== "optimal") {
    return "The board is too large to look at every state.";
  }
  const words = evaluation.proved === null ? null : stillWrong(evaluation);
  return words ?? `${counted(evaluation.number, "state")} of all have a wrong move. These are met only after other moves than its own, or turn a win into a draw.`;
}

function groupCard(app, group) {
  const card = button("", () => showMistake(app, group), { class: "card" });
  const lines = [...describe(group, app.look(group.board)), group.games ? `Loses ${counted(group.games, "game")}` : null, group.states > 1 ? `In ${counted(group.states, "such state")}` : null];
  card.append(smallBoard(app.rules(), group.board, group.move), html("span", { class: "card-words" },
    html("b", {}, headingOf(group)), ...lines.filter(Boolean).map((line) => html("span", {}, line))));
  return card;
}

/** Return the moves that lead to a mistake, of a game that is lost by it, or else the position. */
function headingOf({ board, game, ply }) {
  if (game !== null) {
    const moves = game.slice(0, ply).map((cell, i) => MARKS[i % 2] + (cell + 1));
    return moves.length ? `After ${moves.join(" ")}` : "The first move";
  }
  const marks = [...MARKS].map((mark) => [mark, [...board].flatMap((each, cell) => (each === mark ? [cell + 1] : []))]);
  return marks.filter(([, cells]) => cells.length).map(([mark, cells]) => `${mark} on ${listed(cells, "and")}`).join("; ") || "The empty board";
}

/** Return what is to be said of a mistake in short: what it plays and believes, what that is, and what is best. */
function describe({ board, move }, analysis) {
  const believed = analysis.values === null ? "" : `, believes ${valueText(analysis.values[move])}`;
  const truth = board[move] === EMPTY ? analysis.exact[move] : "taken square";
  const best = bestOf(analysis).map((cell) => cell + 1);
  const lines = [`Plays ${move + 1}${believed}`];
  if (truth !== null && analysis.position !== null) {
    lines.push(analysis.position === truth ? `Still a ${truth}` : `${capital(analysis.position)} \u2192 ${truth}`);
  }
  if (best.length && truth !== analysis.position) {
    lines.push(best.length > MOST_NAMED ? `${best.length} squares are best` : `Best: ${listed(best)}`);
  }
  return lines;
}

function bestOf({ exact, position }) {
  return exact.flatMap((result, cell) => (result !== null && result === position ? [cell] : []));
}

/** Return the game with a mistake, in front of it: a lost one if there is one, or else its position and the mistake. */
function gameOf(app, { game, ply, board, move }) {
  return game === null ? gameFrom(board, [move], 0) : gameFrom(emptyBoard(app.rules()), game, ply);
}

/** Put the position before a mistake on the board; the person has the other seat. */
export function showMistake(app, group, change = {}) {
  const seat = /** @type {0 | 1} */ (1 - seatToMove(group.board));
  app.go({ game: gameOf(app, group), seat, setup: null, view: "inside", playing: false, ...change });
}

/** Return the mistake on the board: the one whose game is there, made in the player's seat. */
function mistakeOnBoard(app) {
  const { game, seat, playing, setup } = app.state;
  if (playing || setup !== null) {
    return undefined;
  }
  return app.judged().groups().find((group) => {
    const { start, cells } = gameOf(app, group);
    return seat !== seatToMove(group.board) && start === game.start && cells.every((cell, ply) => game.cells[ply] === cell);
  });
}

/** Return what a snapshot believes of its mistake on the board, and what is true, in a sentence; null if none is there. */
export function mistakeSentence(app) {
  const { steps } = app.state;
  const mistake = steps === null ? undefined : mistakeOnBoard(app);
  if (mistake?.board !== app.position().board) {
    return null;
  }
  const { board, move } = mistake;
  const { values, exact } = app.look();
  const truth = board[move] === EMPTY ? `It is a ${exact[move]}` : "It is taken";
  return `After ${numberText(steps)} ${app.player().unit} this player believed that ${squareWords(move)} is worth ${valueText(values[move])} to ${MARKS[seatToMove(board)]}. ${truth}.`;
}

/**
 * Make the line above the maps when a mistake is on the board: which it is, and the buttons to the next one.
 *
 * @param {import("./main.js").App} app
 */
export function mistakeSteps(app) {
  const words = html("span", {});
  const list = button("All mistakes", () => app.go({ view: "mistakes" }));
  const before = button("\u25c0", () => step(-1), { "aria-label": "The previous mistake", class: "step" });
  const after = button("\u25b6", () => step(1), { "aria-label": "The next mistake", class: "step" });
  const punish = button("Show the punishment", () => playMistake(app, mistakeOnBoard(app)));
  const root = html("div", { class: "row mistake-steps" }, words, punish, before, after, list);

  function step(by) {
    const groups = app.judged().groups();
    const group = groups[groups.indexOf(mistakeOnBoard(app)) + by];
    if (group !== undefined) {
      showMistake(app, group);
    }
  }

  return {
    root,
    show() {
      const mistake = mistakeOnBoard(app);
      root.hidden = mistake === undefined;
      punish.className = app.position().over ? "" : "main"; // else a new game is what comes next
      if (mistake !== undefined) {
        const groups = app.judged().groups();
        const { board, move, games } = mistake;
        const taken = board[move] === EMPTY ? "" : ", which is taken,";
        const lost = games ? ` and loses ${counted(games, "game")}` : "";
        const plays = app.look(board).move === null ? "may play" : "plays";
        words.textContent = `Mistake ${groups.indexOf(mistake) + 1} of ${groups.length}: here it ${plays} ${squareWords(move)}${taken}${lost}.`;
      }
    },
  };
}

/** Play a game with a mistake to its end, move by move: the lost one, or the best replies to the player's own moves. */
export function playMistake(app, group) {
  showMistake(app, group);
  const { game, seat } = app.state;
  const whole = group.game === null ? punished(app, game) : game;
  playThrough(whole, (now) => app.update({ game: now, seat }), () => app.state.game);
}

/** Return the game with a mistake, on to its end. */
function punished(app, start) {
  let game = lookedAt(start, start.cells.length);
  for (let position = positionOf(app.rules(), game); !position.over; position = positionOf(app.rules(), game)) {
    const analysis = app.look(position.board);
    const reply = app.player().reply(position.board, app.state.steps);
    game = played(game, position.seat === app.state.seat ? bestOf(analysis)[0] ?? reply : analysis.move ?? reply);
  }
  return lookedAt(game, 0);
}
