// The widget of kind "flow": how large the gradient of each parameter is.

import css from "./flow.css";
import { show } from "./show";
import { check } from "./types";
import { page } from "../shared/frame";
import report from "../shared/report.css";

export default page(check, report + css, show);
