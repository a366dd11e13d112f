// The widget of kind "steps".

import graphCss from "../graph/graph.css";
import { any } from "../shared/check";
import { page } from "../shared/frame";
import { show } from "./show";
import css from "./steps.css";
import type { State } from "./types";

export default page<State>(any, graphCss + css, show);
