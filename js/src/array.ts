// The widget of kind "array".

import css from "./array/array.css";
import { show } from "./array/show";
import type { State } from "./array/types";
import { page } from "./shared/page";

export default page<State>(css, show);
