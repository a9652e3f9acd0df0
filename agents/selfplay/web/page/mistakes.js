// The panel of a player's mistakes: the moves, up to symmetry, that lose most games first; and the way through them.
import { button, html } from "./dom.js";
import { smallBoard } from "./grid.js";
import { gameFrom, lookedAt, played, seatOfPly } from "./game.js";
import { EMPTY, emptyBoard, seatToMove, squareName, squareWords } from "./rules.js";
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
      html("p", { class: "hint" }, `Up to turning and reflecting the board; what loses most games first. Together they are in ${waysText(evaluation)} to beat it.${some} Open one to land on that move.`), ...cards(losing)] : []),
    ...(others.length ? [html("h3", {}, othersHeading(evaluation, others)), stillWrongWords(evaluation), ...cards(others)] : []),
    ...(groups.length ? [] : [html("p", { class: "hint" }, nothingWords(evaluation))]),
  ];
}

/** Return what is said of a player without a mistake; nothing good because time was up. */
export function nothingWords({ kind, complete }) {
  return kind === "optimal" ? "Its move keeps the value of every state."
    : complete ? "No reply beats it." : "None was found in the part of its play that was followed.";
}

function othersHeading({ kind }, others) {
  return `${counted(others.length, kind === "optimal" ? "wrong move" : "position")} ${kind === "optimal" ? "that lose no game" : "from which some replies beat it"}`;
}

function stillWrongWords(evaluation) {
  return stillWrong(evaluation) !== null && evaluation.proved !== null ? stillWrong(evaluation)
    : html("p", { class: "hint" }, evaluation.kind === "optimal" ? `${counted(evaluation.number, "state")} of all have a wrong move. These are met only after other moves than its own, or give a win away for a draw.` : "The board is too large to look at every state.");
}

function groupCard(app, group) {
  const player = app.player();
  const words = html("span", { class: "card-words" }, html("b", {}, gamesWords(group)));
  const card = button("", () => showMistake(app, group), { class: "card" });
  card.append(smallBoard(player, group.board, { move: group.move }), words);
  const count = group.states > 1 ? html("span", {}, `${counted(group.states, "such state")}`) : null;
  app.look(group.board).then((analysis) => words.append(...describe(player, group, analysis), ...(count ? [count] : [])), () => {});
  return card;
}

function gamesWords({ games }) {
  return games ? `loses ${counted(games, "game")}` : "loses no game";
}

/** Return what is to be said of a mistake in short: what it plays and believes, what that is, and what is best. */
export function describe(player, { board, move }, analysis) {
  const believed = analysis.values === null ? "" : `, believes ${valueText(analysis.values[move])}`;
  const truth = board[move] === EMPTY ? analysis.exact[move] : "taken square";
  const best = bestOf(analysis).map((cell) => squareName(player, cell));
  const lines = [`plays ${squareName(player, move)}${believed}`];
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
  const game = group.game === null ? gameFrom(group.board) : gameFrom(emptyBoard(app.player()), group.game, group.ply);
  const mover = seatToMove(group.board);
  const seat = /** @type {0 | 1} */ (group.game === null ? mover : 1 - mover); // its move is not requested yet
  app.update({ game, seat, setup: null, view: "inside", playing: false, mistake: group });
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
  const punish = button("Show the punishment", () => punishment(app), { class: "main" });
  const root = html("div", { class: "row mistake-steps" }, words, punish, before, after, list);
  let groups = [];
  let listed_ = null;

  function current() {
    const { mistake, game } = app.state;
    const same = mistake && (mistake.game === null ? game.start === mistake.board : game.cells === mistake.game);
    return same ? groups.indexOf(mistake) : -1;
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
      if (app.state.mistake && listed_ !== key) {
        listed_ = key;
        groups = (await app.evaluation().catch(() => ({ groups: [] }))).groups;
      }
      const at = current();
      root.hidden = at < 0;
      if (at >= 0) {
        const { board, move, games } = groups[at];
        words.textContent = `Mistake ${at + 1} of ${groups.length}: here it plays ${squareWords(app.player(), move)}${board[move] === EMPTY ? "" : ", which is taken,"} and loses ${games ? counted(games, "game") : "no game of its own play"}.`;
      }
    },
  };
}

/** Play on from a mistake, move by move: the rest of the lost game, or the best replies to the player's own moves. */
export async function punishment(app) {
  app.punishing = true;
  const { mistake } = app.state;
  let { game } = app.state;
  const mover = mistake.game === null ? seatToMove(mistake.board) : seatOfPly(game, mistake.ply);
  const seat = /** @type {0 | 1} */ (1 - mover);
  if (mistake.game === null) {
    game = gameFrom(mistake.board);
  } else {
    game = lookedAt(game, mistake.ply);
  }
  for (;;) {
    app.update({ game, seat: /** @type {0 | 1} */ (mistake.game === null ? mover : seat) });
    const position = app.position();
    if (position.over) {
      break;
    }
    await new Promise((done) => { setTimeout(done, PAUSE); });
    if (app.state.game !== game || app.state.mistake !== mistake) {
      break; // the person does something else
    }
    game = mistake.game === null ? played(game, await nextMove(app, position, mover)) : lookedAt(game, game.at + 1);
  }
  app.punishing = false;
}

async function nextMove(app, position, mover) {
  const analysis = await app.look(position.board);
  return position.seat === mover ? analysis.move ?? analysis.reply : bestOf(analysis)[0] ?? analysis.reply;
}
