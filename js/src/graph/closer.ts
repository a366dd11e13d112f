// The array view of a node's value and gradient, below the graph: the kernel sends it when a node is looked at. The
// page of the array view travels with the first answer only.

import { el } from "../shared/dom";
import type { Model } from "../shared/model";
import type { Raw } from "../shared/payload";
import { load, type Widget } from "../vars/load";
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

  /** Ask for a node, a moment later: whoever steps quickly through many asks once. */
  look(node: number, name: string): void {
    if (!this.#kernel.live) return;
    this.#wanted = node;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      const message = { type: "look", node, page: !this.#page };
      this.#kernel.ask(message, (answer, buffers) => {
        if (node !== this.#wanted || this.#signal.aborted) return;
        const why = refused(answer);
        if (why || !buffers[0]) this.#say(`${name}: ${why || "nothing is known of its values"}`);
        else void this.#show(buffers as [Raw, Raw?]);
      });
    }, 120);
  }

  #say(text: string): void {
    this.#shown?.abort();
    this.#place.replaceChildren();
    this.root.hidden = false;
    this.#note.textContent = text;
  }

  async #show([payload, code]: [Raw, Raw?]): Promise<void> {
    if (code) this.#page ??= load(code);
    const { model } = this.#kernel;
    this.#shown?.abort();
    const one = (this.#shown = new AbortController());
    this.#signal.addEventListener("abort", () => one.abort(), { once: true, signal: one.signal });
    const inner: Model = {
      get: (name) => (name === "payload" ? payload : model.get(name)),
      on: (event, heard) => model.on(event, heard),
      off: (event, heard) => model.off(event, heard),
      send: (message) => model.send?.(message),
    };
    try {
      const view = await this.#page;
      if (one.signal.aborted || !view) return;
      this.root.hidden = false;
      this.#note.textContent = "";
      const place = el("div");
      view.render({ model: inner, el: place, signal: one.signal });
      this.#place.replaceChildren(place);
    } catch (error) {
      this.#say(`This cannot be shown: ${(error as Error).message}`);
    }
  }
}
