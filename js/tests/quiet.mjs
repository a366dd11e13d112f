// Node warns of more than ten listeners on one signal, which is how a page of many parts is taken down.
import { setMaxListeners } from "node:events";

setMaxListeners(0);
