// Steps that follow each other by themselves, for a lecture: a button, and how many of them a second.

import { atEnd, button, el, on } from "../shared/dom";

const SPEEDS: [string, number][] = [
  ["½ a second", 2000],
  ["1 a second", 1000],
  ["2 a second", 500],
  ["4 a second", 250],
];

export class Play {
  readonly root: HTMLElement;
  #button: HTMLButtonElement;
  #speed = el("select", { "aria-label": "steps a second" }, ...SPEEDS.map(([text, ms]) => el("option", { value: ms, text })));
  #next: ReturnType<typeof setTimeout> | undefined;
  #step: () => boolean;

  /** @param step takes one step; false when there is none to take, or the pass stops here. */
  constructor(step: () => boolean, signal: AbortSignal) {
    this.#step = step;
    this.#speed.value = "1000";
    this.#button = button("button.vt-play", "Play", "take steps by itself; again: stop  p", () => this.toggle(), signal);
    on(this.#speed, "change", () => this.#next !== undefined && this.#wait(), signal);
    this.root = el("span.vt-playing", {}, this.#button, this.#speed);
    this.stop();
    atEnd(signal, () => this.stop());
  }

  toggle(): void {
    if (this.#next === undefined) this.#take();
    else this.stop();
  }

  stop(): void {
    clearTimeout(this.#next);
    this.#next = undefined;
    this.#button.textContent = "Play";
    this.#button.setAttribute("aria-pressed", "false");
  }

  /** Whether there is something to play. */
  enable(some: boolean): void {
    this.#button.disabled = !some;
  }

  #take(): void {
    if (!this.#step()) return this.stop();
    this.#button.textContent = "Stop";
    this.#button.setAttribute("aria-pressed", "true");
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#next);
    this.#next = setTimeout(() => this.#take(), Number(this.#speed.value));
  }
}
