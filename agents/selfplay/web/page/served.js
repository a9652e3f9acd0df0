// The page as the server hands it out: the answers come from the server.
import { start } from "./main.js";
import { serverSource } from "./server_source.js";

start(serverSource());
