// The record "trace" as it arrives; vistorch/debug/trace/record.py says what it means.

import type { State as GraphState } from "../graph/types";
import type { Nd } from "../shared/payload";

export type StateName = "clean" | "birth" | "propagated" | "healed";

export interface Mark {
  state: StateName;
  nan: number;
  posinf: number;
  neginf: number;
  beyond: number;
  size: number;
  text: string;
}

export interface Row {
  id: number;
  line: number | null;
  where: string;
  op: string;
  code: string;
  module: string;
  /** Class and size of the module. */
  layer: string;
  forward: Mark | null;
  backward: Mark | null;
}

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

export interface Birth {
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

export interface Source {
  where: string;
  lines: { number: number; text: string; marks: [string, StateName | "failed"][] }[];
}

export interface State {
  title: string;
  report: string;
  sentence: string;
  course?: string;
  more: string;
  cure: string;
  forward: number;
  backward: number;
  bound: number | null;
  error: string | null;
  says: string[];
  source: Source | null;
  rows: Row[];
  first: Birth | null;
  births: Birth[];
  graph: GraphState | null;
  leaves: { name: string; nan: number; posinf: number; neginf: number; beyond: number; size: number }[];
}
