// The record "trace" as it arrives. Made by `make generated` from debug.trace.schema.State: edit that.

import { check as checkGraph, type State as GraphState } from "../graph/types";
import { type Check, either, flag, list, maybe, nd, num, one, real, record, row, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

export type Found = "clean" | "origin" | "propagated" | "healed";

/** A line of the source, and what was found on it. */
export interface Line {
  number: number;
  text: string;
  marks: ([string, Found | "failed"])[];
}

/** The lines that ran. */
export interface Source {
  where: string;
  lines: Line[];
}

/** What was found at an op in one pass. */
export interface Mark {
  state: Found;
  nan: number;
  posinf: number;
  neginf: number;
  beyond: number;
  size: number;
  text: string;
}

/** One op. */
export interface Row {
  id: number;
  line: number | null;
  where: string;
  op: string;
  code: string;
  module: string;
  layer: string;
  forward: Mark | null;
  backward: Mark | null;
}

/** Values of a tensor around a bad one. */
export interface Table {
  name: string;
  shape: number[];
  dtype: string;
  lead: number[];
  start: [number, number];
  values: Nd;
  bad: Nd;
  whole: boolean;
}

export interface Origin {
  row: number;
  pass: "forward" | "backward";
  op: string;
  where: string;
  cure: string;
  how: string;
  at: Nd;
  which: Nd;
  count: number;
  size: number;
  inputs: Table[];
  outputs: Table[];
}

/** A leaf whose gradient is bad. */
export interface Leaf {
  name: string;
  nan: number;
  posinf: number;
  neginf: number;
  beyond: number;
  size: number;
}

/** The whole record. */
export interface State {
  title: string;
  library: string;
  report: string;
  sentence: string;
  course: string;
  more: string;
  cure: string;
  forward: number;
  backward: number;
  bound: Real | null;
  error: string | null;
  says: string[];
  source: Source | null;
  rows: Row[];
  first: Origin | null;
  origins: Origin[];
  graph: GraphState | null;
  leaves: Leaf[];
}

export const checkLine: Check<Line> = record<Line>({
  number: num,
  text: text,
  marks: list(row(text, either(one("clean", "origin", "propagated", "healed"), one("failed")))),
});

export const checkSource: Check<Source> = record<Source>({
  where: text,
  lines: list(checkLine),
});

export const checkMark: Check<Mark> = record<Mark>({
  state: one("clean", "origin", "propagated", "healed"),
  nan: num,
  posinf: num,
  neginf: num,
  beyond: num,
  size: num,
  text: text,
});

export const checkRow: Check<Row> = record<Row>({
  id: num,
  line: maybe(num),
  where: text,
  op: text,
  code: text,
  module: text,
  layer: text,
  forward: maybe(checkMark),
  backward: maybe(checkMark),
});

export const checkTable: Check<Table> = record<Table>({
  name: text,
  shape: list(num),
  dtype: text,
  lead: list(num),
  start: row(num, num),
  values: nd(2),
  bad: nd(2),
  whole: flag,
});

export const checkOrigin: Check<Origin> = record<Origin>({
  row: num,
  pass: one("forward", "backward"),
  op: text,
  where: text,
  cure: text,
  how: text,
  at: nd(2),
  which: nd(1),
  count: num,
  size: num,
  inputs: list(checkTable),
  outputs: list(checkTable),
});

export const checkLeaf: Check<Leaf> = record<Leaf>({
  name: text,
  nan: num,
  posinf: num,
  neginf: num,
  beyond: num,
  size: num,
});

export const check: Check<State> = record<State>({
  title: text,
  library: text,
  report: text,
  sentence: text,
  course: text,
  more: text,
  cure: text,
  forward: num,
  backward: num,
  bound: maybe(real),
  error: maybe(text),
  says: list(text),
  source: maybe(checkSource),
  rows: list(checkRow),
  first: maybe(checkOrigin),
  origins: list(checkOrigin),
  graph: maybe(checkGraph),
  leaves: list(checkLeaf),
});
