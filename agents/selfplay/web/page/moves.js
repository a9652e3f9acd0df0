// The panel of the game: its moves, the link to the position, and the results of the games so far.
import { button, html } from "./dom.js";
import { MARKS, emptyBoard, squareName, squareWords } from "./rules.js";
import { lookedAt, positionOf, seatOfPly } from "./game.js";
import { say } from "./messages.js";

/**
 * Make the panel.
 *
 * @param {import("./main.js").App} app
 */
export function gamePanel(app) {
  const list = html("ol", { class: "moves", "aria-label": "Moves" });
  const note = html("p", { class: "hint" });
  const share = button("Copy a link to this position", () => copyLink(share));
  const tally = html("p", { class: "tally" });
  const root = html("div", {}, html("h3", {}, "Moves"), note, list, html("div", { class: "row" }, share), tally, guide(app));
  const counts = { win: 0, draw: 0, loss: 0 };
  let counted = null;

  function count() {
    const { game, seat } = app.state;
    const end = app.position();
    const own = game.cells.some((_, ply) => seatOfPly(game, ply) === seat);
    if (!end.over || end.taken !== null || game.at < game.cells.length || !own || counted === game) {
      return;
    }
    counted = game;
    if (app.state.view !== "games-lost") {
      counts[end.winner === null ? "draw" : end.winner === seat ? "win" : "loss"] += 1;
    }
  }

  return {
    root,
    show() {
      const { game } = app.state;
      counted ??= game; // a game from a link was not played on this visit
      list.replaceChildren(...game.cells.map((cell, ply) => html("li", {}, moveButton(app, cell, ply))));
      note.textContent = noteOf(app);
      count();
      tally.textContent = `On this visit you have won ${counts.win}, drawn ${counts.draw} and lost ${counts.loss}.`;
    },
  };
}

/** Return a line about each of the other panels, for newcomers. */
function guide(app) {
  const lines = [
    ["Look inside", "For the position on the board: what the player has learned of each square, beside the exact result."],
    ["Mistakes", "The states in which its move gives something away, the worst first."],
    ["Games lost", "Games that it loses, to step through."],
    ...(app.api.live === null ? [] : [["Live", "The exact scores of runs while they train."]]),
  ];
  return html("dl", { class: "guide" }, ...lines.flatMap(([name, words]) => [html("dt", {}, name), html("dd", {}, words)]));
}

function noteOf(app) {
  const { game } = app.state;
  const begun = game.start === emptyBoard(app.player()) ? "" : "The game begins with a position that was set up. ";
  const none = game.cells.length ? "Click a move to go back to it." : "No move yet: click a square of the board.";
  return begun + none;
}

function moveButton(app, cell, ply) {
  const { game } = app.state;
  const mark = MARKS[seatOfPly(game, ply)];
  const taken = positionOf(app.player(), game, ply + 1).taken !== null;
  const show = () => app.update({ game: lookedAt(game, ply + 1) });
  const words = `${mark}, ${squareWords(app.player(), cell)}${taken ? ", which is taken" : ""}`;
  const attributes = { class: "move", "aria-label": words, "aria-current": game.at === ply + 1 ? "step" : null };
  const move = button("", show, attributes);
  move.append(html("b", { class: `of-${mark}` }, mark), ` ${squareName(app.player(), cell)}${taken ? " !" : ""}`);
  return move;
}

async function copyLink(share) {
  try {
    await navigator.clipboard.writeText(location.href);
    say("The link is copied.");
    share.textContent = "Copied";
  } catch {
    share.textContent = "Not allowed: copy the address of the page";
  }
  setTimeout(() => { share.textContent = "Copy a link to this position"; }, 3000);
}
