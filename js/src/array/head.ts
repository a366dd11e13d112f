// The first line of a card: name, shape and the rest of what it is; the counter of bad values; layers, picture, zoom.

import { button, el, glyph } from "../shared/dom";
import { tally, total } from "./bad";
import { most } from "./camera";
import type { CardContext } from "./context";
import { metaOf } from "./stats";
import type { Item } from "./types";

/** The name and what it is, as text. */
export function nameplate(item: Item, name = item.name || item.index): (HTMLElement | null)[] {
  const meta = metaOf(item).map((text) => el("span", { text }));
  return [name ? el("b.vt-name", { text: name, title: name }) : null, el("span.vt-meta", {}, ...meta)];
}

/** The counter of what is not finite, with or without its buttons; null where all is well. */
export function badPill(item: Item, walk?: (step: 1 | -1) => void, signal?: AbortSignal): HTMLElement | null {
  if (!total(item.bad)) return null;
  const parts = tally(item.bad).map(({ sign, text }) => el("span", {}, glyph(sign), text));
  const pill = el("span.vt-bads", { role: "group", "aria-label": "values that are not finite" }, ...parts);
  if (walk && signal) {
    for (const [step, sign, name] of [
      [-1, "‹", "previous bad value  ( [ )"],
      [1, "›", "next bad value  ( ] )"],
    ] as const) {
      pill.append(button("button", sign, name, () => walk(step), signal));
    }
  }
  return pill;
}

/** Two or three buttons of which one is on. */
export class Switch {
  readonly box: HTMLElement;
  #buttons: HTMLButtonElement[];

  constructor(label: string, names: readonly string[], chosen: (which: number) => void, signal: AbortSignal) {
    this.#buttons = names.map((text, which) => button("button", text, "", () => chosen(which), signal));
    this.box = el("span.vt-switch", { role: "group", "aria-label": label }, ...this.#buttons);
  }

  show(which: number): void {
    this.#buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === which)));
  }
}

export interface HeadCalls {
  zoom(by: number): void;
  whole(): void;
  bad(step: 1 | -1): void;
  layer(which: number): void;
  image(on: boolean): void;
  help(): void;
  more(): void;
}

export class Head {
  readonly box: HTMLElement;
  #context: CardContext;
  #layers: Switch | null = null;
  #image: Switch | null = null;
  #zoom = el("span.vt-zoomtext");
  #buttons: HTMLButtonElement[];

  constructor(context: CardContext, calls: HeadCalls, named: boolean) {
    this.#context = context;
    const { signal } = context;
    const item = (context.sheets[0] as (typeof context.sheets)[0]).item;
    if (item.layers.length > 1)
      this.#layers = new Switch(
        "layer",
        item.layers.map((l) => l.name),
        calls.layer,
        signal,
      );
    if (item.image)
      this.#image = new Switch("shown as", ["picture", "values"], (which) => calls.image(which === 0), signal);
    this.#buttons = [
      button("button.vt-ic", "−", "zoom out  ( - )", () => calls.zoom(1 / 1.6), signal),
      button("button.vt-ic", "+", "zoom in  ( + )", () => calls.zoom(1.6), signal),
      button("button", "Fit", "fit  ( 0 )", calls.whole, signal),
    ];
    this.box = el(
      "div",
      { class: "vt-head" },
      ...(named ? nameplate(item) : []),
      el("span.vt-space"),
      badPill(item, calls.bad, signal),
      this.#layers?.box ?? null,
      this.#image?.box ?? null,
      el(
        "span.vt-zooms",
        {},
        this.#zoom,
        el("span.vt-zoom", { role: "group", "aria-label": "zoom" }, ...this.#buttons),
        button("button.vt-stat", "stats", "", calls.more, signal),
        button("button.vt-ic", "?", "keys  ( ? )", calls.help, signal),
      ),
    );
  }

  show(): void {
    const { pose, sheets } = this.#context;
    this.#layers?.show(sheets[0]?.layer ?? 0);
    this.#image?.show(pose.image ? 0 : 1);
    const { zoom } = pose.camera;
    this.#zoom.textContent = `${zoom < 9.95 ? zoom.toFixed(1) : Math.round(zoom)}×`;
    const [out, into, whole] = this.#buttons as [HTMLButtonElement, HTMLButtonElement, HTMLButtonElement];
    out.disabled = whole.disabled = zoom <= 1;
    into.disabled = zoom >= most(pose.fit) - 1e-9;
  }
}
