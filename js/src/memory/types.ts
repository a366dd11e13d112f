// The record "memory" as it arrives. Made by `make generated` from debug.timeline.State: edit that.

import { check as checkGraph, type State as GraphState } from "../graph/types";
import { type Check, dict, flag, list, maybe, nd, num, record, row, text } from "../shared/check";
import type { Nd } from "../shared/payload";

/** When most is kept. */
export interface Peak {
  tick: number;
  bytes: number;
  what: string;
  where: string;
}

/** What one node keeps. */
export interface Row {
  id: number;
  name: string;
  where: string;
  module: string;
  layer: string;
  device: string;
  bytes: number;
  shared: number;
  shapes: number[][];
  made: number;
  freed: number | null;
  at_peak: boolean;
}

/** What travels; a tick is one op forward or one node backward. */
export interface State {
  title: string;
  report: string;
  peak: Peak;
  ticks: Nd;
  bytes: Nd;
  devices: Record<string, Nd>;
  backward: [number, number][];
  leaves: number;
  opaque: number;
  says: string[];
  nodes: number;
  alive: Nd;
  rows: Row[];
  graph: GraphState | null;
  source: string;
}

export const checkPeak: Check<Peak> = record<Peak>({
  tick: num,
  bytes: num,
  what: text,
  where: text,
});

export const checkRow: Check<Row> = record<Row>({
  id: num,
  name: text,
  where: text,
  module: text,
  layer: text,
  device: text,
  bytes: num,
  shared: num,
  shapes: list(list(num)),
  made: num,
  freed: maybe(num),
  at_peak: flag,
});

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  peak: checkPeak,
  ticks: nd(1),
  bytes: nd(1),
  devices: dict(nd(1)),
  backward: list(row(num, num)),
  leaves: num,
  opaque: num,
  says: list(text),
  nodes: num,
  alive: nd(1),
  rows: list(checkRow),
  graph: maybe(checkGraph),
  source: text,
});
