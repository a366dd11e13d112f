// The widget of kind "memory": what is kept for backward, over time.

import graph from "../graph/graph.css";
import css from "./memory.css";
import { show } from "./show";
import { check } from "./types";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page(check, graph + report + css, show);
