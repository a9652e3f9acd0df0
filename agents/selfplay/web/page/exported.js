// The page as a single file: the player inside it answers its requests.
import { byId } from "./dom.js";
import { exportedApi } from "./exported_api.js";
import { start } from "./main.js";

start(exportedApi(JSON.parse(byId("player-data").textContent)));
