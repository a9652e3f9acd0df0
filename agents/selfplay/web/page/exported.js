// The page as a file of its own: the answers come from the player that lies inside it.
import { byId } from "./dom.js";
import { start } from "./main.js";
import { ownSource } from "./own_source.js";

start(ownSource(JSON.parse(byId("own").textContent)));
