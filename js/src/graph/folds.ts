// Which groups are open: layouts that came with the record first, else the kernel's.

import type { Raw } from "../shared/payload";
import { unpack } from "../shared/payload";
import type { Board } from "./board";
import { type Kernel, refused } from "./kernel";
import type { Deeds } from "./look";
import { Picture } from "./picture";
import { type Graph, keyOf, type Layout } from "./record";

export class Folds {
  open: Set<number>;
  #graph: Graph;
  #board: Board;
  #kernel: Kernel;
  #deeds: Deeds;
  #known = new Map<string, Layout>();
  #say: (text: string) => void;
  #shown: () => void;

  constructor(graph: Graph, board: Board, kernel: Kernel, deeds: Deeds, say: (text: string) => void, shown: () => void) {
    [this.#graph, this.#board, this.#kernel, this.#deeds, this.#say, this.#shown] = [graph, board, kernel, deeds, say, shown];
    for (const layout of graph.state.layouts) this.#known.set(keyOf(layout.open.data), layout);
    const first = graph.state.layouts[0] as Layout;
    this.open = new Set(first.open.data);
    this.#show(first, -1);
  }

  /** The groups that could be open: what some layout knows, or what a kernel would lay out. */
  toggle(group: number, then?: () => void): void {
    const wanted = new Set(this.open);
    if (wanted.has(group)) {
      for (const g of this.open) if (this.#graph.chain(g).includes(group)) wanted.delete(g);
    } else wanted.add(group);
    this.#to(wanted, group, then);
  }

  /** Open what hides a node, then call back. */
  uncover(node: number, then: () => void): void {
    const hides = this.#board.picture?.hides(node) ?? -1;
    if (hides < 0) then();
    else this.toggle(hides, () => this.uncover(node, then));
  }

  /** All that is foldable open, or all closed, where such a layout can be had. */
  all(open: boolean): void {
    if (!open) return this.#to(new Set(), -1);
    const widest = [...this.#known.values()].reduce((a, b) => (a.open.data.length >= b.open.data.length ? a : b));
    const frames = this.#graph.state.groups.map((g, i) => (g.ops > 1 ? i : -1)).filter((g) => g >= 0);
    if (this.#kernel.live) this.#ask(frames, -1);
    else this.#to(new Set(widest.open.data), -1);
  }

  #to(wanted: Set<number>, group: number, then?: () => void): void {
    const layout = this.#known.get(keyOf(wanted));
    if (layout) {
      this.#show(layout, group);
      then?.();
      return;
    }
    if (!this.#ask([...wanted], group, then)) {
      const name = this.#graph.state.groups[group]?.name ?? "this";
      this.#say(`${name} cannot be ${this.open.has(group) ? "closed" : "opened"} without a kernel: run the cell again`);
    }
  }

  #ask(open: number[], group: number, then?: () => void): boolean {
    return this.#kernel.ask({ type: "fold", open: open.sort((a, b) => a - b) }, (answer, buffers) => {
      const why = refused(answer);
      if (why || !buffers[0]) return this.#say(why || "the kernel sent no layout");
      const layout = unpack(buffers[0] as Raw).state as Layout;
      this.#known.set(keyOf(layout.open.data), layout);
      this.#show(layout, group);
      then?.();
    });
  }

  #show(layout: Layout, group: number): void {
    const held = this.#board.box.contains(document.activeElement);
    const picture = new Picture(this.#graph, layout, this.#deeds);
    this.open = new Set(layout.open.data);
    this.#board.show(picture, group);
    this.#shown();
    if (held) {
      const stop = picture.stops.find((one) => one.group === group) ?? picture.stops[0];
      stop?.element.focus({ preventScroll: true });
      this.#board.reveal(stop?.element ?? null);
    }
  }
}
