// The widget of kind "array": reads the payload, lays the cards out, and follows the host's theme.

import page from "./array/array.css";
import { Card } from "./array/card";
import { showLine } from "./array/small";
import { Strip } from "./array/strip";
import { kernelOf } from "./array/tiles";
import type { Item, State } from "./array/types";
import { el } from "./shared/dom";
import type { Stage } from "./shared/model";
import { hear } from "./shared/model";
import parts from "./shared/parts.css";
import { type Raw, unpack } from "./shared/payload";
import { Theme, watchTheme } from "./shared/theme";
import tokens from "./shared/tokens.css";

/** Draw a state into an element; returns what paints it again. */
function show(state: State, root: HTMLElement, stage: Stage, theme: Theme, signal: AbortSignal): () => void {
  const kernel = kernelOf(stage.model);
  const size = state.size || 640;
  const again: (() => void)[] = [];
  root.style.maxWidth = `${Math.max(380, size + 240)}px`;
  if (state.title && state.layout !== "one") root.append(el("h2", { class: "vt-title", text: state.title }));
  if (state.text) root.append(el("pre", { class: "vt-text", text: state.text, tabindex: 0, "aria-label": "printed" }));
  const build = (items: readonly Item[], first: number, named: boolean, until = signal): HTMLElement => {
    const short = items.length === 1 ? showLine(items[0] as Item, { theme, signal: until, named }) : null;
    if (short) {
      again.push(short.paint);
      return short.root;
    }
    const card = new Card(items, { theme, signal: until, kernel, size, first, named });
    again.push(card.repaint);
    return card.root;
  };
  if (state.layout === "strip") {
    const strip = new Strip(state.items, { theme, signal, build });
    again.push(strip.repaint);
    root.append(strip.root);
  } else if (state.layout === "linked") root.append(build(state.items, 0, true));
  else for (const [i, item] of state.items.entries()) root.append(build([item], i, true));
  for (const text of state.says ?? []) root.append(el("p", { class: "vt-note vt-says", text }));
  return () => {
    for (const paint of again) paint();
  };
}

function render(stage: Stage): () => void {
  const { model, el: host } = stage;
  const ended = new AbortController();
  if (stage.signal?.aborted) ended.abort();
  stage.signal?.addEventListener("abort", () => ended.abort(), { once: true });
  const root = el("div", { class: "vt" });
  const theme = new Theme(root);
  let now: AbortController | null = null;
  let paint = (): void => {};
  const draw = (): void => {
    now?.abort();
    const one = (now = new AbortController());
    ended.signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    root.replaceChildren();
    const raw = model.get("payload") as Raw | null | undefined;
    if (!raw || raw.byteLength === 0) return;
    try {
      paint = show(unpack(raw).state as State, root, stage, theme, one.signal);
    } catch (error) {
      root.replaceChildren(el("p", { class: "vt-note", text: `This array cannot be shown: ${(error as Error).message}` }));
    }
  };
  host.replaceChildren(el("style", { text: tokens + parts + page }), root);
  watchTheme(theme, root, () => paint(), ended.signal);
  hear(model, "change:payload", draw, ended.signal);
  draw();
  return () => ended.abort();
}

export default { render };
