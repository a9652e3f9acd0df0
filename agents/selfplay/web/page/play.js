// The board, whose turn it is, and the controls of a game. A click plays the seat to move, and the player answers for
// the other one.
import { button, byId, html, setAttribute } from "./dom.js";
import { playingBoard } from "./board.js";
import { EMPTY, MARKS, emptyBoard, squareWords } from "./rules.js";
import { gameFrom, lookedAt, played, positionOf, undone } from "./game.js";
import { resultSentence } from "./sentences.js";
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
    const position = setup === null ? app.position() : positionOf(app.player(), gameFrom(setup));
    const name = `Board, ${app.player().rows} by ${app.player().cols}`;
    const over = setup === null && position.over;
    showBoard({ ...position, over, filling: setup !== null, rules: app.player(), name, line: setup === null ? position.line : [] });
    byId("status").textContent = setup === null ? statusText(app, position) : "Set up a position";
    controls.root.hidden = setup !== null;
    setting.root.hidden = setup === null;
    controls.show();
    setting.show();
    answer();
  };
}

function chooseSquare(app, cell) {
  if (app.state.setup !== null) {
    const setup = withNextMark(app.state.setup, cell);
    app.update({ setup });
    say(`${squareWords(app.player(), cell)}: ${setup[cell] === EMPTY ? "free" : setup[cell]}.`);
    return;
  }
  const position = app.position();
  const words = squareWords(app.player(), cell);
  if (position.over) {
    say(`The game is over. ${resultSentence(position, app.state.seat, app.player().name)}`);
  } else if (position.board[cell] !== EMPTY) {
    say(`${words} is taken.`);
  } else if (waiting(app.state, position)) {
    say(`It is ${app.player().name}'s move.`);
  } else {
    const game = played(app.state.game, cell);
    say(`You mark ${words}. ${resultSentence(positionOf(app.player(), game), position.seat, app.player().name) ?? ""}`);
    app.update({ game, seat: position.seat });
  }
}

/** Tell whether the player has to move: the game goes on, its last move is shown, and it is the player's turn. */
function waiting(state, position) {
  return state.setup === null && !position.over && state.game.at === state.game.cells.length && position.seat !== state.seat;
}

/** Return the function that requests the player's move when it has to move, once for each position. */
function answering(app) {
  let requested = null;
  return async () => {
    const position = app.position();
    if (!waiting(app.state, position)) {
      requested = null;
      return;
    }
    const { game, player } = app.state;
    if (requested === game) {
      return;
    }
    requested = game;
    let analysis;
    try {
      analysis = await app.api.analysis(player, position.board, null);
    } catch (error) {
      complain(error.message);
      return;
    }
    if (app.state.game !== game || app.state.player !== player || !waiting(app.state, app.position())) {
      return;
    }
    const after = played(game, analysis.reply);
    const end = resultSentence(positionOf(app.player(), after), app.state.seat, app.player().name);
    say(`${app.player().name} marks ${squareWords(app.player(), analysis.reply)}. ${end ?? "Your move."}`);
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
    return resultSentence(position, seat, app.player().name);
  }
  return position.seat === seat ? `Your move. ${you}` : `${app.player().name} moves. ${you}`;
}

/** Make the buttons below the board. */
function gameControls(app) {
  const seats = [0, 1].map((seat) => {
    const radio = html("input", { type: "radio", name: "seat", value: seat, change: () => newGame(app, seat) });
    return { radio, label: html("label", {}, radio, html("span", {}, `${MARKS[seat]}, ${["first", "second"][seat]}`)) };
  });
  const fresh = button("New game", () => newGame(app, app.state.seat), { class: "main" });
  const undo = button("Undo", () => undoMove(app));
  const let_ = button("Let it move", () => letMove(app));
  const setup = button("Set up", () => app.update({ setup: app.position().board }));
  const steps = [
    ["Start", "To the start of the game", () => 0],
    ["Back", "Back by a move", (at) => at - 1],
    ["Forward", "Forward by a move", (at) => at + 1],
    ["End", "To the end of the game", () => Infinity],
  ].map(([name, title, to]) => button(name, () => app.update({ game: lookedAt(app.state.game, to(app.state.game.at)) }), { title }));
  const root = html("div", { class: "controls" },
    html("fieldset", { class: "seats" }, html("legend", {}, "You play"), ...seats.map((each) => each.label)),
    html("div", { class: "four" }, fresh, undo, let_, setup),
    html("div", { class: "four", role: "group", "aria-label": "Moves of the game" }, ...steps));
  return {
    root,
    show() {
      const { game, seat } = app.state;
      seats.forEach((each, i) => { each.radio.checked = i === seat; });
      disable(undo, undone(game, seat) === null);
      disable(let_, app.position().over);
      steps.forEach((step, i) => disable(step, i < 2 ? game.at === 0 : game.at === game.cells.length));
    },
  };
}

/** Disable a button, or enable it. A disabled one keeps the focus, so that keyboard users do not lose their place. */
function disable(control, disabled) {
  setAttribute(control, "aria-disabled", disabled ? "true" : null);
}

function newGame(app, seat) {
  say(`A new game. You are ${MARKS[seat]}${seat === 0 ? ": your move." : "."}`);
  app.update({ game: gameFrom(emptyBoard(app.player())), seat });
}

function undoMove(app) {
  const game = undone(app.state.game, app.state.seat);
  if (game !== null) {
    say("Your last move is undone. Your move.");
    app.update({ game });
  }
}

/** Let the player move in the position on the board; the person goes on in the other seat. */
function letMove(app) {
  const position = app.position();
  if (!position.over) {
    const { game } = app.state;
    const seat = /** @type {0 | 1} */ (1 - position.seat);
    app.update({ game: gameFrom(game.start, game.cells.slice(0, game.at)), seat });
  }
}
