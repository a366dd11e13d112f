// The widget of kind "ranks": a training on several ranks.

import css from "./ranks.css";
import { show } from "./show";
import { check } from "./types";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page(check, report + css, show);
