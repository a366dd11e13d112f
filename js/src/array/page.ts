// The widget of kind "array".

import css from "./array.css";
import { show } from "./show";
import { check } from "./types";
import { page } from "../shared/frame";

export default page(check, css, show);
