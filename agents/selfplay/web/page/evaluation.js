// What the evaluation of a player says, in words, and long lists of it.
import { button, html } from "./dom.js";
import { counted, numberText } from "./sentences.js";

const FIRST_SHOWN = 24;

/** Fill a list with the first of its items, which are made when they are shown; a button shows the others. */
export function longList(list, makers) {
  const fill = (some) => list.append(...some.map((make) => make()));
  fill(makers.slice(0, FIRST_SHOWN));
  const others = makers.slice(FIRST_SHOWN);
  const more = button(`Show ${others.length} more`, () => {
    fill(others);
    list.children[FIRST_SHOWN].querySelector("button").focus();
    more.remove();
  });
  return others.length ? [list, html("div", { class: "row" }, more)] : [list];
}

/** Return what is proved: "unbeatable", "unexploitable", "beaten", or "unknown". */
export function statusOf({ proved, ways }) {
  return proved ?? (ways.some((number) => number > 0) ? "beaten" : "unknown");
}

/** Return the number of ways to beat a player, the sum of some, with a word where there may be more. */
export function waysText({ ways, complete }) {
  const all = ways.reduce((sum, number) => sum + number, 0);
  return `${complete ? "" : "at least "}${counted(all, "way")} to beat it`;
}

/** Return the sentence that reconciles a proof with states that are still wrong; null if there are none. */
export function stillWrong({ number, reached }) {
  if (!number || reached === null) {
    return null;
  }
  const states = `${numberText(number)} state${number === 1 ? " is" : "s are"} still wrong`;
  const met = reached === 0 ? "its own play never reaches them" : `its own play reaches ${numberText(reached)}, and gives only a win away there`;
  return html("span", { class: "hint" }, `${states}: ${met}.`);
}
