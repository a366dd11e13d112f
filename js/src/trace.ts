// The widget of kind "trace": where the first bad value was born.

import graph from "./graph/graph.css";
import { page } from "./shared/page";
import report from "./shared/report.css";
import { show } from "./trace/show";
import css from "./trace/trace.css";
import type { State } from "./trace/types";

export default page<State>(graph + report + css, show);
