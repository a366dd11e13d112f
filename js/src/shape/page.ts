// The widget of kind "shape": what an op was given that does not fit together.

import { any } from "../shared/check";
import { page } from "../shared/frame";
import report from "../shared/report.css";
import css from "./shape.css";
import { show } from "./show";
import type { State } from "./types";

export default page<State>(any, report + css, show);
