// The page as the server sends it: the server answers its requests.
import { start } from "./main.js";
import { serverApi } from "./server_api.js";

start(serverApi(), () => new Worker("trainer.js"));
