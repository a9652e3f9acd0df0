// The panel of what beats a player: each lost line as a game to step through, with what it saw at each of its moves.
import { button, html } from "./dom.js";
import { gameFrom } from "./game.js";
import { MARKS, emptyBoard, squareName, squareWords } from "./rules.js";
import { finding, longList } from "./findings.js";
import { SIGNS, counted, valueText } from "./words.js";

const SEATS = [0, 1];

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function lostPanel(app) {
  const found = finding(app, (player) => app.source.lost(player), (answer) => drawLost(app, answer));
  return { root: html("div", { class: "lost" }, found.root), show: found.show };
}

function drawLost(app, answer) {
  const { game } = app.state;
  const key = game.cells.join();
  const index = answer.lines.findIndex((line) => line.cells.join() === key);
  const begun = game.start === emptyBoard(app.player());
  return begun && index >= 0 ? drawLine(app, answer.lines, index) : drawLists(app, answer);
}

function drawLists(app, answer) {
  if (!answer.lines.length) {
    const words = answer.complete ? "Nothing beats it: it loses no line in either seat." : "No line that beats it was found.";
    return [html("p", { class: "verdict good" }, words)];
  }
  const whole = answer.complete ? "Every reply is followed." : "Only a part of its play was followed: there may be more.";
  const about = `${whole} Click a game to step through it, with the value that the player saw at each of its moves.`;
  return [html("p", { class: "hint" }, about), ...SEATS.flatMap((seat) => drawSeat(app, answer, seat))];
}

function drawSeat(app, answer, seat) {
  const lines = answer.lines.filter((line) => line.seat === seat);
  const number = answer.number[seat];
  const heading = html("h3", {}, `As ${MARKS[seat]}: ${number === null ? "some lines" : counted(number, "line")} lost`);
  if (!lines.length) {
    return [heading, html("p", { class: "hint" }, "None in this seat.")];
  }
  const items = lines.map((line) => html("li", {}, lineButton(app, line)));
  const some = number === null || lines.length < number ? ` Shown are the shortest ${lines.length}.` : "";
  const list = longList(html("ol", { class: "lines" }), items);
  return [heading, html("p", { class: "hint" }, `The shortest first.${some}`), ...list];
}

function lineButton(app, line) {
  const squares = line.cells.map((cell) => squareName(app.player(), cell)).join(" \u00b7 ");
  const end = line.illegal ? "ends by a taken square" : `${MARKS[1 - line.seat]} has a line`;
  const open = button("", () => openLine(app, line), { class: "line" });
  open.append(html("b", {}, squares), html("span", {}, `${counted(line.cells.length, "ply").replace("plys", "plies")}, ${end}`));
  return open;
}

/** Show a lost line from its beginning; the person has the seat that wins it. */
function openLine(app, line, at = 0) {
  const seat = /** @type {0 | 1} */ (1 - line.seat);
  app.update({ game: gameFrom(emptyBoard(app.player()), line.cells, at), seat, setup: null });
}

function drawLine(app, lines, index) {
  const line = lines[index];
  const losing = losingPly(line);
  const to = (by) => lines[index + by] && openLine(app, lines[index + by]);
  const nav = html("div", { class: "row" },
    button("All games", () => app.update({ game: gameFrom(emptyBoard(app.player())) })),
    button("Previous", () => to(-1), { "aria-disabled": index === 0 ? "true" : null }),
    button("Next", () => to(1), { "aria-disabled": index === lines.length - 1 ? "true" : null }),
    losing === null ? null : button("To the move that loses", () => openLine(app, line, losing + 1), { class: "main" }));
  const heading = html("h3", {}, `Game ${index + 1} of ${lines.length}: the player is ${MARKS[line.seat]}`);
  return [nav, heading, html("p", { class: "verdict bad" }, turningSentence(app, line)), plyTable(app, line)];
}

/** Return the first ply of the player's after which it is lost, null if that is not known. */
function losingPly(line) {
  const ply = line.exact.findIndex((result) => result === "loss" || result === "illegal");
  return ply < 0 || line.turning === null ? null : ply;
}

function turningSentence(app, line) {
  const end = line.illegal ? "The game ends by that taken square." : `Then ${MARKS[1 - line.seat]} completes a line.`;
  const ply = losingPly(line);
  if (ply === null) {
    return `${line.illegal ? "It ends by a taken square." : end} Which move loses first is not known on this board.`;
  }
  const words = line.exact[ply] === "illegal" ? "is a square that is taken" : "is the first that loses";
  const learned = line.learned[ply] === null ? "" : ` It had learned ${valueText(line.learned[ply])} for it.`;
  return `Move ${ply + 1}, ${squareWords(app.player(), line.cells[ply])}, ${words}.${learned} ${end}`;
}

/** Return what is to be said of a ply in the table: where the game is lost, and where a win was. */
function flagOf(line, ply) {
  if (ply === losingPly(line)) {
    return "loses here";
  }
  return ply === line.turning ? "gives the win away" : null;
}

function plyTable(app, line) {
  const heads = ["Move", "Square", "Learned", "Exact"].map((words) => html("th", { scope: "col" }, words));
  const rows = line.cells.map((cell, ply) => plyRow(app, line, cell, ply));
  const caption = html("caption", { class: "unseen" }, "The game move by move, with what the player saw");
  return html("table", { class: "plies" }, caption, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
}

function plyRow(app, line, cell, ply) {
  const { game } = app.state;
  const flag = flagOf(line, ply);
  const mark = MARKS[ply % 2];
  const open = button("", () => openLine(app, line, ply + 1), { class: "move", "aria-current": game.at === ply + 1 ? "step" : null });
  open.append(`${ply + 1}. `, html("b", { class: `of-${mark}` }, mark));
  const learned = line.learned[ply];
  const exact = line.exact[ply];
  const attributes = { class: flag === null ? null : "turning", "data-ply": ply };
  return html("tr", attributes,
    html("td", {}, open),
    html("td", {}, `${squareName(app.player(), cell)} `, flag === null ? null : html("span", { class: "flag" }, flag)),
    html("td", { "data-value": learned }, learned === null ? "" : valueText(learned)),
    html("td", { class: exact === null ? null : `exact-${exact}` }, exact === null ? "" : `${SIGNS[exact] ?? "!"} ${exact}`));
}
