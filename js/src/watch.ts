// The widget of kind "watch": a network while it trains.

import { page } from "./shared/page";
import { show } from "./watch/show";
import type { State } from "./watch/types";
import css from "./watch/watch.css";

export default page<State>(css, show);
