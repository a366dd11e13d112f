// The widget of kind "graph".

import css from "./graph.css";
import type { State } from "./record";
import { show } from "./show";
import { page } from "../shared/frame";

export default page<State>(css, show);
