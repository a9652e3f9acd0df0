// The curve of the ways to beat a learner while it trains, over a logarithmic scale with a place for 0.
import { html, setAttribute, svg } from "./dom.js";
import { counted, numberText } from "./sentences.js";
import { proofBegins } from "./time_bar.js";

const [ACROSS, DOWN] = [1000, 300];
const SCALE = [0, 1, 10, 100, 1_000, 10_000, 100_000];

/** Make the curve: its element, and what shows the points of a run and of the run before it. */
export function waysCurve() {
  const lines = svg("svg", { viewBox: `0 0 ${ACROSS} ${DOWN}`, preserveAspectRatio: "none", "aria-hidden": "true" });
  const scale = html("div", { class: "scale", "aria-hidden": "true" });
  const flag = html("span", { class: "flag-sign" }, "\u2691 proved");
  const plot = html("div", { class: "plot", role: "img", "aria-label": "No verdict yet" }, lines, scale, flag);
  const earlier = html("span", { class: "hint" }, "Dashed: the run before.");
  const end = html("span", {});
  const root = html("figure", { class: "curve" }, html("figcaption", { class: "row" }, html("h2", {}, "Ways to beat it"), earlier), plot,
    html("p", { class: "hint plies-scale" }, html("span", {}, "0"), end));

  function show(points, before) {
    const last = Math.max(1, ...[points, before].map((some) => some.at(-1)?.steps ?? 0));
    const most = Math.max(1_000, ...[...points, ...before].map(({ ways }) => ways));
    const height = (ways) => DOWN * (1 - Math.log1p(ways) / Math.log1p(most));
    const across = (steps) => (ACROSS * steps / last).toFixed(1);
    const path = (some) => some.map(({ steps, ways }, i) => `${i ? "L" : "M"}${across(steps)} ${height(ways).toFixed(1)}`).join("");
    const marks = SCALE.filter((ways) => ways <= most);
    const proved = proofBegins(points);
    lines.replaceChildren(
      svg("path", { class: "curve-rules", d: marks.map((ways) => `M0 ${height(ways).toFixed(1)}H${ACROSS}`).join("") }),
      svg("path", { class: "curve-before", d: path(before) }),
      svg("path", { class: "curve-line", d: path(points) }),
      svg("path", { class: "proof-line", d: proved === null ? "" : `M${across(proved)} 0V${DOWN}` }));
    scale.replaceChildren(...marks.map((ways) => {
      const mark = html("span", {}, numberText(ways));
      mark.style.top = `${100 * height(ways) / DOWN}%`;
      return mark;
    }));
    flag.hidden = proved === null;
    flag.style.insetInlineStart = `${100 * (proved ?? 0) / last}%`;
    setAttribute(flag, "class", proved > 0.7 * last ? "flag-sign before" : "flag-sign");
    earlier.hidden = !before.length;
    end.textContent = `${numberText(last)} moves`;
    const words = points.filter((_, i) => i === 0 || i === points.length - 1).map(({ steps, ways }) => `${counted(ways, "way")} after ${numberText(steps)} moves`);
    setAttribute(plot, "aria-label", `${words.join(", ")}${proved === null ? "" : `, proved from ${numberText(proved)} moves on`}`);
  }

  return { root, show };
}
