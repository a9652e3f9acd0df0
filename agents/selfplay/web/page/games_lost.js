// The panel of the games that a player loses, to step through with the value that the player saw at each of its moves.
import { button, html } from "./dom.js";
import { gameFrom } from "./game.js";
import { MARKS, emptyBoard, squareName, squareWords } from "./rules.js";
import { evaluationSection, longList } from "./evaluation.js";
import { SIGNS, counted, valueText } from "./sentences.js";

const SEATS = [0, 1];

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function gamesLostPanel(app) {
  return evaluationSection(app, ({ games_lost: lost }) => drawGamesLost(app, lost));
}

function drawGamesLost(app, lost) {
  const { start, cells } = app.state.game;
  const key = cells.join();
  const index = lost.games.findIndex((game) => game.cells.join() === key);
  return start === emptyBoard(app.player()) && index >= 0 ? drawGame(app, lost.games, index) : drawLists(app, lost);
}

function drawLists(app, lost) {
  if (!lost.games.length) {
    const words = lost.number.every((number) => number === 0) ? "Nothing beats it: it loses no game in either seat." : "No lost game was found.";
    return [html("p", { class: "verdict good" }, words)];
  }
  const whole = lost.complete ? "Every reply was followed." : "Only a part of its play was followed: there may be more.";
  const about = `${whole} Click a game to step through it, with the value that the player saw at each of its moves.`;
  return [html("p", { class: "hint" }, about), ...SEATS.flatMap((seat) => drawSeat(app, lost, seat))];
}

function drawSeat(app, lost, seat) {
  const games = lost.games.filter((game) => game.seat === seat);
  const number = lost.number[seat];
  const heading = html("h3", {}, `As ${MARKS[seat]}: ${number === null ? "some games" : counted(number, "game")} lost`);
  if (!games.length) {
    return [heading, html("p", { class: "hint" }, number === 0 ? "None in this seat." : "None was found before the time was over.")];
  }
  const items = games.map((game) => html("li", {}, gameButton(app, game)));
  const some = number === null || games.length < number ? ` Shown are the shortest ${games.length}.` : "";
  const list = longList(html("ol", { class: "games-lost" }), items);
  return [heading, html("p", { class: "hint" }, `The shortest first.${some}`), ...list];
}

function gameButton(app, game) {
  const squares = game.cells.map((cell) => squareName(app.player(), cell)).join(" \u00b7 ");
  const end = game.illegal ? "ends with a taken square" : `${MARKS[1 - game.seat]} has a line`;
  const open = button("", () => openGame(app, game), { class: "game-lost" });
  open.append(html("b", {}, squares), html("span", {}, `${counted(game.cells.length, "ply").replace("plys", "plies")}, ${end}`));
  return open;
}

/** Show a lost game from its start; the person has the seat that wins it. */
function openGame(app, game, at = 0) {
  const seat = /** @type {0 | 1} */ (1 - game.seat);
  app.update({ game: gameFrom(emptyBoard(app.player()), game.cells, at), seat, setup: null });
}

function drawGame(app, games, index) {
  const game = games[index];
  const losing = losingPly(game);
  const to = (by) => games[index + by] && openGame(app, games[index + by]);
  const nav = html("div", { class: "row" },
    button("All games", () => app.update({ game: gameFrom(emptyBoard(app.player())) })),
    button("Previous", () => to(-1), { "aria-disabled": index === 0 ? "true" : null }),
    button("Next", () => to(1), { "aria-disabled": index === games.length - 1 ? "true" : null }),
    losing === null ? null : button("To the move that loses", () => openGame(app, game, losing + 1), { class: "main" }));
  const heading = html("h3", {}, `Game ${index + 1} of ${games.length}: the player is ${MARKS[game.seat]}`);
  return [nav, heading, html("p", { class: "verdict bad" }, turningSentence(app, game)), plyTable(app, game)];
}

/** Return the first ply of the player's after which it is lost, null if that is not known. */
function losingPly(game) {
  const lost = (result, ply) => ply % 2 === game.seat && (result === null || result === "loss" || result === "illegal");
  const ply = game.exact.findIndex(lost);
  return (game.exact[ply] ?? null) === null ? null : ply; // with k = 1 the second seat loses without a move
}

function turningSentence(app, game) {
  const end = game.illegal ? "This ends the game." : `Then ${MARKS[1 - game.seat]} completes a line.`;
  const ply = losingPly(game);
  if (ply === null) {
    return `${game.illegal ? "It ends with a taken square." : end} Which move loses first is not known on this board.`;
  }
  const words = game.exact[ply] === "illegal" ? "is a taken square" : "is the first move that loses";
  const learned = game.learned[ply] === null ? "" : ` Its learned value was ${valueText(game.learned[ply])}.`;
  return `Move ${ply + 1}, ${squareWords(app.player(), game.cells[ply])}, ${words}.${learned} ${end}`;
}

/** Return the note on a ply in the table: where the game is lost, and where a win was. */
function flagOf(game, ply) {
  if (ply === losingPly(game)) {
    return "loses here";
  }
  return ply === game.turning ? "gives the win away" : null;
}

function plyTable(app, game) {
  const heads = ["Move", "Square", "Learned", "Exact"].map((words) => html("th", { scope: "col" }, words));
  const rows = game.cells.map((cell, ply) => plyRow(app, game, cell, ply));
  const caption = html("caption", { class: "unseen" }, "The game move by move, with what the player saw");
  return html("table", { class: "plies" }, caption, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
}

function plyRow(app, game, cell, ply) {
  const { at } = app.state.game;
  const flag = flagOf(game, ply);
  const mark = MARKS[ply % 2];
  const open = button("", () => openGame(app, game, ply + 1), { class: "move", "aria-current": at === ply + 1 ? "step" : null });
  open.append(`${ply + 1}. `, html("b", { class: `of-${mark}` }, mark));
  const learned = game.learned[ply];
  const exact = game.exact[ply];
  const attributes = { class: flag === null ? null : "turning", "data-ply": ply };
  return html("tr", attributes,
    html("td", {}, open),
    html("td", {}, `${squareName(app.player(), cell)} `, flag === null ? null : html("span", { class: "flag" }, flag)),
    html("td", { "data-value": learned }, learned === null ? "" : valueText(learned)),
    html("td", { class: exact === null ? null : `exact-${exact}` }, exact === null ? "" : `${SIGNS[exact] ?? "!"} ${exact}`));
}
