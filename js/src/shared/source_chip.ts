// Whose nodes a page shows: a filled dot for vistorch, a ring for another library.

import { el } from "./dom";

export function sourceChip(source: string, title = "whose graph this is"): HTMLElement {
  const dot = el("i.vt-source-dot", { "data-own": source === "vistorch", "aria-hidden": "true" });
  return el("span.vt-source-chip", { title }, dot, source);
}
