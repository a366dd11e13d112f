// The widget of kind "memory": what is kept for backward, over time.

import graph from "./graph/graph.css";
import css from "./memory/memory.css";
import { show } from "./memory/show";
import type { State } from "./memory/types";
import { page } from "./shared/page";
import report from "./shared/report.css";

export default page<State>(graph + report + css, show);
