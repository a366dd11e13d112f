// The widget of kind "compare": where two runs first differ.

import css from "./compare.css";
import { show } from "./show";
import type { State } from "./types";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page<State>(report + css, show);
