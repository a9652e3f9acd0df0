// The page as a single file: the player inside it answers its requests.
import { byId } from "./dom.js";
import { exportedApi } from "./exported_api.js";
import { start } from "./main.js";

const data = JSON.parse(byId("player-data").textContent);
const trainer = new Blob([byId("trainer").textContent], { type: "text/javascript" });
start(exportedApi(data), () => new Worker(URL.createObjectURL(trainer)), data.course);
