// The widget of kind "watch": a network while it trains.

import finding from "../shared/finding.css";
import { page } from "../shared/frame";
import layers from "./layers.css";
import main from "./main.css";
import narrow from "./narrow.css";
import panes from "./panes.css";
import { show } from "./show";
import tasks from "./tasks.css";
import { check } from "./types";
import frame from "./watch.css";

export default page(check, frame + main + panes + layers + tasks + finding + narrow, show);
