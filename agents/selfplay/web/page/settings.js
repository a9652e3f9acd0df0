// The settings of the playground. Their names and values are those of its lists in index.html, as texts.
import { byId } from "./dom.js";

const NETWORK = {
  algorithm: "dqn", target: "negamax", rate: "0.012", explore: "0.5", opponent: "itself", illegal: "penalty",
  replay: "on", targetNetwork: "on", additions: "on", seed: "0",
};
/** By algorithm. */
export const DEFAULTS = { dqn: NETWORK, table: { ...NETWORK, algorithm: "table", rate: "0.1", explore: "0.6" } };

/** Return the parts of a link that hold what differs from the defaults. */
export function settingParts(settings) {
  const usual = { ...DEFAULTS[settings.algorithm], algorithm: "dqn" };
  return Object.keys(usual).filter((name) => settings[name] !== usual[name]).map((name) => `${name}=${settings[name]}`);
}

/** Return the settings in a link, URLSearchParams; what it lacks, or what is not in a list, is as in the defaults. */
export function settingsIn(link) {
  const settings = { ...(link.get("algorithm") === "table" ? DEFAULTS.table : DEFAULTS.dqn) };
  for (const { name, options } of byId("playground-text").content.querySelectorAll("select")) {
    const option = [...options].find(({ value }) => value === link.get(name));
    settings[name] = option?.value ?? settings[name];
  }
  return settings;
}
