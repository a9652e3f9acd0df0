// The sentences for screen readers, and the line that says what went wrong.
import { byId, html } from "./dom.js";

const MOST_SENTENCES = 12;

/** Let a screen reader say a sentence; each is said, however soon the next one follows. */
export function say(sentence) {
  const spoken = byId("spoken");
  spoken.append(html("p", {}, sentence));
  while (spoken.children.length > MOST_SENTENCES) {
    spoken.firstChild.remove();
  }
}

/** Show what went wrong in one line; null takes the line away. */
export function complain(sentence) {
  const line = byId("trouble");
  line.hidden = sentence === null;
  line.textContent = sentence ?? "";
}
