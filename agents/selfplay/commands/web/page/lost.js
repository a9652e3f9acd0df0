// The panel of what beats a player: each lost line as a game to step through, with what it saw at each of its moves.
import { button, html } from "./dom.js";
import { gameFrom, lookedAt } from "./game.js";
import { MARKS, emptyBoard, squareName, squareWords } from "./rules.js";
import { finding } from "./findings.js";
import { SIGNS, counted, valueText } from "./words.js";

const SEATS = [0, 1];
const FIRST_SHOWN = 20;

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
  const about = "Every reply is followed. Click a game to step through it, with the value that the player saw at each of its moves.";
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
  const list = html("ol", { class: "lines" }, ...items.slice(0, FIRST_SHOWN));
  const more = items.slice(FIRST_SHOWN);
  const rest = button(`Show ${more.length} more`, () => { list.append(...more); rest.remove(); });
  return [heading, html("p", { class: "hint" }, `The shortest first.${some}`), list, more.length ? rest : html("span", {})];
}

function lineButton(app, line) {
  const squares = line.cells.map((cell) => squareName(app.player(), cell)).join(", ");
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
  const { game } = app.state;
  const to = (by) => lines[index + by] && openLine(app, lines[index + by]);
  const nav = html("div", { class: "row" },
    button("All games", () => app.update({ game: gameFrom(emptyBoard(app.player())) })),
    button("Game before", () => to(-1), { "aria-disabled": index === 0 ? "true" : null }),
    button("Next game", () => to(1), { "aria-disabled": index === lines.length - 1 ? "true" : null }),
    line.turning === null ? null : button("To the move that loses", () => openLine(app, line, line.turning + 1), { class: "main" }));
  const heading = html("h3", {}, `Game ${index + 1} of ${lines.length}: the player is ${MARKS[line.seat]}`);
  const step = html("div", { class: "row steps" },
    button("\u25c0 Back", () => app.update({ game: lookedAt(game, game.at - 1) }), { "aria-disabled": game.at === 0 ? "true" : null }),
    html("span", {}, `${game.at} of ${game.cells.length}`),
    button("On \u25b6", () => app.update({ game: lookedAt(game, game.at + 1) }),
      { "aria-disabled": game.at === game.cells.length ? "true" : null }));
  return [nav, heading, html("p", { class: "verdict bad" }, turningSentence(app, line)), step, plyTable(app, line)];
}

function turningSentence(app, line) {
  const end = line.illegal ? "It ends by a taken square." : `${MARKS[1 - line.seat]} completes a line.`;
  if (line.turning === null) {
    return `${end} Which move loses first is not known on this board.`;
  }
  const [ply, cell] = [line.turning, line.cells[line.turning]];
  const illegal = line.exact[ply] === "illegal";
  const words = illegal ? "chooses a square that is taken" : "gives the value away first";
  const learned = line.learned[ply] === null ? "" : ` It had learned ${valueText(line.learned[ply])} for it.`;
  return `Move ${ply + 1}, ${squareWords(app.player(), cell)}, ${words}.${learned} ${end}`;
}

function plyTable(app, line) {
  const heads = ["Move", "Square", "Learned", "Exact"].map((words) => html("th", { scope: "col" }, words));
  const rows = line.cells.map((cell, ply) => plyRow(app, line, cell, ply));
  const caption = html("caption", { class: "unseen" }, "The game move by move, with what the player saw");
  return html("table", { class: "plies" }, caption, html("thead", {}, html("tr", {}, ...heads)), html("tbody", {}, ...rows));
}

function plyRow(app, line, cell, ply) {
  const { game } = app.state;
  const turning = ply === line.turning;
  const mark = MARKS[ply % 2];
  const open = button("", () => openLine(app, line, ply + 1), { class: "move", "aria-current": game.at === ply + 1 ? "step" : null });
  open.append(`${ply + 1}. `, html("b", { class: `of-${mark}` }, mark));
  const learned = line.learned[ply];
  const exact = line.exact[ply];
  const attributes = { class: turning ? "turning" : null, "data-ply": ply };
  return html("tr", attributes,
    html("td", {}, open),
    html("td", {}, squareName(app.player(), cell), turning ? html("span", { class: "flag" }, "loses here") : null),
    html("td", { "data-value": learned }, learned === null ? "" : valueText(learned)),
    html("td", { class: exact === null ? null : `exact-${exact}` }, exact === null ? "" : `${SIGNS[exact] ?? "!"} ${exact}`));
}
