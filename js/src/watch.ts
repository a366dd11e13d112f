// The widget of kind "watch": a network while it trains.

import { page } from "./shared/page";
import layers from "./watch/layers.css";
import main from "./watch/main.css";
import narrow from "./watch/narrow.css";
import panes from "./watch/panes.css";
import { show } from "./watch/show";
import tasks from "./watch/tasks.css";
import type { State } from "./watch/types";
import frame from "./watch/watch.css";

export default page<State>(frame + main + panes + layers + tasks + narrow, show);
