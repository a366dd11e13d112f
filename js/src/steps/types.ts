// The record "steps" as it arrives; vistorch/debug/steps/record.py says what is in it.

import type { Value } from "../graph/heat";
import type { State as GraphState } from "../graph/types";

export type Ref = number | null;

export interface StepNode {
  id: number;
  name: string;
  op: string;
  label: string;
  leaf: boolean;
  module?: string;
  layer?: string;
  shape?: number[];
  dtype?: string;
  line?: { text: string; file: string; line: number; cell: number | null } | null;
  forward?: Ref;
  formulas?: { input: string; latex: string | null; reads: string[] }[];
  to?: [string, number | null, number][];
  saved?: { name: string; what: string; value: Ref; text: string; bytes: number; alias: boolean }[];
  bytes?: number;
}

export interface Part {
  kind: "op" | "number" | "array";
  text?: string;
  symbol?: string;
  role?: string;
  rows?: string[][] | null;
  shape?: number[];
  norm?: unknown;
}

export interface Outgoing {
  input: string;
  to: number | null;
  output: number;
  gradient: Ref;
  before: Ref;
  after: Ref;
  sum: string;
  numbers: { text: string; latex: string; at: number[] | null; note: string; parts: Part[] } | null;
}

export interface StepFrame {
  node: number;
  says: string;
  incoming: Ref[];
  hooked: Ref[] | null;
  outgoing: Outgoing[];
  grads: { node: number; before: Ref; after: Ref; sum: string }[];
  done: number[];
  pending: number[];
}

export interface State {
  title: string;
  count: number;
  at: number;
  says: string[];
  nodes: StepNode[];
  frames: StepFrame[];
  start: [number, Ref][];
  waits: [number, number, Ref][];
  values: Value[];
  failed: string | null;
  skipped: number;
  total: number;
  whole: boolean;
  done: number[];
  graph: GraphState | null;
  places: number[];
  stops: [number, string][];
}
