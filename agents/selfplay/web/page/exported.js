// The page as a single file: the player inside it answers its requests.
import { byId } from "./dom.js";
import { exportedApi } from "./exported_api.js";
import { start } from "./main.js";

const data = JSON.parse(byId("player-data").textContent);
const trainer = new Blob([byId("trainer").textContent], { type: "text/javascript" });
if (parent !== window) { // in a page of the site, which makes the frame as high as this, and says its theme
  addEventListener("message", ({ data }) => {
    document.documentElement.style.colorScheme = { light: "light", dark: "dark" }[data?.theme] ?? "light dark";
  });
  new ResizeObserver(() => parent.postMessage({ height: document.body.offsetHeight }, "*")).observe(document.body);
}
start(exportedApi(data), () => new Worker(URL.createObjectURL(trainer)), data.course);
