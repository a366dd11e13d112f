// The widget of kind "shape": what an op was given that does not fit together.

import { page } from "./shared/page";
import report from "./shared/report.css";
import css from "./shape/shape.css";
import { show } from "./shape/show";
import type { State } from "./shape/types";

export default page<State>(report + css, show);
