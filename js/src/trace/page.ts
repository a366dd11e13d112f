// The widget of kind "trace": where the first bad value was born.

import graph from "../graph/graph.css";
import { any } from "../shared/check";
import { page } from "../shared/frame";
import report from "../shared/report.css";
import { show } from "./show";
import css from "./trace.css";
import type { State } from "./types";

export default page<State>(any, graph + report + css, show);
