// The widget of kind "graph".

import css from "./graph.css";
import { check } from "./types";
import { show } from "./show";
import { page } from "../shared/frame";

export default page(check, css, show);
