// What a node holds, below the graph: its value beside the gradient that comes in, the formula with its numbers, and
// what it sends to each input. The kernel sends these when a node is looked at, each as a state of the array view; the
// page of the array view travels with the first answer only.

import { el } from "../shared/dom";
import type { Model } from "../shared/model";
import type { Raw } from "../shared/payload";
import { load, type Widget } from "../vars/load";
import { example } from "./inspect";
import { type Kernel, refused } from "./kernel";

export class Closer {
  readonly root: HTMLElement;
  #note = el("div.vt-note", { role: "status" });
  #place = el("div");
  #kernel: Kernel;
  #signal: AbortSignal;
  #page: Promise<Widget> | null = null;
  #shown: AbortController | null = null;
  #wanted = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(kernel: Kernel, signal: AbortSignal) {
    this.#kernel = kernel;
    this.#signal = signal;
    this.root = el("div.vt-closer", { hidden: true }, this.#note, this.#place);
    signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
  }

  /** Ask for a node, a moment later: stepping quickly through many asks once. */
  look(node: number, name: string): void {
    if (!this.#kernel.live) return;
    this.#wanted = node;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const message = { type: "look", node, page: !this.#page };
      this.#kernel.ask(message, (answer, buffers) => {
        if (node !== this.#wanted || this.#signal.aborted) return;
        const why = refused(answer);
        if (why || !buffers[0]) return this.#say(`${name}: ${why || "nothing is known of its values"}`);
        const views = Math.max(1, Number(answer.views) || 1);
        if (buffers[views]) this.#page ??= load(buffers[views] as Raw);
        void this.#show(buffers.slice(0, views), (answer.numbers ?? []) as [string, string][]);
      });
    }, 120);
  }

  #say(text: string): void {
    this.#shown?.abort();
    this.#place.replaceChildren();
    this.root.hidden = false;
    this.#note.textContent = text;
  }

  async #show(payloads: Raw[], numbers: [string, string][]): Promise<void> {
    this.#shown?.abort();
    const one = (this.#shown = new AbortController());
    this.#signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    try {
      const view = await this.#page;
      if (one.signal.aborted || !view) return;
      this.root.hidden = false;
      this.#note.textContent = "";
      const places = payloads.map((payload, number) => {
        const place = el("div");
        view.render({ model: part(this.#kernel.model, number, payload), el: place, signal: one.signal });
        return place;
      });
      const examples = numbers.map(([input, text]) => example(numbers.length > 1 ? input : "", text));
      const [first, ...sent] = places;
      this.#place.replaceChildren(
        ...(first ? [first] : []),
        ...(examples.length ? [el("div.vt-note", { text: "the formula with this node's numbers" }), ...examples] : []),
        ...(sent.length ? [el("div.vt-note", { text: "what it sends, beside the value it is sent for" }), ...sent] : []),
      );
    } catch (error) {
      this.#say(`This cannot be shown: ${(error as Error).message}`);
    }
  }
}

/** The model of one view among several: its payload, and of the answers those that are meant for it. */
function part(model: Model, view: number, payload: Raw): Model {
  const wrapped = new Map<unknown, (...given: never[]) => void>();
  return {
    get: (name) => (name === "payload" ? payload : name === "inner" || model.get(name)),
    on: (event, listener) => {
      const mine = (...given: never[]): void => {
        const content = given[0] as { view?: number } | undefined;
        if (event !== "msg:custom" || (content?.view ?? 0) === view) listener(...given);
      };
      wrapped.set(listener, mine);
      model.on(event, mine);
    },
    off: (event, listener) => model.off(event, wrapped.get(listener) ?? listener),
    send: (message) => model.send?.({ ...(message as object), view }),
  };
}
