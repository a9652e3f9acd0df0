// The board, whose turn it is, and the controls of a game. A click plays the seat to move, and the player answers for
// the other one.
import { button, byId, html, setAttribute } from "./dom.js";
import { playingBoard } from "./board.js";
import { EMPTY, MARKS, emptyBoard, squareWords } from "./rules.js";
import { gameFrom, loserOf, lookedAt, played, positionOf, undone } from "./game.js";
import { listed, resultSentence } from "./sentences.js";
import { complain, say } from "./messages.js";
import { setupControls, withNextMark } from "./setup.js";

/**
 * Fill the table.
 *
 * @param {import("./main.js").App} app
 */
export function playingTable(app) {
  const showBoard = playingBoard(byId("board"), (cell) => chooseSquare(app, cell));
  const controls = gameControls(app);
  const setting = setupControls(app);
  byId("controls").append(controls.root, setting.root);
  const answer = answering(app);
  return () => {
    const { setup } = app.state;
    const rules = app.rules();
    const position = setup === null ? app.position() : positionOf(rules, gameFrom(setup));
    const over = setup === null && position.over;
    const view = { ...position, over, rules, filling: setup !== null, name: `Board, ${rules.rows} by ${rules.cols}` };
    showBoard({ ...view, hints: hintOf(app)?.cells ?? [], line: setup === null ? position.line : [] });
    byId("status").textContent = setup === null ? statusText(app, position) : "Set up a position";
    controls.root.hidden = setup !== null;
    setting.root.hidden = setup === null;
    controls.show();
    setting.show();
    answer();
  };
}

/** Return the hint for the board and the player that are shown, null if there is none. */
function hintOf(app) {
  return ["game", "player", "steps"].every((name) => app.hint?.[name] === app.state[name]) ? app.hint : null;
}

/** Play a square for the person, or fill it; the keys 1 to 9 do so as well. */
export function chooseSquare(app, cell) {
  if (app.state.setup !== null) {
    const setup = withNextMark(app.state.setup, cell);
    app.update({ setup });
    say(`${squareWords(cell)}: ${setup[cell] === EMPTY ? "free" : setup[cell]}.`);
    return;
  }
  const position = app.position();
  const words = squareWords(cell);
  if (position.over) {
    say(`The game is over. ${resultSentence(position, app.state.seat)}`);
  } else if (position.board[cell] !== EMPTY) {
    say(`${words} is taken.`);
  } else if (waiting(app.state, position)) {
    say("It is the player's move.");
  } else {
    const game = played(app.state.game, cell);
    const end = resultSentence(positionOf(app.rules(), game), position.seat);
    say(`You mark ${words}. ${end ?? ""}`);
    app.update({ game, seat: position.seat });
  }
}

/** Return whether the player has to move: the game is not over, its last move is shown, and it is the player's turn. */
function waiting(state, position) {
  return state.setup === null && !position.over && state.game.at === state.game.cells.length && position.seat !== state.seat;
}

/** Return the function that requests the player's move when it has to move, once for each position. */
function answering(app) {
  let requested = null;
  return async () => {
    const position = app.position();
    if (app.punishing || !waiting(app.state, position)) {
      requested = null;
      return;
    }
    const { game, player, steps } = app.state;
    if (requested === game) {
      return;
    }
    requested = game;
    let analysis;
    try {
      analysis = await app.api.analysis(player, position.board, steps);
    } catch (error) {
      complain(error.message);
      return;
    }
    if (app.state.game !== game || app.state.player !== player || !waiting(app.state, app.position())) {
      return;
    }
    const after = played(game, analysis.reply);
    const end = resultSentence(positionOf(app.rules(), after), app.state.seat);
    say(`It marks ${squareWords(analysis.reply)}. ${end ?? "Your move."}`);
    app.update({ game: after });
  };
}

function statusText(app, position) {
  const { game, seat } = app.state;
  const you = `You are ${MARKS[seat]}.`;
  if (game.at < game.cells.length) {
    return `After move ${game.at} of ${game.cells.length}`;
  }
  if (position.over) {
    return resultSentence(position, seat);
  }
  return position.seat === seat ? `Your move. ${you}` : `It moves. ${you}`;
}

/** Make the buttons below the board. */
function gameControls(app) {
  const advice = html("p", { class: "advice", role: "status" });
  const starts = [["You start", 0], ["It starts", 1]].map(([words, seat]) =>
    button(words, () => newGame(app, seat), { class: "large" }));
  const undo = button("Undo", () => undoMove(app));
  const hint = button("Hint", () => giveHint(app));
  const letIt = button("Let it move", () => letMove(app));
  const setup = button("Set up", () => app.update({ setup: app.position().board }));
  const share = button("Copy a link", () => copyLink(share));
  const steps = [
    ["Back", "Back by a move", (at) => at - 1],
    ["Forward", "Forward by a move", (at) => at + 1],
  ].map(([name, title, to]) => button(name, () => stepBy(app, to), { title }));
  byId("starts").append(html("div", { class: "two" }, ...starts));
  byId("stage").append(advice);
  const root = html("div", { class: "controls" },
    html("div", { class: "four" }, undo, ...steps, hint),
    html("details", { class: "more" }, html("summary", {}, "More"), html("div", { class: "row" }, letIt, setup, share)));
  return {
    root,
    show() {
      const { game, seat, setup: filling } = app.state;
      byId("starts").hidden = filling !== null;
      starts[0].className = app.position().over ? "main large" : "large"; // during a game the board comes first
      const given = hintOf(app);
      advice.textContent = given?.text ?? "";
      advice.hidden = given === null || filling !== null;
      disable(undo, undone(game, seat) === null);
      disable(letIt, app.position().over);
      disable(hint, app.position().over);
      steps.forEach((step, i) => disable(step, i === 0 ? game.at === 0 : game.at === game.cells.length));
    },
  };
}

/** Disable a button, or enable it. A disabled one keeps the focus, so that keyboard users do not lose their place. */
function disable(control, disabled) {
  setAttribute(control, "aria-disabled", disabled ? "true" : null);
}

/** Show another ply of the game; `to` gives it from that on the board. */
export function stepBy(app, to) {
  app.update({ game: lookedAt(app.state.game, to(app.state.game.at)) });
}

/** Begin a game in a seat. */
export function newGame(app, seat) {
  say(`A new game. You are ${MARKS[seat]}${seat === 0 ? ": your move." : "."}`);
  app.update({ game: gameFrom(emptyBoard(app.rules())), seat, setup: null, playing: false });
}

/** Take back the person's last move. */
export function undoMove(app) {
  const game = undone(app.state.game, app.state.seat);
  if (game !== null) {
    say("Your last move is undone. Your move.");
    app.update({ game });
  }
}

/** Let the player move in the position on the board; the person continues in the other seat. */
function letMove(app) {
  const position = app.position();
  if (!position.over) {
    const { game } = app.state;
    const seat = /** @type {0 | 1} */ (1 - position.seat);
    app.update({ game: gameFrom(game.start, game.cells.slice(0, game.at)), seat });
  }
}

/** Show the moves that win, or else those that begin a way to beat the player, or else all that are right. */
async function giveHint(app) {
  const { game, player, steps } = app.state;
  const position = app.position();
  if (position.over) {
    return;
  }
  app.hint = { game, player, steps, cells: [], text: "Following every reply \u2026" };
  app.update({});
  const [analysis, evaluation] = await Promise.all([app.look(position.board), app.evaluation().catch(() => ({ games: [], ways: [1] }))]);
  if (app.state.game !== game) {
    return;
  }
  app.hint = { game, player, steps, ...hintFor(app.rules(), game, position, analysis, evaluation) };
  say(app.hint.text);
  app.update({});
}

/** Return the squares of a hint, and its sentence. A hint is the truth, never what a player has learned. */
function hintFor(rules, game, position, { exact, plies, position: worth }, { complete, games, ways }) {
  const right = exact.flatMap((result, cell) => (result !== null && result === worth ? [cell] : []));
  if (worth === "win") {
    return { cells: right, text: `Hint: ${squaresThat("win", right)} against anybody.` };
  }
  const begun = game.cells.slice(0, game.at);
  const whole = game.start === emptyBoard(rules); // the games that the player loses begin there
  const lost = games.filter((cells) => whole && loserOf(rules, cells) !== position.seat && cells.length > begun.length && begun.every((cell, ply) => cells[ply] === cell));
  if (lost.length) {
    const next = [...new Set(lost.map((cells) => cells[begun.length]))];
    return { cells: next, text: `Hint: ${squaresThat("begin", next)} a way to beat this player.` };
  }
  const all = complete && games.length === ways.reduce((sum, number) => sum + number, 0);
  const why = whole && all ? "This player cannot be beaten from here. " : "";
  if (worth === "draw") {
    return { cells: right, text: `Hint: ${why}${squaresThat("keep", right)} the draw.` };
  }
  if (worth === "loss") {
    const most = Math.max(...(plies ?? []));
    const longest = right.filter((cell) => plies?.[cell] === most);
    return { cells: longest, text: `Every move loses against best play${longest.length ? `; ${squaresThat("resist", longest)} longest` : ""}.` };
  }
  return { cells: [], text: "Which moves are right is not known on this board." };
}

/** Return squares and what they do: "square 1 wins", "squares 1 and 3 win". */
function squaresThat(verb, cells) {
  const names = listed(cells.map((cell) => cell + 1), "and");
  return cells.length === 1 ? `square ${names} ${verb}s` : `squares ${names} ${verb}`;
}

/** Copy the page's address; `share` is the button that says so. */
export async function copyLink(share) {
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
    share.textContent = "Copied";
  } catch {
    share.textContent = "Not allowed: copy the address of the page";
  }
  setTimeout(() => { share.textContent = "Copy a link"; }, 3000);
}
