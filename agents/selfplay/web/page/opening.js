// The first screen of a visitor without a link: a mistake that an earlier snapshot of the player made.
import { showMistake } from "./mistakes.js";
import { stopsOf } from "./time_bar.js";

/** Put the mistake by which the last snapshot that could be beaten loses most games on the board, unless one has begun. */
export async function showOpening(app) {
  const { state } = app;
  const { points } = await app.history();
  const wrong = points.findLast(({ ways }) => ways > 0);
  const steps = stopsOf(app.player().snapshots).slice(0, -1).findLast((each) => each <= wrong?.steps);
  if (steps === undefined) {
    return;
  }
  const { groups } = await app.evaluation(state.player, steps);
  const mistake = groups.find(({ game }) => game !== null);
  if (mistake !== undefined && app.state === state) {
    app.state = { ...state, steps };
    showMistake(app, mistake);
  }
}
