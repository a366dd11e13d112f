// The widget of kind "steps".

import graphCss from "./graph/graph.css";
import { page } from "./shared/page";
import { show } from "./steps/show";
import css from "./steps/steps.css";
import type { State } from "./steps/types";

export default page<State>(graphCss + css, show);
