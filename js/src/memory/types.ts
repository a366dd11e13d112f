// The record "memory" as it arrives; vistorch/debug/timeline.py says what it means.

import type { State as GraphState } from "../graph/record";
import type { Nd } from "../shared/payload";

export interface Row {
  id: number;
  name: string;
  where: string;
  module: string;
  /** Class and size of the module. */
  layer: string;
  device: string;
  bytes: number;
  shared: number;
  shapes: number[][];
  born: number;
  freed: number | null;
  at_peak: boolean;
}

export interface State {
  title: string;
  report: string;
  peak: { tick: number; bytes: number; what: string; where: string };
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
}
