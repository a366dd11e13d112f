// The widget of kind "compare": where two runs first differ.

import css from "./compare/compare.css";
import { show } from "./compare/show";
import type { State } from "./compare/types";
import { page } from "./shared/page";
import report from "./shared/report.css";

export default page<State>(report + css, show);
