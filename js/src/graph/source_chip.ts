// Whose nodes a page shows: a filled dot for vistorch, a ring for another library.

import { el } from "../shared/dom";
import { svg } from "./svg";

export function sourceChip(source: string, title = "whose graph this is"): HTMLElement {
  const filled = source === "vistorch";
  const dot = svg("circle", { cx: 4, cy: 4, r: 3.2, fill: filled ? "currentColor" : "none", stroke: "currentColor", "stroke-width": filled ? 0 : 1.6 });
  const drawn = svg("svg", { width: 8, height: 8, "aria-hidden": "true" }, dot);
  return el("span.vt-source-chip", { title }, drawn as unknown as HTMLElement, source);
}
