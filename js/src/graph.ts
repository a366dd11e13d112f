// The widget of kind "graph".

import css from "./graph/graph.css";
import type { State } from "./graph/record";
import { show } from "./graph/show";
import { page } from "./shared/page";

export default page<State>(css, show);
