// A page that its server writes anew while a run trains: it says when there is a newer one.
import { button, byId } from "./dom.js";

const EVERY = 2000; // milliseconds between two questions

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
