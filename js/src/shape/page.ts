// The widget of kind "shape": what an op was given that does not fit together.

import { page } from "../shared/frame";
import report from "../shared/report.css";
import css from "./shape.css";
import { show } from "./show";
import { check } from "./types";

export default page(check, report + css, show);
