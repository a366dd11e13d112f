// Which groups are open: layouts that came with the record first, else the kernel's.

import type { Raw } from "../shared/payload";
import { unpack } from "../shared/payload";
import type { Board } from "./board";
import { type Kernel, refused } from "./kernel";
import type { Deeds } from "./look";
import { Picture } from "./picture";
import { type Graph, GROUP, keyOf, ROOT, rows } from "./model";
import type { Layout } from "./types";

const FEW = 3; // boxes: fewer say nothing of a graph
const ENOUGH = 8; // boxes at first sight, where there are so many

/** How many boxes a layout shows, beside the names of its roots. */
const seen = (layout: Layout): number => rows(layout.boxes).filter(([what]) => what !== ROOT).length;

/** Whether a node is inside a closed group of a layout. */
function hides(graph: Graph, layout: Layout, node: number): boolean {
  const closed = new Set(rows(layout.boxes).flatMap(([what, group]) => (what === GROUP ? [group as number] : [])));
  return graph.around(node).some((group) => closed.has(group));
}

export class Folds {
  open: Set<number>;
  #graph: Graph;
  #board: Board;
  #kernel: Kernel;
  #deeds: Deeds;
  #known = new Map<string, Layout>();
  #say: (text: string) => void;
  #shown: () => void;
  /** What was open before Fit closed some of it, and what that left open. */
  #folded: { before: Set<number>; after: string } | null = null;

  constructor(graph: Graph, board: Board, kernel: Kernel, deeds: Deeds, say: (text: string) => void, shown: () => void) {
    [this.#graph, this.#board, this.#kernel, this.#deeds, this.#say, this.#shown] = [graph, board, kernel, deeds, say, shown];
    for (const layout of graph.state.layouts) this.#known.set(keyOf(layout.open.data), layout);
    const first = graph.state.layouts[0] as Layout;
    this.open = new Set(first.open.data);
    this.#show(first, -1);
    board.fits = () => this.fit();
    board.sized = () => this.#begin(first);
  }

  /** The layouts from what is open at first to everything closed. */
  #stages(): Layout[] {
    const { stages, layouts } = this.#graph.state;
    return Array.from((stages?.data ?? []) as ArrayLike<number>, (number) => layouts[number] as Layout).reverse();
  }

  /** At first: the finest stage that can be read whole, unless the reader has named what is open; what went wrong stays seen. */
  #begin(first: Layout): void {
    const stages = this.#stages();
    if (stages[0] !== first || this.#board.legible(first)) return;
    const wrong = this.#graph.wrong();
    const fit = stages.filter((one) => wrong.every((node) => !hides(this.#graph, one, node)));
    const whole = fit.find((one) => this.#reads(one));
    // A graph that is wide when it says something is better cut at its side than closed to a handful of boxes.
    const found = whole && seen(whole) >= ENOUGH ? whole : (fit.findLast((one) => seen(one) >= ENOUGH) ?? whole);
    if (found && found !== first) this.#show(found, -1, true);
  }

  /** Whether a layout can be read whole and still says something. */
  #reads(layout: Layout): boolean {
    return seen(layout) >= FEW && this.#board.legible(layout);
  }

  /** Show the whole graph: groups are closed as far as it takes to read it. Again: all that was open, however small. */
  fit(): void {
    const { picture } = this.#board;
    if (!picture) return;
    const back = this.#folded?.after === keyOf(this.open) ? this.#folded.before : null;
    this.#folded = null;
    if (back) {
      const layout = this.#known.get(keyOf(back));
      if (layout) this.#show(layout, -1);
    }
    if (back || this.#board.legible(picture.layout)) return this.#board.fit();
    const wanted = new Map<string, number[]>();
    for (const stage of this.#stages()) {
      const open = [...stage.open.data].filter((g) => this.open.has(g));
      if (open.length < this.open.size) wanted.set(keyOf(open), open);
    }
    this.#fold([...wanted.values()], new Set(this.open));
  }

  /** Try fold states, the finest first; the kernel lays out what is not known; without one the best known is taken. */
  #fold(wanted: number[][], before: Set<number>): void {
    if (keyOf(this.open) !== keyOf(before)) return; // closed or opened by hand while the kernel was asked
    for (const [i, open] of wanted.entries()) {
      const layout = this.#known.get(keyOf(open));
      if (layout && this.#reads(layout)) return this.#fitted(layout, before);
      if (!layout && this.#lay(open, () => this.#fold(wanted.slice(i), before))) return;
    }
    const within = [...this.#known.values()].filter((one) => [...one.open.data].every((g) => before.has(g)) && this.#reads(one));
    const best = within.sort((a, b) => seen(b) - seen(a))[0];
    if (best) return this.#fitted(best, before);
    this.#board.fit();
    if (this.#graph.state.groups.length) this.#say("No fold makes this graph legible as a whole: it is shown small.");
  }

  #fitted(layout: Layout, before: Set<number>): void {
    this.#show(layout, -1);
    this.#folded = { before, after: keyOf(layout.open.data) };
    this.#board.fit();
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
    return this.#lay(open, (layout) => {
      this.#show(layout, group);
      then?.();
    });
  }

  /** Have the kernel lay out a fold state; false where there is none. */
  #lay(open: number[], then: (layout: Layout) => void): boolean {
    return this.#kernel.ask({ type: "fold", open: [...open].sort((a, b) => a - b) }, (answer, buffers) => {
      const why = refused(answer);
      if (why || !buffers[0]) return this.#say(why || "the kernel sent no layout");
      const layout = unpack(buffers[0] as Raw).state as Layout;
      this.#known.set(keyOf(open), layout).set(keyOf(layout.open.data), layout);
      then(layout);
    });
  }

  #show(layout: Layout, group: number, first = false): void {
    const held = this.#board.box.contains(document.activeElement);
    const picture = new Picture(this.#graph, layout, this.#deeds);
    this.open = new Set(layout.open.data);
    if (first) this.#board.begin(picture);
    else this.#board.show(picture, group);
    this.#shown();
    if (held) {
      const stop = picture.stops.find((one) => one.group === group) ?? picture.stops[0];
      stop?.element.focus({ preventScroll: true });
      this.#board.reveal(stop?.element ?? null);
    }
  }
}
