// The widget of kind "compare": where two runs first differ.

import css from "./compare.css";
import { show } from "./show";
import { check } from "./types";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page(check, report + css, show);
