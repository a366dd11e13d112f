// The record "compare" as it arrives. Made by `make generated` from debug.compare.schema.State: edit that.

import { type Check, flag, list, maybe, nd, num, one, optional, real, record, row, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

/** How the two runs stand at an op, in one pass; "differs" where it was not run again. */
export interface Side {
  state: "same" | "own" | "inherited" | "differs";
  differs: boolean;
  largest: Real | null;
  relative: Real | null;
  beyond: number;
  size: number;
  at: number[];
  shapes: string;
  own: Real | null;
}

/** One op of both runs, or of one. */
export interface Row {
  id: number;
  a: number | null;
  b: number | null;
  op: string;
  module: string;
  layer: string;
  line: string;
  forward: Side | null;
  backward: Side | null;
}

/** One array, exact or as an overview. */
export interface Value {
  shape: number[];
  dtype: string;
  norm: Real;
  min: Real | null;
  max: Real | null;
  mean: Real | null;
  nan: number;
  posinf: number;
  neginf: number;
  zeros: number;
  block: number[];
  grid: number[];
  exact: boolean;
  data?: Nd;
  codes?: Nd;
  levels?: Nd;
  phase?: Nd;
}

export interface First {
  row: number;
  pass: "forward" | "backward";
  output: number;
  at: number[];
  values: string[];
  apart: string;
  a: Value | null;
  b: Value | null;
  difference: Value | null;
}

/** A leaf whose gradients differ, or that one run has. */
export interface Leaf {
  name: string;
  only: "a" | "b" | "";
  state?: "same" | "own" | "inherited" | "differs";
  differs?: boolean;
  largest?: Real | null;
  relative?: Real | null;
  beyond?: number;
  size?: number;
  at?: number[];
  shapes?: string;
  own?: Real | null;
}

/** The whole record. */
export interface State {
  title: string;
  report: string;
  a: string;
  b: string;
  names: [string, string];
  libraries: string[];
  rtol: Real | null;
  atol: Real | null;
  sentence: string;
  ops: number;
  differing: number;
  rows: Row[];
  first: First | null;
  leaves: Leaf[];
}

export const checkSide: Check<Side> = record<Side>({
  state: one("same", "own", "inherited", "differs"),
  differs: flag,
  largest: maybe(real),
  relative: maybe(real),
  beyond: num,
  size: num,
  at: list(num),
  shapes: text,
  own: maybe(real),
});

export const checkRow: Check<Row> = record<Row>({
  id: num,
  a: maybe(num),
  b: maybe(num),
  op: text,
  module: text,
  layer: text,
  line: text,
  forward: maybe(checkSide),
  backward: maybe(checkSide),
});

export const checkValue: Check<Value> = record<Value>({
  shape: list(num),
  dtype: text,
  norm: real,
  min: maybe(real),
  max: maybe(real),
  mean: maybe(real),
  nan: num,
  posinf: num,
  neginf: num,
  zeros: num,
  block: list(num),
  grid: list(num),
  exact: flag,
  data: optional(nd(-1)),
  codes: optional(nd(-1)),
  levels: optional(nd(1)),
  phase: optional(nd(-1)),
});

export const checkFirst: Check<First> = record<First>({
  row: num,
  pass: one("forward", "backward"),
  output: num,
  at: list(num),
  values: list(text),
  apart: text,
  a: maybe(checkValue),
  b: maybe(checkValue),
  difference: maybe(checkValue),
});

export const checkLeaf: Check<Leaf> = record<Leaf>({
  name: text,
  only: one("a", "b", ""),
  state: optional(one("same", "own", "inherited", "differs")),
  differs: optional(flag),
  largest: optional(maybe(real)),
  relative: optional(maybe(real)),
  beyond: optional(num),
  size: optional(num),
  at: optional(list(num)),
  shapes: optional(text),
  own: optional(maybe(real)),
});

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  a: text,
  b: text,
  names: row(text, text),
  libraries: list(text),
  rtol: maybe(real),
  atol: maybe(real),
  sentence: text,
  ops: num,
  differing: num,
  rows: list(checkRow),
  first: maybe(checkFirst),
  leaves: list(checkLeaf),
});
