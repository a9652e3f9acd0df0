// What was heard of the runs so far. Every event gives a new record.

/** Points of a run that are kept; older ones are thinned beyond it. */
const MOST = 800;

/**
 * @typedef {object} LiveRecord
 * @property {{index: number, name: string, differs: string, unit: string, rows: number, cols: number, k: number}[]} runs
 * @property {Map<number, any[]>} points
 * @property {Map<number, any>} newest
 * @property {boolean} gone The server does not answer.
 */

/** @returns {LiveRecord} */
export function emptyRecord() {
  return { runs: [], points: new Map(), newest: new Map(), gone: false };
}

/**
 * Return the record after an event.
 *
 * @param {LiveRecord} record
 * @returns {LiveRecord}
 */
export function withEvent(record, event, data) {
  switch (event) {
    case "gone":
      return { ...record, gone: true };
    case "back":
      return { ...record, gone: false };
    case "runs":
      return { ...record, runs: data.runs };
    case "points":
      return { ...record, points: new Map(record.points).set(data.run, longer(data.anew ? [] : record.points.get(data.run) ?? [], data.points)) };
    case "newest":
      return { ...record, newest: new Map(record.newest).set(data.run, data) };
    default:
      return record;
  }
}

function longer(known, added) {
  const all = [...known, ...added];
  return all.length > MOST ? all.filter((_, i) => i % 2 === 0 || i === all.length - 1) : all;
}
