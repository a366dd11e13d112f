// Where a pass stands after so many steps. A step of the page is a node with the views that ride on the way to its
// parameters; the record counts these as frames of their own.

import { normOf, single, type Value } from "../graph/heat";
import type { Stand } from "../graph/dress";
import { Graph } from "../graph/model";
import { scaleOf } from "../graph/svg";
import type { Outgoing, State, StepFrame, StepNode } from "./types";

/** The number of a value in the record's table. */
type Ref = number | null;

/** What flowed along an edge: its norm, and where it is one number that number. */
export interface Flow {
  norm: number;
  value: number | null;
}

export class Course {
  readonly state: State;
  readonly graph: Graph | null;
  /** For each step of the page, its first frame; and one more: the number of all frames. */
  readonly begins: number[] = [];
  readonly scale: [number, number] | null;
  /** From a node of the graph to one of the record, -1 if it is none. */
  readonly node: number[] = [];
  readonly stops = new Map<number, string>();
  at = 0;
  /** Whether what leaves the node of the step taken last is hidden: it is asked for. */
  hidden = false;
  #step: number[] = [];

  constructor(state: State) {
    this.state = state;
    this.graph = state.graph ? new Graph(state.graph) : null;
    state.frames.forEach((frame, i) => {
      if (i === 0 || !this.#rides(frame)) this.begins.push(i);
      this.#step[i] = this.begins.length - 1;
    });
    this.begins.push(state.frames.length);
    if (this.graph) this.node = new Array<number>(this.graph.count).fill(-1);
    state.places.forEach((place, node) => {
      if (place >= 0) this.node[place] = node;
    });
    this.scale = scaleOf(state.frames.flatMap((f) => f.outgoing.map((o) => normOf(this.value(o.gradient)))));
    for (const [frame, text] of state.stops) this.stops.set(this.#step[frame] ?? -1, text);
    this.at = this.stepOf(state.at);
  }

  #rides(frame: StepFrame): boolean {
    const place = this.state.places[frame.node] ?? -1;
    return Boolean(this.graph && place >= 0 && this.graph.word(place, "chip"));
  }

  /** How many steps there are. */
  get count(): number {
    return this.begins.length - 1;
  }

  /** How many steps of the page so many frames are. */
  stepOf(frames: number): number {
    const kept = frames - this.state.skipped;
    return kept <= 0 ? 0 : (this.#step[kept - 1] ?? this.count - 1) + 1;
  }

  /** The step that a frame belongs to. */
  inStep(frame: number): number {
    return this.#step[frame] ?? -1;
  }

  /** Where it stands, in words: of a long pass only a part came with the page. */
  get place(): string {
    if (this.partial) return `step ${this.frames()} of ${this.state.total}`;
    return `step ${this.at} of ${this.count}`;
  }

  get partial(): boolean {
    return this.state.skipped > 0 || !this.state.whole;
  }

  /** How many frames of the whole pass so many steps are. */
  frames(at = this.at): number {
    return this.state.skipped + this.kept(at);
  }

  /** How many of the frames that came with the page they are. */
  kept(at = this.at): number {
    return this.begins[at] ?? 0;
  }

  /** The frames whose gradients may be seen. */
  get open(): StepFrame[] {
    return this.state.frames.slice(0, this.kept(this.hidden ? this.at - 1 : this.at));
  }

  value(ref: Ref | undefined): Value | null {
    return ref === null || ref === undefined ? null : (this.state.values[ref] ?? null);
  }

  /** The frames of one step, its own first. */
  step(i: number): StepFrame[] {
    return this.state.frames.slice(this.begins[i], this.begins[i + 1]);
  }

  /** The step in which a node runs, or a leaf first receives; -1 if none. */
  when(node: number): number {
    const i = this.state.frames.findIndex((f) => f.node === node || f.done.includes(node));
    return i < 0 ? -1 : (this.#step[i] as number);
  }

  /** The layer that a node is all of, "" if it is of none or one op of several. */
  layer(id: number): string {
    const place = this.state.places[id] ?? -1;
    return this.graph && place >= 0 ? this.graph.word(place, "layer") : "";
  }

  /** What the op of a node computes, in a sentence. */
  does(id: number): string {
    const place = this.state.places[id] ?? -1;
    return this.graph && place >= 0 ? this.graph.word(place, "does") : "";
  }

  /** The layer around a node. */
  where(id: number): string {
    const place = this.state.places[id] ?? -1;
    return (this.graph && place >= 0 ? this.graph.where(place) : "") || (this.state.nodes[id]?.layer ?? "");
  }

  called(id: number): string {
    const node = this.state.nodes[id] as StepNode;
    if (node.leaf) return node.label || "leaf";
    const place = this.state.places[id] ?? -1;
    return (this.graph && place >= 0 ? this.graph.called(place) : "") || node.op || node.name;
  }

  /** What a leaf's `.grad` is now, and what was added to it last. */
  grad(leaf: number): { value: Value | null; sum: string } {
    let found: { value: Value | null; sum: string } = {
      value: this.value(this.state.start.find(([id]) => id === leaf)?.[1]),
      sum: "",
    };
    for (const frame of this.open) {
      for (const g of frame.grads) if (g.node === leaf) found = { value: this.value(g.after), sum: g.sum };
    }
    return found;
  }

  /** The step that comes next, in words. */
  get before(): string {
    const next = this.partial ? this.frames() + 1 : this.at + 1;
    return `step ${next} of ${this.partial ? this.state.total : this.count}`;
  }

  /** Whether a leaf has received anything in this pass: an older `.grad` is not of its making. */
  received(leaf: number): boolean {
    return this.state.done.includes(leaf) || this.open.some((f) => f.grads.some((g) => g.node === leaf));
  }

  /** The state of every node of the record; stopped before a step, one stands at it, and what has run is done. */
  stands(stopped = false): Stand[] {
    const { nodes, frames, waits } = this.state;
    const made: Stand[] = nodes.map(() => "");
    for (const id of this.state.done) made[id] = "done";
    for (const [id] of waits) made[id] = "pending";
    const now = this.kept();
    frames.slice(0, now).forEach((frame) => {
      for (const id of frame.pending) made[id] = "pending";
      for (const id of frame.done) made[id] = "done";
    });
    if (this.hidden) for (const frame of this.step(this.at - 1)) for (const g of frame.grads) made[g.node] = "pending";
    const reached = new Set(frames.flatMap((f) => [...f.done, ...f.pending]));
    nodes.forEach((node) => {
      if (this.state.whole && !reached.has(node.id) && made[node.id] === "") made[node.id] = "never";
    });
    const next = stopped ? this.step(this.at)[0] : null;
    const here = next ?? this.here;
    if (here) made[here.node] = "here";
    return made;
  }

  /** The frame of the newest step, null at the beginning. */
  get here(): StepFrame | null {
    return this.at > 0 ? (this.state.frames[this.begins[this.at - 1] as number] ?? null) : null;
  }

  /** What flowed along an edge of the graph by now. */
  flows(): Map<number, Flow> {
    const found = new Map<number, Flow>();
    if (!this.graph) return found;
    for (const frame of this.open) {
      const place = this.state.places[frame.node] ?? -1;
      const used = new Set<number>();
      for (const out of frame.outgoing) {
        const edge = this.#edge(place, out, used);
        const value = this.value(out.gradient);
        if (edge >= 0) found.set(edge, { norm: normOf(value), value: single(value) });
      }
    }
    return found;
  }

  /** What one step sends along edges of the graph. */
  sent(step: number): [edge: number, value: Value][] {
    return this.step(step).flatMap((frame) => {
      const [place, used] = [this.state.places[frame.node] ?? -1, new Set<number>()];
      return frame.outgoing.flatMap((out): [number, Value][] => {
        const [edge, value] = [this.#edge(place, out, used), this.value(out.gradient)];
        return edge >= 0 && value ? [[edge, value]] : [];
      });
    });
  }

  /** The edges along which what is asked for flows. */
  asked(): Set<number> {
    return new Set(this.hidden ? this.sent(this.at - 1).map(([edge]) => edge) : []);
  }

  #edge(place: number, out: Outgoing, used: Set<number>): number {
    const target = out.to === null ? -1 : (this.state.places[out.to] ?? -1);
    const edges = this.graph?.out(place) ?? [];
    const edge = edges.find((e) => e.target === target && e.input === out.input && !used.has(e.number));
    if (!edge) return -1;
    used.add(edge.number);
    return edge.number;
  }

  /** Where a run from here stops: before the next breakpoint, or at the end. */
  run(breaks: ReadonlySet<number>, stood: number): number {
    for (let step = this.at; step < this.count; step++) {
      if (step === stood) continue;
      if (this.stops.has(step) || breaks.has(step)) return step;
    }
    return this.count;
  }
}
