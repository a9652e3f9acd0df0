// Sentences for screen readers, and the line for errors.
import { byId, html } from "./dom.js";

const MOST_SENTENCES = 12;

/** Let a screen reader say a sentence, even if the next one follows at once. */
export function say(sentence) {
  const spoken = byId("spoken");
  spoken.append(html("p", {}, sentence));
  while (spoken.children.length > MOST_SENTENCES) {
    spoken.firstChild.remove();
  }
}

/** Show an error in one line; null removes the line. */
export function complain(sentence) {
  const line = byId("trouble");
  line.hidden = sentence === null;
  line.textContent = sentence ?? "";
}
