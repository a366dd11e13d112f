// The record "compare" as it arrives; vistorch/debug/compare/record.py says what it means.

import type { Nd } from "../shared/payload";

/** One array, exact or as an overview; vistorch/debug/values.py. */
export interface Value {
  shape: number[];
  dtype: string;
  norm: unknown;
  min: unknown;
  max: unknown;
  block: number[];
  grid: number[];
  exact: boolean;
  data?: Nd;
  codes?: Nd;
  levels?: Nd;
}

export interface Side {
  state: "same" | "own" | "inherited" | "differs";
  differs: boolean;
  largest: unknown;
  relative: unknown;
  beyond: number;
  size: number;
  at: number[];
  shapes: string;
  own: unknown;
}

export interface Row {
  id: number;
  a: number | null;
  b: number | null;
  op: string;
  module: string;
  /** Class and size of the module. */
  layer: string;
  line: string;
  forward: Side | null;
  backward: Side | null;
}

export interface First {
  row: number;
  pass: "forward" | "backward";
  output: number;
  at: number[];
  values: string[];
  a: Value | null;
  b: Value | null;
  difference: Value | null;
}

export interface Leaf extends Partial<Side> {
  name: string;
  only: "a" | "b" | "";
}

export interface State {
  title: string;
  report: string;
  a: string;
  b: string;
  /** What the two runs are called. */
  names: [string, string];
  rtol: number | null;
  atol: number | null;
  sentence: string;
  ops: number;
  differing: number;
  rows: Row[];
  first: First | null;
  leaves: Leaf[];
}
