// Names of players that people read; the name of a run's folder is only its tooltip, and in links.

const ALGORITHMS = { dqn: "DQN", "minimax-q": "Minimax-Q", "afterstate-q": "Afterstate Q", "td-value": "TD values", "td-backup": "TD backup" };

/**
 * Give each player a title, "DQN, learning rate 0.001 (seed 5)"; where two have the same one, with the name of its folder.
 *
 * @param {import("./players.js").Player[]} players
 */
export function titled(players) {
  const titles = players.map(titleOf);
  return players.map((player, i) => {
    const unique = titles.filter((title) => title === titles[i]).length === 1;
    return { ...player, title: unique ? titles[i] : `${titles[i]} (${player.name})` };
  });
}

function titleOf({ name, kind, run, differs }) {
  if (name === "shipped") {
    return "Shipped player";
  }
  if (kind === "built-in") {
    return name[0].toUpperCase() + name.slice(1);
  }
  if (!run || !differs) {
    return name;
  }
  const settings = differs.split(", ").filter((setting) => !/^(total steps|eval every) /.test(setting)); // how long, not what
  const seed = settings.pop();
  return `${[ALGORITHMS[kind] ?? kind, ...settings].join(", ")} (${seed})`;
}
