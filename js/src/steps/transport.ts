// First, back, step, last, the slider, run to the next breakpoint: each with its key.

import { el, on } from "../shared/dom";
import { svg } from "../graph/svg";

const GLYPHS: [string, string, string, string][] = [
  ["first", "first  Home", "M2 1v10M12 1L4.5 6 12 11z", "Home"],
  ["back", "one step back  ←", "M10 1L3.5 6 10 11z", "ArrowLeft"],
  ["step", "one step on  →", "M4 1l6.5 5L4 11z", "ArrowRight"],
  ["last", "last  End", "M12 1v10M2 1l7.5 5L2 11z", "End"],
];

export interface Moves {
  go(to: number): void;
  run(): void;
}

export class Transport {
  readonly root: HTMLElement;
  readonly slider = el("input", { type: "range", min: 0, "aria-label": "steps taken" });
  readonly run = el("button.vt-run", { type: "button", text: "Run to breakpoint", title: "run to the next breakpoint  r" });
  #buttons: HTMLButtonElement[];
  #place = el("span.vt-pos");
  #count: number;

  constructor(count: number, at: () => number, moves: Moves, play: HTMLElement, keys: HTMLElement | null, signal: AbortSignal) {
    this.#count = count;
    this.slider.max = String(count);
    const to = (name: string): number => ({ first: 0, back: at() - 1, step: at() + 1, last: count })[name] ?? at();
    this.#buttons = GLYPHS.map(([name, title, d]) => {
      const button = el("button", { type: "button", title, "aria-label": title.split("  ")[0] });
      button.append(
        svg(
          "svg",
          { width: 14, height: 12, "aria-hidden": "true" },
          svg("path", { d, fill: "currentColor", stroke: "currentColor", "stroke-width": 1.6, "stroke-linejoin": "round" }),
        ),
      );
      on(button, "click", () => moves.go(to(name)), signal);
      return button;
    });
    on(this.slider, "input", () => moves.go(Number(this.slider.value)), signal);
    on(this.run, "click", () => moves.run(), signal);
    this.root = el(
      "div.vt-transport",
      {},
      el("span.vt-seg", { role: "group", "aria-label": "steps" }, ...this.#buttons),
      this.#place,
      this.slider,
      play,
      this.run,
      keys,
    );
  }

  paint(at: number, place: string): void {
    this.slider.value = String(at);
    this.slider.setAttribute("aria-valuetext", place);
    this.#place.textContent = place;
    this.#buttons.forEach((button, i) => (button.disabled = i < 2 ? at === 0 : at === this.#count));
    this.run.disabled = at === this.#count;
  }
}
