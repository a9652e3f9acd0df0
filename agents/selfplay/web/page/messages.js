// Sentences for screen readers, the line for errors, and the one that says that there is a newer page.
import { button, byId, html } from "./dom.js";

const MOST_SENTENCES = 12;
const EVERY = 2000; // milliseconds between two questions

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

/** Ask the server for its version now and then, until it is another than that of this page. */
export function watchForNewer(version) {
  const timer = setInterval(async () => {
    const response = await fetch(location.pathname, { method: "HEAD" }).catch(() => null);
    if (response?.ok && response.headers.get("ETag") !== version) {
      clearInterval(timer);
      const line = byId("newer");
      line.replaceChildren("The run has a newer player. ", button("Show it", () => location.reload()));
      line.hidden = false;
    }
  }, EVERY);
}
