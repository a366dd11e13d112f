// The widget of kind "steps".

import graphCss from "../graph/graph.css";
import { page } from "../shared/frame";
import { show } from "./show";
import css from "./steps.css";
import { check } from "./types";

export default page(check, graphCss + css, show);
