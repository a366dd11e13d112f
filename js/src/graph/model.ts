// What is asked of a graph: a node's words, its edges, the groups around it.

import type { Nd } from "../shared/payload";
import { shapeText } from "../shared/format";
import { GROUP, KINDS, MARKS, NODE, ROOT, type State } from "./types";

type Words = "op" | "name" | "label" | "dtype" | "device" | "line" | "says" | "chip" | "bold" | "plain" | "right" | "layer" | "does";

export { GROUP, NODE, ROOT };

export interface Kept {
  name: string;
  shape: number[];
  bytes: number;
  alias: boolean;
}

export interface Edge {
  number: number;
  source: number;
  target: number;
  input: string;
  shape: number[];
  norm: number;
  /** What flowed, with its sign, where it is one number; else NaN. */
  value: number;
  dead: boolean;
}

export class Graph {
  readonly state: State;
  readonly count: number;
  readonly edges: Edge[];
  /** How many steps a pass has. */
  readonly steps: number;
  #out: Edge[][] = [];
  #into: Edge[][] = [];

  constructor(state: State) {
    this.state = state;
    this.count = state.nodes.kind.data.length;
    const { source, target, input, shape, norm, value, dead } = state.edges;
    this.edges = Array.from(source.data, (s, number) => ({
      number,
      source: s,
      target: target.data[number] as number,
      input: state.strings[input.data[number] as number] ?? "",
      shape: state.shapes[shape.data[number] as number] ?? [],
      norm: norm.data[number] as number,
      value: (value?.data[number] as number | undefined) ?? NaN,
      dead: Boolean(dead.data[number]),
    }));
    for (const e of this.edges) {
      (this.#out[e.source] ??= []).push(e);
      (this.#into[e.target] ??= []).push(e);
    }
    this.steps = Array.from(state.nodes.step.data).reduce((most, n) => Math.max(most, n), 0);
  }

  kind(i: number): (typeof KINDS)[number] {
    return KINDS[this.state.nodes.kind.data[i] as number] ?? "op";
  }

  isOp(i: number): boolean {
    const kind = this.kind(i);
    return kind === "op" || kind === "failed";
  }

  word(i: number, which: Words): string {
    return this.state.strings[this.state.nodes[which]?.data[i] as number] ?? "";
  }

  number(i: number, which: "step" | "group" | "saved" | "shared" | "grad" | "value" | "mark" | "row"): number {
    return (this.state.nodes[which]?.data[i] as number | undefined) ?? NaN;
  }

  shape(i: number): number[] {
    return this.state.shapes[this.state.nodes.shape.data[i] as number] ?? [];
  }

  formulas(i: number): [string, string][] {
    return this.state.formulas[this.state.nodes.formulas.data[i] as number] ?? [];
  }

  out(i: number): Edge[] {
    return this.#out[i] ?? [];
  }

  into(i: number): Edge[] {
    return this.#into[i] ?? [];
  }

  kept(i: number): Kept[] {
    const { node, name, shape, bytes, alias } = this.state.kept;
    const found: Kept[] = [];
    node.data.forEach((n: number, k: number) => {
      if (n === i)
        found.push({
          name: this.state.strings[name.data[k] as number] ?? "",
          shape: this.state.shapes[shape.data[k] as number] ?? [],
          bytes: bytes.data[k] as number,
          alias: Boolean(alias.data[k]),
        });
    });
    return found;
  }

  /** The groups around a node, innermost first. */
  around(i: number): number[] {
    return this.chain(this.number(i, "group"));
  }

  /** A group and those around it, innermost first. */
  chain(g: number): number[] {
    const found: number[] = [];
    for (let at = g; at >= 0; at = this.state.groups[at]?.parent ?? -1) found.push(at);
    return found;
  }

  /** The nodes where something went wrong: the one that failed, and where a bad value came from. */
  wrong(): number[] {
    const origin = MARKS.indexOf("origin");
    return Array.from({ length: this.count }, (_, i) => i).filter((i) => this.kind(i) === "failed" || this.number(i, "mark") === origin);
  }

  path(i: number): string {
    return this.state.groups[this.number(i, "group")]?.path ?? "";
  }

  /** The layer around a node: name, class, size. */
  where(i: number): string {
    const group = this.state.groups[this.number(i, "group")];
    return group ? [group.name, group.about ?? group.kind].filter(Boolean).join(" ") : "";
  }

  /** What a node is called in a sentence. */
  called(i: number): string {
    const kind = this.kind(i);
    if (!this.isOp(i)) return this.word(i, "label") || kind;
    if (this.word(i, "layer")) return this.word(i, "layer");
    return [this.word(i, "bold"), this.word(i, "op")].filter(Boolean).join(" ");
  }

  find(query: string): number[] {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) return [];
    const found: number[] = [];
    for (let i = 0; i < this.count; i++) {
      const text = [
        this.word(i, "op"),
        this.word(i, "name"),
        this.word(i, "label"),
        this.path(i),
        this.word(i, "layer"),
        this.word(i, "line"),
        shapeText(this.shape(i)),
      ]
        .join(" ")
        .toLowerCase();
      if (words.every((word) => text.includes(word))) found.push(i);
    }
    return found;
  }
}

/** Rows of a table that travels as one array. */
export function rows(table: Nd): number[][] {
  const wide = table.shape[1] ?? 1;
  return Array.from({ length: table.shape[0] ?? 0 }, (_, i) =>
    Array.from(table.data.subarray(i * wide, (i + 1) * wide) as ArrayLike<number>),
  );
}

export const keyOf = (open: Iterable<number>): string => [...open].sort((a, b) => a - b).join(",");
