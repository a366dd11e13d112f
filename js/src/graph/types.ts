// The record "graph" as it arrives. Made by `make generated` from debug.graph.schema.State: edit that.

import { type Check, flag, list, maybe, nd, num, optional, record, row, text } from "../shared/check";
import type { Nd } from "../shared/payload";

export const KINDS = ["op", "parameter", "input", "constant", "failed"] as const;
export const MARKS = ["", "healed", "propagated", "origin"] as const;
export const NODE = 0;
export const GROUP = 1;
export const ROOT = 2;
export const COLUMN = 6.93;
export const SMALL = 6.63;

/** A column an attribute, an entry a node. */
export interface Nodes {
  kind: Nd;
  step: Nd;
  group: Nd;
  shape: Nd;
  saved: Nd;
  shared: Nd;
  grad: Nd;
  value: Nd;
  formulas: Nd;
  mark: Nd;
  row: Nd;
  bold: Nd;
  plain: Nd;
  right: Nd;
  does: Nd;
  layer: Nd;
  op: Nd;
  name: Nd;
  label: Nd;
  dtype: Nd;
  device: Nd;
  line: Nd;
  says: Nd;
  chip: Nd;
}

/** What nodes saved, an entry a value. */
export interface Kept {
  node: Nd;
  name: Nd;
  shape: Nd;
  bytes: Nd;
  alias: Nd;
}

/** An entry an edge. */
export interface Edges {
  source: Nd;
  target: Nd;
  input: Nd;
  output: Nd;
  shape: Nd;
  norm: Nd;
  value: Nd;
  dead: Nd;
}

/** A module's call, or a frame made for order. */
export interface Group {
  name: string;
  path: string;
  kind: string;
  about: string;
  parent: number;
  use: number;
  note: string;
  synthetic: boolean;
  ops: number;
  parameters: number;
  saved: number;
}

/** Where a pass begins. */
export interface Root {
  node: number;
  text: string;
}

/** Where everything is in one fold state; rows of numbers. */
export interface Layout {
  open: Nd;
  width: number;
  height: number;
  boxes: Nd;
  pills: Nd;
  frames: Nd;
  edges: Nd;
  norms: Nd;
  points: Nd;
}

/** The whole record. */
export interface State {
  title: string;
  text?: string;
  name: string;
  meta: string[];
  source: string;
  says: string[];
  nodes: Nodes;
  kept: Kept;
  edges: Edges;
  groups: Group[];
  roots: Root[];
  scale: [number, number] | null;
  failed: number;
  layouts: Layout[];
  stages: Nd;
  strings: string[];
  shapes: number[][];
  formulas: [string, string][][];
}

export const checkNodes: Check<Nodes> = record<Nodes>({
  kind: nd(1),
  step: nd(1),
  group: nd(1),
  shape: nd(1),
  saved: nd(1),
  shared: nd(1),
  grad: nd(1),
  value: nd(1),
  formulas: nd(1),
  mark: nd(1),
  row: nd(1),
  bold: nd(1),
  plain: nd(1),
  right: nd(1),
  does: nd(1),
  layer: nd(1),
  op: nd(1),
  name: nd(1),
  label: nd(1),
  dtype: nd(1),
  device: nd(1),
  line: nd(1),
  says: nd(1),
  chip: nd(1),
});

export const checkKept: Check<Kept> = record<Kept>({
  node: nd(1),
  name: nd(1),
  shape: nd(1),
  bytes: nd(1),
  alias: nd(1),
});

export const checkEdges: Check<Edges> = record<Edges>({
  source: nd(1),
  target: nd(1),
  input: nd(1),
  output: nd(1),
  shape: nd(1),
  norm: nd(1),
  value: nd(1),
  dead: nd(1),
});

export const checkGroup: Check<Group> = record<Group>({
  name: text,
  path: text,
  kind: text,
  about: text,
  parent: num,
  use: num,
  note: text,
  synthetic: flag,
  ops: num,
  parameters: num,
  saved: num,
});

export const checkRoot: Check<Root> = record<Root>({
  node: num,
  text: text,
});

export const checkLayout: Check<Layout> = record<Layout>({
  open: nd(1),
  width: num,
  height: num,
  boxes: nd(2),
  pills: nd(2),
  frames: nd(2),
  edges: nd(2),
  norms: nd(1),
  points: nd(2),
});

export const check: Check<State> = record<State>({
  title: text,
  text: optional(text),
  name: text,
  meta: list(text),
  source: text,
  says: list(text),
  nodes: checkNodes,
  kept: checkKept,
  edges: checkEdges,
  groups: list(checkGroup),
  roots: list(checkRoot),
  scale: maybe(row(num, num)),
  failed: num,
  layouts: list(checkLayout),
  stages: nd(1),
  strings: list(text),
  shapes: list(list(num)),
  formulas: list(list(row(text, text))),
});
