// The widget of kind "trace": where the first bad value appeared.

import graph from "../graph/graph.css";
import { page } from "../shared/frame";
import report from "../shared/report.css";
import { show } from "./show";
import css from "./trace.css";
import { check } from "./types";

export default page(check, graph + report + css, show);
