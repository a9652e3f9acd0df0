// The board, whose turn it is, and the controls of a game. A click plays the seat to move, and the player answers for
// the other one.
import { button, byId, html, setAttribute } from "./dom.js";
import { playingBoard } from "./board.js";
import { EMPTY, MARKS, emptyBoard, squareWords } from "./rules.js";
import { cutAt, gameFrom, lookedAt, played, positionOf, undone } from "./game.js";
import { capital, resultSentence } from "./sentences.js";
import { hintFor } from "./hint.js";
import { say } from "./messages.js";
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
  const answerInTurn = answering(app);
  return () => {
    const { setup } = app.state;
    const rules = app.rules();
    const position = setup === null ? app.position() : positionOf(rules, gameFrom(setup));
    const over = setup === null && position.over;
    const view = { ...position, over, rules, filling: setup !== null, name: `Board, ${rules.rows} by ${rules.cols}` };
    showBoard({ ...view, hints: noteOf(app)?.cells ?? [], line: setup === null ? position.line : [] });
    byId("status").textContent = setup === null ? statusText(app, position) : "Set up a position";
    controls.root.hidden = setup !== null;
    setting.root.hidden = setup === null;
    controls.show();
    setting.show();
    answerInTurn();
  };
}

/** Return the note on the game as it is now, null if there is none. */
function noteOf({ state: { note, game } }) {
  return note?.game === game ? note : null;
}

/** Play a square for the person, or fill it; the keys 1 to 9 do so as well. */
export function chooseSquare(app, cell) {
  if (app.state.setup !== null) {
    const setup = withNextMark(app.state.setup, cell);
    app.update({ setup });
    say(`${capital(squareWords(cell))}: ${setup[cell] === EMPTY ? "free" : setup[cell]}.`);
    return;
  }
  const position = app.position();
  const words = squareWords(cell);
  if (position.over) {
    tell(app, `The game is over. ${endSentence(app, position)}`);
  } else if (position.board[cell] !== EMPTY) {
    tell(app, `${capital(words)} is taken.`);
  } else if (waiting(app.state, position)) {
    tell(app, "It is the player's move.");
  } else {
    const game = played(app.state.game, cell);
    const end = endSentence(app, positionOf(app.rules(), game), position.seat);
    const lost = lostBy(app.look(), cell);
    say(`You mark ${words}. ${end ?? ""} ${lost}`);
    app.update({ game, seat: position.seat, note: { game, text: lost, cells: [] } });
  }
}

/** Show a note on the game as it is now, and say it. */
function tell(app, text, cells = []) {
  say(text);
  app.update({ note: { game: app.state.game, text, cells } });
}

/** Return how a game has ended, and whether nobody could do better against this player; null if it has not. */
function endSentence(app, position, seat = app.state.seat) {
  const drawn = position.over && position.winner === null && app.state.game.start === emptyBoard(app.rules());
  return drawn && app.judged().proved === "unbeatable" ? "A draw. Nobody can do better against it." : resultSentence(position, seat);
}

/** Return what the person's move has given away, in a sentence; nothing if that is nothing, or not known. */
function lostBy({ exact, position }, cell) {
  return exact[cell] === position ? "" : `That move gave the ${position} away.`;
}

/** Return whether the player has to move: the game is not over, its last move is shown, and it is the player's turn. */
function waiting(state, position) {
  return state.setup === null && !position.over && state.game.at === state.game.cells.length && position.seat !== state.seat;
}

/** Return the function that lets the player move when it has to, a moment later, so that the person's move is seen first. */
function answering(app) {
  let answered = null;
  return () => {
    const { game } = app.state;
    if (waiting(app.state, app.position()) && answered !== game) {
      answered = game;
      setTimeout(() => {
        if (app.state.game === game && waiting(app.state, app.position())) {
          answer(app);
        }
      });
    }
  };
}

function answer(app) {
  const cell = app.player().reply(app.position().board, app.state.steps);
  const after = played(app.state.game, cell);
  const end = endSentence(app, positionOf(app.rules(), after));
  say(`It marks ${squareWords(cell)}. ${end ?? "Your move."}`);
  app.update({ game: after, note: { game: after, text: noteOf(app)?.text ?? "", cells: [] } });
}

function statusText(app, position) {
  const { game, seat } = app.state;
  const you = `You are ${MARKS[seat]}.`;
  if (game.at < game.cells.length) {
    return `After move ${game.at} of ${game.cells.length}`;
  }
  if (position.over) {
    return endSentence(app, position);
  }
  return position.seat === seat ? `Your move. ${you}` : `It moves. ${you}`;
}

/** Make the buttons below the board. */
function gameControls(app) {
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
  const root = html("div", { class: "controls" },
    html("div", { class: "four" }, undo, ...steps, hint), html("div", { class: "two" }, ...starts),
    html("details", { class: "more" }, html("summary", {}, "More"), html("div", { class: "row" }, letIt, setup, share)));
  return {
    root,
    show() {
      const { game, setup: filling } = app.state;
      const { over } = app.position();
      starts[0].className = over ? "main large" : "large"; // during a game the board comes first
      byId("advice").textContent = filling === null ? noteOf(app)?.text ?? "" : "";
      disable(undo, undone(app.state) === null);
      disable(letIt, over);
      disable(hint, over);
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
  app.go({ game: gameFrom(emptyBoard(app.rules())), seat, setup: null, playing: false });
}

/** Take back the person's last move, or the game that took over the position of another. */
export function undoMove(app) {
  const change = undone(app.state);
  if (change !== null) {
    app.update({ ...change, playing: false });
    say(`Undone. ${byId("status").textContent}`);
  }
}

/** Let the player move in the position on the board; the person continues in the other seat. */
function letMove(app) {
  const position = app.position();
  if (!position.over) {
    const { game } = app.state;
    const seat = /** @type {0 | 1} */ (1 - position.seat);
    app.update({ game: cutAt(game, game.at), seat });
  }
}

/** Say which moves are right. */
export function giveHint(app) {
  const position = app.position();
  if (!position.over && app.state.setup === null) {
    const { text, cells } = hintFor(app.rules(), app.state.game, position, app.look(), app.judged());
    tell(app, text, cells);
  }
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
