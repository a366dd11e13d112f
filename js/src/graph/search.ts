// The box that finds nodes: what is typed is marked in the picture, Enter goes from one to the next.

import { el, on } from "../shared/dom";
import type { Graph } from "./model";

export class Search {
  readonly root: HTMLElement;
  readonly input = el("input.vt-find", { type: "search", placeholder: "Find a node  /", "aria-label": "find a node" });
  found: number[] = [];
  #at = -1;
  #count = el("span.vt-count", { role: "status" });

  constructor(graph: Graph, changed: () => void, chosen: (node: number) => void, signal: AbortSignal, left: () => void = () => {}) {
    this.root = el("span.vt-search", {}, this.input, this.#count);
    on(
      this.input,
      "input",
      () => {
        this.found = graph.find(this.input.value);
        this.#at = -1;
        this.#count.textContent = this.input.value.trim() ? `${this.found.length} found` : "";
        changed();
      },
      signal,
    );
    on(
      this.input,
      "keydown",
      (e) => {
        e.stopPropagation();
        if (e.key === "Escape") {
          this.input.value = "";
          this.input.dispatchEvent(new Event("input"));
          this.input.blur();
          left(); // the focus goes to where one stands, not to the page
        } else if (e.key === "Enter" && this.found.length) {
          const n = this.found.length;
          this.#at = (this.#at + (e.shiftKey ? n - 1 : 1) + (this.#at < 0 && e.shiftKey ? 1 : 0)) % n;
          this.#count.textContent = `${this.#at + 1} of ${n}`;
          chosen(this.found[this.#at] as number);
        } else return;
        e.preventDefault();
      },
      signal,
    );
  }
}
