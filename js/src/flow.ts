// The widget of kind "flow": how large the gradient of each parameter is.

import css from "./flow/flow.css";
import { show } from "./flow/show";
import type { State } from "./flow/types";
import { page } from "./shared/page";
import report from "./shared/report.css";

export default page<State>(report + css, show);
