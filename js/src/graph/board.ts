// The box a picture scrolls in: zoom, drag, fit, a small map where it is large, and keys that walk from box to box.

import { button, el, on, onWidth, painter } from "../shared/dom";
import { GROUP, rows } from "./model";
import type { Layout } from "./types";
import type { Picture } from "./picture";
import { svg } from "./svg";

const FIT = "Fit the whole graph: modules fold until it can be read; again: none of them, however small  f";
const STEPS = [0.25, 0.35, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3];
const LARGE = 1.8; // times the box, above which there is a map
const TALL = 640;
const ROOMY = 420; // of a graph that has more to open
export const LEGIBLE = 0.8; // text of 11.5 px is then 9 px: a graph is shown whole down to here, smaller only on demand

export class Board {
  readonly root: HTMLElement;
  readonly box: HTMLElement;
  readonly tools: HTMLElement;
  picture: Picture | null = null;
  zoom = 1;
  #map = svg("svg", { class: "vt-map", "aria-hidden": "true" });
  #view = svg("rect", { class: "vt-mapview" });
  #percent = el("span.vt-percent");
  #width = 0;
  #fitted = false;
  #signal: AbortSignal;
  #remap: () => void;
  /** Called when the box first has its size: what is shown may then be chosen by it. */
  sized: () => void = () => {};
  /** What the button Fit does. */
  fits: () => void = () => this.fit();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    this.box = el("div.vt-board", { tabindex: 0, role: "group", "aria-label": "backward graph" });
    const tool = (text: string, title: string, does: () => void): HTMLButtonElement =>
      button("button.vt-ic", text, title, does, signal);
    this.tools = el(
      "div.vt-tools",
      {},
      tool("−", "smaller  −", () => this.by(-1)),
      this.#percent,
      tool("+", "larger  +", () => this.by(1)),
      button("button", "Fit", FIT, () => this.fits(), signal),
    );
    this.root = el("div.vt-boardbox", {}, this.box, this.tools);
    this.root.append(this.#map);
    this.#remap = painter(() => this.#paintMap(), signal);
    on(this.box, "scroll", () => this.#remap(), signal);
    this.#wheel();
    this.#drag();
    this.#mapped();
    on(this.box, "keydown", (e) => this.#walk(e), signal);
    onWidth(
      this.box,
      (width) => {
        this.#width = width;
        if (!this.#fitted) {
          this.#first();
          if (this.#fitted) this.sized();
        }
        this.#remap();
      },
      signal,
    );
  }

  /** Show a picture; what has the focus of a fold stays where it is on the screen. */
  show(picture: Picture, group: number): void {
    const place = (): DOMRect | undefined =>
      this.picture?.stops.find((stop) => stop.group === group && group >= 0)?.element.getBoundingClientRect();
    const before = place();
    this.picture = picture;
    this.box.replaceChildren(picture.root);
    this.#draw();
    for (const [i, stop] of picture.stops.entries()) {
      if (i === 0) stop.element.setAttribute("tabindex", "0");
      stop.element.addEventListener("focus", () => this.#rove(stop.element), { signal: this.#signal });
    }
    if (!this.box.style.height) this.#tall(picture.layout, 260);
    const now = place();
    if (before && now) {
      this.box.scrollLeft += now.left - before.left;
      this.box.scrollTop += now.top - before.top;
    } else if (this.#width) this.#first();
    this.#remap();
  }

  #tall(layout: Layout, least: number): void {
    this.box.style.height = `${Math.min(TALL, Math.max(least, layout.height + 64))}px`;
  }

  /** Show a picture in place of the first one, before a reader has seen that: the box is as tall as this one needs, with room for what it holds. */
  begin(picture: Picture): void {
    this.#tall(picture.layout, ROOMY);
    this.show(picture, -1);
  }

  /** Give the focus to the box of a node, to that of the group that hides it, or to the board. */
  focus(node: number): void {
    const element = this.picture?.shows(node) ?? null;
    (element ?? this.box).focus({ preventScroll: true });
    this.reveal(element);
  }

  #rove(element: SVGGElement): void {
    for (const stop of this.picture?.stops ?? []) stop.element.setAttribute("tabindex", stop.element === element ? "0" : "-1");
  }

  /** At first: whole where it can be read so, else as small as it must be to fit across and can still be read. */
  #first(): void {
    if (!this.#width || !this.picture) return;
    this.#fitted = true;
    const { layout } = this.picture;
    const across = Math.min(1, Math.max(LEGIBLE, this.#width / (layout.width + 32)));
    this.set(this.legible(layout) ? Math.min(1, this.#whole(layout)) : across);
    // What is wider than the box is entered where the pass begins, with room for the parameters to its right.
    const [, , x = 0, , w = 0] = rows(layout.boxes)[0] ?? [];
    const wide = this.box.scrollWidth > this.#width + 1;
    this.box.scrollLeft = wide ? (x + w / 2 + 16) * this.zoom - 0.4 * this.#width : 0;
  }

  /** The zoom at which all of a layout is seen. */
  #whole({ width, height }: Layout): number {
    return Math.min(1.25, this.box.clientWidth / (width + 32), (this.box.clientHeight - 48) / (height + 14));
  }

  /** Whether all of a layout can be seen and its text be read. */
  legible(layout: Layout): boolean {
    return this.#whole(layout) >= LEGIBLE;
  }

  set(zoom: number, around?: { x: number; y: number }): void {
    const { box } = this;
    const at = around ?? { x: box.clientWidth / 2, y: box.clientHeight / 2 };
    const next = Math.min(3, Math.max(0.1, zoom));
    const [x, y] = [(box.scrollLeft + at.x) / this.zoom, (box.scrollTop + at.y) / this.zoom];
    this.zoom = next;
    this.#draw();
    box.scrollLeft = x * next - at.x;
    box.scrollTop = y * next - at.y;
    this.#remap();
  }

  by(steps: number): void {
    const next = steps > 0 ? STEPS.find((z) => z > this.zoom + 0.01) : STEPS.findLast((z) => z < this.zoom - 0.01);
    if (next !== undefined) this.set(next);
  }

  /** All of the picture, however small. */
  fit(): void {
    if (this.picture) this.set(this.#whole(this.picture.layout));
  }

  #draw(): void {
    const { width, height } = this.picture?.layout ?? { width: 1, height: 1 };
    this.picture?.root.setAttribute("width", String((width + 32) * this.zoom));
    this.picture?.root.setAttribute("height", String((height + 12) * this.zoom));
    this.#percent.textContent = `${Math.round(this.zoom * 100)} %`;
  }

  /** Scroll so that an element is seen, no more than is needed. */
  reveal(element: Element | null): void {
    if (!element) return;
    const [one, all] = [element.getBoundingClientRect(), this.box.getBoundingClientRect()];
    const need = (from: number, to: number, low: number, high: number, space: number): number =>
      to - from > high - low - 2 * space || from < low + space ? from - low - space * 2 : to > high - space ? to - high + space * 2 : 0;
    this.box.scrollTop += need(one.top, one.bottom, all.top, all.bottom, 30);
    this.box.scrollLeft += need(one.left, one.right, all.left, all.right, 8);
  }

  #wheel(): void {
    on(
      this.box,
      "wheel",
      (e) => {
        if (!e.ctrlKey && !e.metaKey) return; // the page's own scrolling stays
        e.preventDefault();
        const at = this.box.getBoundingClientRect();
        this.set(this.zoom * Math.exp(-e.deltaY / 300), { x: e.clientX - at.left, y: e.clientY - at.top });
      },
      this.#signal,
    );
  }

  #drag(): void {
    let from: { x: number; y: number; left: number; top: number } | null = null;
    let moved = false;
    const { box } = this;
    on(
      box,
      "pointerdown",
      (e) => {
        if (e.button !== 0 || e.pointerType === "touch") return;
        from = { x: e.clientX, y: e.clientY, left: box.scrollLeft, top: box.scrollTop };
        moved = false;
      },
      this.#signal,
    );
    on(
      box,
      "pointermove",
      (e) => {
        if (!from) return;
        if (!(e.buttons & 1)) {
          from = null;
          return;
        }
        const [dx, dy] = [e.clientX - from.x, e.clientY - from.y];
        if (!moved && Math.hypot(dx, dy) < 5) return;
        moved = true;
        box.classList.add("vt-dragged");
        box.scrollLeft = from.left - dx;
        box.scrollTop = from.top - dy;
      },
      this.#signal,
    );
    const end = (): void => {
      from = null;
      box.classList.remove("vt-dragged");
    };
    on(box, "pointerup", end, this.#signal);
    on(box, "pointerleave", end, this.#signal);
    // A drag that ends over a box is no click on it.
    box.addEventListener(
      "click",
      (e) => {
        if (moved) e.stopPropagation();
        moved = false;
      },
      { capture: true, signal: this.#signal },
    );
  }

  #mapped(): void {
    const go = (e: PointerEvent): void => {
      if (!(e.buttons & 1) || !this.picture) return;
      const place = this.#map.getBoundingClientRect();
      const { width, height } = this.picture.layout;
      const x = ((e.clientX - place.left) / place.width) * (width + 32) * this.zoom;
      const y = ((e.clientY - place.top) / place.height) * (height + 12) * this.zoom;
      this.box.scrollLeft = x - this.box.clientWidth / 2;
      this.box.scrollTop = y - this.box.clientHeight / 2;
      e.preventDefault();
    };
    this.#map.addEventListener("pointerdown", go, { signal: this.#signal });
    this.#map.addEventListener("pointermove", go, { signal: this.#signal });
  }

  #mapOf: Picture | null = null;

  #paintMap(): void {
    const { box, picture } = this;
    if (!picture) return;
    const { width, height } = picture.layout;
    const large = box.scrollWidth > LARGE * box.clientWidth || box.scrollHeight > LARGE * box.clientHeight;
    this.#map.style.display = large ? "" : "none";
    if (!large) return;
    const k = Math.min(96 / (width + 32), 150 / (height + 12));
    if (this.#mapOf !== picture) {
      this.#mapOf = picture;
      const parts = [...rows(picture.layout.frames).map((row) => ({ row, name: "vt-mapframe" }))];
      for (const row of rows(picture.layout.boxes)) parts.push({ row, name: row[0] === GROUP ? "vt-mapgroup" : "vt-mapbox" });
      this.#map.replaceChildren(
        ...parts.map(({ row, name }) => {
          const [x, y, w, h] = row.slice(-4) as [number, number, number, number];
          return svg("rect", { class: name, x, y, width: w, height: h });
        }),
        this.#view,
      );
      this.#map.setAttribute("viewBox", `-16 -6 ${width + 32} ${height + 12}`);
      // A long chain would be a thread: the map is never thinner than a finger.
      this.#map.setAttribute("preserveAspectRatio", "none");
      this.#map.setAttribute("width", String(Math.max(32, (width + 32) * k)));
      this.#map.setAttribute("height", String(Math.max(32, (height + 12) * k)));
    }
    for (const [name, value] of [
      ["x", box.scrollLeft / this.zoom - 16],
      ["y", box.scrollTop / this.zoom - 6],
      ["width", box.clientWidth / this.zoom],
      ["height", box.clientHeight / this.zoom],
    ] as const) {
      this.#view.setAttribute(name, String(value));
    }
    this.#view.setAttribute("vector-effect", "non-scaling-stroke");
  }

  /** Arrow keys go to the nearest box that way; Enter does what a click does. */
  #walk(e: KeyboardEvent): void {
    if (e.altKey || e.ctrlKey || e.metaKey) return;
    const stops = this.picture?.stops ?? [];
    const here = stops.find((stop) => stop.element === document.activeElement);
    if ((e.key === "Enter" || e.key === " ") && here) {
      here.element.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    } else if (e.key.startsWith("Arrow")) {
      const [dx, dy] = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[e.key] ?? [0, 0];
      if (dx && this.box.dataset.steps) return; // a stepper steps with these
      if (!here) stops[0]?.element.focus();
      else {
        let [best, least]: [SVGGElement | null, number] = [null, Infinity];
        for (const stop of stops) {
          const [x, y] = [stop.x - here.x, stop.y - here.y];
          const ahead = x * (dx as number) + y * (dy as number);
          const aside = Math.abs(x * (dy as number)) + Math.abs(y * (dx as number));
          if (ahead > 2 && ahead + 3 * aside < least) [best, least] = [stop.element, ahead + 3 * aside];
        }
        best?.focus({ preventScroll: true });
        this.reveal(best);
      }
    } else return;
    e.preventDefault();
    e.stopPropagation();
  }
}
