// The widget of kind "compare": where two runs first differ.

import css from "./compare.css";
import { show } from "./show";
import type { State } from "./types";
import { any } from "../shared/check";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page<State>(any, report + css, show);
