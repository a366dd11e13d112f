// Lays out a record of kind "array": one card, three linked ones, or a strip of many.

import { el } from "../shared/dom";
import { listen } from "../shared/model";
import type { Frame } from "../shared/frame";
import { Card } from "./card";
import { pictured, showLine } from "./small";
import { Strip } from "./strip";
import { kernelOf } from "./tiles";
import type { Item, State } from "./types";

const USUAL = 640;
const WIDEST = 1280;

/** Draw a state; `live` says whether a kernel answers for its tiles. */
export function show(state: State, { root, model, theme, signal }: Frame, live = true): () => void {
  const kernel = live ? kernelOf(model) : null;
  const size = state.size || 640;
  const again: (() => void)[] = [];
  // Where no width was asked for, the card takes what the cell has.
  root.style.maxWidth = `${size === USUAL ? WIDEST : Math.max(380, size + 240)}px`;
  // A card says its own name: the title stands above where it says more than that.
  if (state.title && state.items.some((item) => item.name !== state.title)) {
    root.append(el("div.vt-title", { text: state.title, role: "heading", "aria-level": 2 }));
  }
  if (state.text) root.append(el("div.vt-text", { text: state.text, tabindex: 0, "aria-label": "printed" }));
  const build = (group: readonly Item[], first: number, named: boolean, until = signal): HTMLElement => {
    const items = group.length > 1 && group.every(pictured) ? group : group.slice(0, 1);
    const short = items.length === 1 ? showLine(items[0] as Item, { theme, signal: until, named }) : null;
    const card = short ?? new Card(items, { theme, signal: until, kernel, size, first, named });
    again.push(card.repaint);
    return card.root;
  };
  if (state.layout === "strip") {
    const strip = new Strip(state.items, { theme, signal, build });
    again.push(strip.repaint);
    root.append(strip.root);
  } else if (state.layout === "linked" && state.items.length > 1) root.append(build(state.items, 0, true));
  else for (const [i, item] of state.items.entries()) root.append(build([item], i, true));
  for (const text of state.says ?? []) root.append(el("div.vt-note.vt-says", { text }));
  const repaint = (): void => {
    for (const paint of again) paint();
  };
  listen(model, "change:live", repaint, signal);
  return repaint;
}
