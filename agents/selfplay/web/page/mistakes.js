// The panel of a player's mistakes: the moves, up to symmetry, that lose most games first; and the way through them.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { gameFrom, lookedAt, played } from "./game.js";
import { EMPTY, MARKS, emptyBoard, seatToMove, squareWords } from "./rules.js";
import { evaluationSection, longList, statusOf, stillWrong, waysText } from "./evaluation.js";
import { counted, listed, numberText, valueText } from "./sentences.js";

const MOST_NAMED = 4;
const PAUSE = 900; // milliseconds between the moves of a punishment

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function mistakesPanel(app) {
  return evaluationSection(app, (evaluation) => drawMistakes(app, evaluation));
}

function drawMistakes(app, evaluation) {
  const { groups, verdict, different } = evaluation;
  const status = statusOf(evaluation);
  const rating = { beaten: "bad", unknown: "open" }[status] ?? "good";
  const losing = groups.filter(({ games }) => games > 0);
  const others = groups.filter(({ games }) => games === 0);
  const cards = (some) => longList(html("ul", { class: "cards" }), some.map((group) => () => html("li", {}, groupCard(app, group))));
  const some = groups.length < different ? ` Shown are ${groups.length} of ${numberText(different)}.` : "";
  return [
    html("p", { class: `verdict ${rating}` }, verdict),
    ...(losing.length ? [html("h3", {}, `${counted(losing.length, "move")} by which it loses`),
      html("p", { class: "hint" }, `Up to turning and reflecting the board; what loses most games first. Together they are in ${waysText(evaluation)}.${some} Open one to land on that move.`), ...cards(losing)] : []),
    ...(others.length ? [html("h3", {}, othersHeading(evaluation, others)), stillWrongWords(evaluation), ...cards(others)] : []),
    ...(groups.length ? [] : [html("p", { class: "hint" }, nothingWords(evaluation))]),
  ];
}

/** Return what is said of a player without a mistake; nothing good because time was up. */
function nothingWords({ kind, complete }) {
  if (kind === "optimal") {
    return "Its move keeps the value of every state.";
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
    return html("p", { class: "hint" }, "The board is too large to look at every state.");
  }
  const words = evaluation.proved === null ? null : stillWrong(evaluation);
  return words ?? html("p", { class: "hint" }, `${counted(evaluation.number, "state")} of all have a wrong move. These are met only after other moves than its own, or turn a win into a draw.`);
}

function groupCard(app, group) {
  const words = html("span", { class: "card-words" }, html("b", {}, headingOf(group)));
  const card = button("", () => showMistake(app, group), { class: "card" });
  card.append(smallBoard(app.rules(), group.board, group.move), words);
  const counts = [group.games ? `loses ${counted(group.games, "game")}` : null, group.states > 1 ? counted(group.states, "such state") : null];
  app.look(group.board).then((analysis) => words.append(...describe(group, analysis),
    ...counts.filter(Boolean).map((line) => html("span", {}, line))), () => {});
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
  const lines = [`plays ${move + 1}${believed}`];
  if (truth !== null && analysis.position !== null) {
    lines.push(analysis.position === truth ? `still a ${truth}` : `${analysis.position} \u2192 ${truth}`);
  }
  if (best.length && truth !== analysis.position) {
    lines.push(best.length > MOST_NAMED ? `${best.length} squares are best` : `best: ${listed(best)}`);
  }
  return lines.map((line) => html("span", {}, line));
}

function bestOf({ exact, position }) {
  return exact.flatMap((result, cell) => (result !== null && result === position ? [cell] : []));
}

/** Put the position before a mistake on the board, in a lost game if there is one; the person has the other seat. */
export function showMistake(app, group) {
  const game = group.game === null ? gameFrom(group.board) : gameFrom(emptyBoard(app.rules()), group.game, group.ply);
  const mover = seatToMove(group.board);
  const seat = /** @type {0 | 1} */ (group.game === null ? mover : 1 - mover); // its move is not requested yet
  app.update({ game, seat, setup: null, view: "inside", playing: false, mistake: group });
}

/** Return the mistake that was last led into if its game or position is still there. */
export function mistakeInGame({ state: { mistake, game } }) {
  const same = mistake && (mistake.game === null ? game.start === mistake.board : game.cells === mistake.game);
  return same ? mistake : undefined;
}

/** Return what a snapshot believes of its mistake on the board, and what is true, in a sentence; null if none is there. */
export function mistakeSentence(app) {
  const mistake = mistakeInGame(app);
  const analysis = app.thought();
  const { steps } = app.state;
  if (steps === null || mistake?.board !== app.position().board || analysis?.move !== mistake.move || !analysis.values) {
    return null;
  }
  const { board, move } = mistake;
  const truth = board[move] === EMPTY ? `It is a ${analysis.exact[move]}` : "It is taken";
  return `After ${numberText(steps)} ${app.player().unit} this player believed that ${squareWords(move)} is worth ${valueText(analysis.values[move])} to ${MARKS[seatToMove(board)]}. ${truth}.`;
}

/**
 * Make the line above the maps when a mistake is on the board: which it is, and the buttons to the next one.
 *
 * @param {import("./main.js").App} app
 */
export function mistakeSteps(app) {
  const words = html("span", {});
  const list = button("All mistakes", () => app.update({ view: "mistakes" }));
  const before = button("\u25c0", () => step(-1), { "aria-label": "The previous mistake", class: "step" });
  const after = button("\u25b6", () => step(1), { "aria-label": "The next mistake", class: "step" });
  const punish = button("Show the punishment", () => punishment(app));
  const root = html("div", { class: "row mistake-steps" }, words, punish, before, after, list);
  let groups = [];
  let listedKey = null;

  function current() {
    return groups.indexOf(mistakeInGame(app));
  }

  function step(by) {
    const group = groups[current() + by];
    if (group !== undefined) {
      showMistake(app, group);
    }
  }

  return {
    root,
    async show() {
      const key = `${app.state.player} ${app.state.steps}`;
      if (app.state.mistake && listedKey !== key) {
        listedKey = key;
        groups = (await app.evaluation().catch(() => ({ groups: [] }))).groups;
      }
      const at = current();
      root.hidden = at < 0;
      punish.className = app.position().over ? "" : "main"; // else a new game is what comes next
      if (at >= 0) {
        const { board, move, games } = groups[at];
        const taken = board[move] === EMPTY ? "" : ", which is taken,";
        const lost = games ? ` and loses ${counted(games, "game")}` : "";
        words.textContent = `Mistake ${at + 1} of ${groups.length}: here it plays ${squareWords(move)}${taken}${lost}.`;
      }
    },
  };
}

/** Play on from a mistake, move by move: the rest of the lost game, or the best replies to the player's own moves. */
async function punishment(app) {
  app.punishing = true;
  const { mistake } = app.state;
  const lostGame = mistake.game !== null;
  const mover = seatToMove(mistake.board);
  const seat = /** @type {0 | 1} */ (lostGame ? 1 - mover : mover);
  let game = lostGame ? lookedAt(app.state.game, mistake.ply) : gameFrom(mistake.board);
  for (;;) {
    app.update({ game, seat });
    const position = app.position();
    if (position.over) {
      break;
    }
    await new Promise((done) => { setTimeout(done, PAUSE); });
    if (app.state.game !== game || app.state.mistake !== mistake) {
      break; // the person does something else
    }
    game = lostGame ? lookedAt(game, game.at + 1) : played(game, await nextMove(app, position, mover));
  }
  app.punishing = false;
}

async function nextMove(app, position, mover) {
  const analysis = await app.look(position.board);
  return position.seat === mover ? analysis.move ?? analysis.reply : bestOf(analysis)[0] ?? analysis.reply;
}
