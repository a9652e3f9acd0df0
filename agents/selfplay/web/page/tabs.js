// Tabs: one panel is seen at a time, and the arrow keys lead from tab to tab.
import { html, setAttribute } from "./dom.js";

/**
 * Fill a place with tabs.
 *
 * @param {HTMLElement} place
 * @param {{id: string, title: string, panel: {root: HTMLElement}}[]} all
 * @param {(id: string) => void} choose is called with the tab that a person chooses
 * @returns {(chosen: string) => void} shows a panel
 */
export function tabs(place, all, choose) {
  const heads = all.map(({ id, title }) => {
    const attributes = { type: "button", role: "tab", id: `tab-${id}`, "aria-controls": `panel-${id}` };
    return html("button", { ...attributes, click: () => choose(id), keydown: onKey }, title);
  });
  const bodies = all.map(({ id, panel }) => {
    const attributes = { role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `tab-${id}`, class: "panel" };
    return html("div", attributes, panel.root);
  });
  place.replaceChildren(html("div", { role: "tablist", "aria-label": "About the player" }, ...heads), ...bodies);

  function onKey(event) {
    const at = heads.indexOf(event.currentTarget);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: heads.length - 1 }[event.key];
    if (to === undefined) {
      return;
    }
    event.preventDefault();
    const head = heads[(to + heads.length) % heads.length];
    head.focus();
    head.click();
  }

  return (chosen) => {
    all.forEach(({ id }, i) => {
      setAttribute(heads[i], "aria-selected", String(id === chosen));
      setAttribute(heads[i], "tabindex", id === chosen ? 0 : -1);
      bodies[i].hidden = id !== chosen;
    });
  };
}
