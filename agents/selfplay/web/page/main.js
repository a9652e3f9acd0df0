// The page as a whole: what is chosen and shown, and what is redrawn when that changes.
import { byId, html } from "./dom.js";
import { chosen, positionOf } from "./game.js";
import { linkTo, stateOf } from "./state.js";
import { complain, say, watchForNewer } from "./messages.js";
import { openPlayers } from "./players.js";
import { strip } from "./strip.js";
import { tabs } from "./tabs.js";
import { hero } from "./hero.js";
import { playingTable } from "./play.js";
import { timeBar } from "./time_bar.js";
import { insidePanel } from "./inside.js";
import { mistakesPanel } from "./mistakes.js";
import { beatPanel } from "./beat.js";
import { playgroundPanel } from "./playground.js";
import { keyboard } from "./keys.js";
import { themeSwitch } from "./theme.js";

/**
 * What the parts of the page have in common.
 *
 * @typedef {object} App
 * @property {import("./players.js").Player[]} players
 * @property {import("./state.js").State} state
 * @property {() => import("./players.js").Player} player The chosen one.
 * @property {() => import("./rules.js").Rules} rules The chosen player's.
 * @property {() => import("./game.js").Position} position The one on the board.
 * @property {(board?: string) => import("./players.js").Analysis} look What the chosen player does in a position.
 * @property {() => import("./players.js").Evaluation} judged
 * @property {(change: Partial<import("./state.js").State>) => void} update Changes the state and shows it.
 * @property {(change: Partial<import("./state.js").State>) => void} go Does the same in a step that the browser's Back undoes.
 * @property {() => Worker} newTrainer Starts the worker of the playground, trainer.js.
 * @property {string | null} course The folder of the course's pages, null where they are not beside this page.
 */

const data = JSON.parse(byId("data").textContent);
const trainer = new Blob([byId("trainer").textContent], { type: "text/javascript" });
const shown = [];

const app = {
  course: data.course,
  newTrainer: () => new Worker(URL.createObjectURL(trainer)),
  players: await openPlayers(data.players),
  state: null,
  player: () => app.players[app.state.player],
  rules: () => app.player().rules,
  position: () => positionOf(app.rules(), app.state.game),
  look: (board = app.position().board) => app.player().look(board, app.state.steps),
  judged: () => app.player().judged(app.state.steps),
  update: (change) => write(change, "replaceState"),
  go: (change) => write(change, "pushState"),
};

function write(change, how) {
  app.state = { ...app.state, ...change };
  const link = linkTo(app.state, app.player());
  if ((!app.state.playing || how === "pushState") && link !== location.hash) { // a browser allows some hundred in a while
    history[how](null, "", link);
  }
  shown.forEach((show) => show());
}

function readLink() {
  const { state, problem } = stateOf(location.hash, app.players);
  complain(problem);
  app.state = state;
}

/** Fill the list of players. */
function chooser() {
  const select = byId("player");
  const options = app.players.map(({ index, name, title, rules }) => html("option", { value: index, title: name }, `${title}, ${rules.rows}\u00d7${rules.cols}`));
  select.replaceChildren(...options);
  select.addEventListener("change", () => {
    complain(null);
    app.go({ ...chosen(app, Number(select.value)), setup: null, beside: null, playing: false });
    say(`You play against ${app.player().title}.`);
  });
  return () => {
    const player = app.player();
    select.value = String(player.index);
    select.title = player.name;
    document.title = `${player.title}: play, look inside, watch it learn`;
  };
}

/** Fill the panels beside the board. */
function panels() {
  const all = [
    { id: "beat", title: "Beat it", panel: beatPanel(app) },
    { id: "inside", title: "Look inside", panel: insidePanel(app) },
    { id: "mistakes", title: "Mistakes", panel: mistakesPanel(app) },
    { id: "playground", title: "Playground", panel: playgroundPanel(app) },
  ];
  const show = tabs(byId("panels"), all, (view) => app.go({ view }));
  return () => {
    const { view } = app.state;
    show(view);
    document.body.className = view === "playground" ? "alone" : view; // it has a board and a player of its own
    for (const { id, panel } of all) {
      panel.always?.();
      if (id === view) {
        panel.show();
      }
    }
  };
}

readLink();
themeSwitch();
shown.push(chooser(), hero(app), playingTable(app), strip(app), timeBar(app), panels());
keyboard(app);
addEventListener("hashchange", () => {
  readLink();
  app.update({});
});
app.update({});
if (data.version !== null && location.protocol === "http:") { // the file that a followed run leaves has no server
  watchForNewer(data.version);
}
