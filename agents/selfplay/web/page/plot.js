// Plots of runs over time, several in one picture: told apart by dashes and markers, not by colours alone.
import { html, svg } from "./dom.js";
import { numberText } from "./sentences.js";

const [WIDTH, HEIGHT] = [380, 220];
const [LEFT, RIGHT, TOP, BOTTOM] = [48, 12, 10, 26];
const MARKERS = 6;
const LEAST_APART = 0.09; // of the height, so that the numbers of two ticks do not touch
const DASHES = [null, "7 4", "2 3", "10 3 2 3", "14 4", "5 2 2 2 2 2"];
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",
  "M-3.5-3.5h7v7h-7z",
  "M0-4.8 4.6 3.4h-9.2z",
  "M0-5 5 0 0 5-5 0z",
  "M0 4.8 4.6-3.4h-9.2z",
  "M-5 0h10M0-5v10",
];

/** Runs that can be told apart in one picture. */
export const STYLES = DASHES.length;

/**
 * @typedef {object} Series
 * @property {string} name
 * @property {number} style Which dashes and markers, from 0.
 * @property {{x: number, y: number}[]} points
 */

/**
 * Return a scale on which powers of ten are as far apart as usual, and which has a place for 0.
 *
 * @param {number} largest
 */
export function countScale(largest) {
  const top = Math.max(10, largest);
  const ticks = [0];
  for (let tick = 1; tick <= top; tick *= 10) {
    ticks.push(tick);
  }
  const place = (value) => Math.log1p(value) / Math.log1p(top);
  const apart = ticks.filter((tick) => tick === 0 || place(tick) >= LEAST_APART);
  const every = Math.ceil(apart.length / 6);
  return { place, ticks: apart.filter((_, i) => i === 0 || (apart.length - 1 - i) % every === 0) };
}

/** Return a scale of equal steps from the smallest to the largest value. */
export function evenScale(smallest, largest) {
  const span = largest - smallest || 1;
  const step = [1, 2, 5, 10].map((part) => part * 10 ** Math.floor(Math.log10(span))).find((size) => span / size <= 5);
  const low = Math.floor(smallest / step) * step;
  const high = Math.max(low + step, Math.ceil(largest / step) * step);
  const ticks = Array.from({ length: Math.round((high - low) / step) + 1 }, (_, i) => low + i * step);
  return { place: (value) => (value - low) / (high - low), ticks };
}

/**
 * Draw the curves of runs.
 *
 * @param {string} title
 * @param {Series[]} series
 * @param {(values: number[]) => {place: (value: number) => number, ticks: number[]}} scaleOf
 * @param {string} unit of the axis below
 */
export function plot(title, series, scaleOf, unit) {
  const drawn = series.filter(({ points }) => points.length);
  const all = drawn.flatMap(({ points }) => points);
  const last = Math.max(1, ...all.map(({ x }) => x));
  const ys = scaleOf(all.map(({ y }) => y));
  const at = ({ x, y }) => [
    LEFT + (x / last) * (WIDTH - LEFT - RIGHT),
    HEIGHT - BOTTOM - ys.place(y) * (HEIGHT - TOP - BOTTOM),
  ];
  const latest = drawn.map(({ name, points }) => `${name} ${numberText(points.at(-1).y)}`).join(", ");
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "plot", role: "img", "aria-label": `${title}, latest: ${latest || "none yet"}`,
  });
  picture.append(...ys.ticks.map((tick) => yTick(tick, at({ x: 0, y: tick })[1])));
  picture.append(...evenScale(0, last).ticks.filter((tick) => tick <= last).map((tick) => xTick(tick, at({ x: tick, y: ys.ticks[0] })[0])));
  picture.append(...drawn.map((each) => curve(each, at)));
  return html("figure", { class: "plot-figure" }, html("figcaption", {}, html("h3", {}, title), html("span", {}, `over ${unit}`)), picture);
}

function curve({ name, style, points }, at) {
  const places = points.map(at);
  const d = places.map(([x, y], i) => `${i ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("");
  const every = Math.max(1, Math.ceil(points.length / MARKERS));
  const marks = places.map(([x, y], i) => {
    const seen = i === places.length - 1 || (places.length - 1 - i) % every === 0;
    return seen ? marker(style, x, y, `${name}: ${numberText(points[i].y)} at ${numberText(points[i].x)}`) : null;
  });
  return svg("g", { class: `series-${style}` }, svg("path", { class: "curve", d, "stroke-dasharray": DASHES[style] }), ...marks);
}

function marker(style, x, y, words) {
  const title = words === null ? null : svg("title", {}, words);
  return svg("path", { class: "marker", d: SHAPES[style], transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` }, title);
}

function yTick(value, y) {
  return svg("g", { class: "tick" },
    svg("path", { d: `M${LEFT} ${y.toFixed(1)}H${WIDTH - RIGHT}` }),
    svg("text", { x: LEFT - 6, y, "text-anchor": "end", "dominant-baseline": "central" }, compact(value)));
}

function xTick(value, x) {
  return svg("g", { class: "tick" },
    svg("text", { x, y: HEIGHT - 8, "text-anchor": x > WIDTH - 30 ? "end" : "middle" }, compact(value)));
}

function compact(value) {
  return value >= 10000 ? new Intl.NumberFormat("en", { notation: "compact" }).format(value) : numberText(value);
}

/** Return a sample of the line and marker of a run, for the legend. */
export function legendSample(style) {
  return svg("svg", { viewBox: "0 0 44 14", class: `sample series-${style}`, "aria-hidden": "true" },
    svg("path", { class: "curve", d: "M2 7H42", "stroke-dasharray": DASHES[style] }), marker(style, 22, 7, null));
}
