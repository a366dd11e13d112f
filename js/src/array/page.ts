// The widget of kind "array".

import css from "./array.css";
import { show } from "./show";
import type { State } from "./types";
import { any } from "../shared/check";
import { page } from "../shared/frame";

export default page<State>(any, css, show);
