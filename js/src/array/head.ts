// The first line of a card: name, shape and the rest of what it is; the counter of bad values; layers, picture, zoom.

import { el, glyph } from "../shared/dom";
import { tally, total } from "./bad";
import { most } from "./camera";
import type { Desk } from "./desk";
import { metaOf } from "./stats";
import type { Item } from "./types";

/** The name and what it is, as text. */
export function nameplate(item: Item, name = item.name || item.index): (HTMLElement | null)[] {
  const meta = metaOf(item).map((text) => el("span", { text }));
  return [name ? el("b", { class: "vt-name", text: name, title: name }) : null, el("span", { class: "vt-meta" }, ...meta)];
}

/** The counter of what is not finite, with or without its buttons; null where all is well. */
export function badPill(item: Item, walk?: (step: 1 | -1) => void, signal?: AbortSignal): HTMLElement | null {
  if (!total(item.bad)) return null;
  const parts = tally(item.bad).map(({ sign, text }) => el("span", {}, glyph(sign), text));
  const pill = el("span", { class: "vt-bads", role: "group", "aria-label": "values that are not finite" }, ...parts);
  if (walk && signal) {
    for (const [step, sign, name] of [[-1, "‹", "previous bad value  ( [ )"], [1, "›", "next bad value  ( ] )"]] as const) {
      const button = el("button", { type: "button", text: sign, "aria-label": name, title: name });
      button.addEventListener("click", () => walk(step), { signal });
      pill.append(button);
    }
  }
  return pill;
}

/** Two or three buttons of which one is on. */
export class Switch {
  readonly box: HTMLElement;
  private buttons: HTMLButtonElement[];

  constructor(label: string, names: readonly string[], chosen: (which: number) => void, signal: AbortSignal) {
    this.buttons = names.map((text, which) => {
      const button = el("button", { type: "button", text });
      button.addEventListener("click", () => chosen(which), { signal });
      return button;
    });
    this.box = el("span", { class: "vt-switch", role: "group", "aria-label": label }, ...this.buttons);
  }

  show(which: number): void {
    this.buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === which)));
  }
}

export interface HeadCalls {
  zoom(by: number): void;
  whole(): void;
  bad(step: 1 | -1): void;
  layer(which: number): void;
  image(on: boolean): void;
  help(): void;
}

export class Head {
  readonly box: HTMLElement;
  private desk: Desk;
  private layers: Switch | null = null;
  private image: Switch | null = null;
  private zoom = el("span", { class: "vt-zoomtext" });
  private buttons: HTMLButtonElement[];

  constructor(desk: Desk, calls: HeadCalls, named: boolean) {
    this.desk = desk;
    const { signal } = desk;
    const item = (desk.sheets[0] as (typeof desk.sheets)[0]).item;
    const button = (text: string, title: string, does: () => void, icon = true): HTMLButtonElement => {
      const b = el("button", { type: "button", text, title, "aria-label": title.replace(/ {2}.*/, ""), class: icon ? "vt-ic" : null });
      b.addEventListener("click", does, { signal });
      return b;
    };
    if (item.layers.length > 1) this.layers = new Switch("layer", item.layers.map((l) => l.name), calls.layer, signal);
    if (item.image) this.image = new Switch("shown as", ["picture", "values"], (which) => calls.image(which === 0), signal);
    this.buttons = [
      button("−", "zoom out  ( - )", () => calls.zoom(1 / 1.6)),
      button("+", "zoom in  ( + )", () => calls.zoom(1.6)),
      button("Fit", "fit  ( 0 )", calls.whole, false),
    ];
    this.box = el(
      "div",
      { class: "vt-head" },
      ...(named ? nameplate(item) : []),
      el("span", { class: "vt-space" }),
      badPill(item, calls.bad, signal),
      this.layers?.box ?? null,
      this.image?.box ?? null,
      el("span", { class: "vt-zooms" }, this.zoom, el("span", { class: "vt-zoom", role: "group", "aria-label": "zoom" }, ...this.buttons)),
      button("?", "keys  ( ? )", calls.help),
    );
  }

  show(): void {
    const { pose, sheets } = this.desk;
    this.layers?.show(sheets[0]?.layer ?? 0);
    this.image?.show(pose.image ? 0 : 1);
    const { zoom } = pose.camera;
    this.zoom.textContent = `${zoom < 9.95 ? zoom.toFixed(1) : Math.round(zoom)}×`;
    const [out, into, whole] = this.buttons as [HTMLButtonElement, HTMLButtonElement, HTMLButtonElement];
    out.disabled = whole.disabled = zoom <= 1;
    into.disabled = zoom >= most(pose.fit) - 1e-9;
  }
}
