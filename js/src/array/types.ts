// The record "array" as it arrives: the fields that Python wrote, with every array already in place.

import type { Nd } from "../shared/payload";

export type Role = "rows" | "cols" | "across" | "down" | "slider" | "channels";

export interface Scale {
  id: string;
  label: string;
  map: string;
  centre: boolean;
  curve: "linear" | "log";
  lo: number;
  hi: number;
  linear: number;
  beyond: number;
  say: string;
  counts: Nd;
  under: number;
  over: number;
  edges: Nd;
}

export interface Stats {
  count: number;
  min: unknown;
  max: unknown;
  mean: unknown;
  std: unknown;
  median: unknown;
  zeros: number | null;
  nan: number | null;
  posinf: number | null;
  neginf: number | null;
  /** False where the values were not looked at: all but the count is then unknown. */
  read?: boolean;
}

export type Values = { data: Nd } | { codes: Nd; levels: Nd; exact: boolean };

export interface Layer {
  name: string;
  /** Null where only numbers are told. */
  values: Values | null;
  /** The other ends of blocks that show both ends of their range; NaN (the highest code) where a block shows one. */
  ends?: { codes: Nd; levels: Nd } | null;
  stats: Stats;
  scales: Scale[];
  scale: number;
}

export interface Picture {
  channels: number | null;
  rows: number;
  cols: number;
  lo: number;
  hi: number;
  shown?: boolean;
}

export interface Bad {
  nan: number;
  posinf: number;
  neginf: number;
  at: Nd;
  which: Nd;
}

export interface Item {
  name: string;
  index: string;
  role: "" | "value" | "gradient" | "update";
  shape: number[];
  dims: string[];
  dtype: string;
  device: string;
  nbytes: number;
  notes: string[];
  block: number[];
  grid: number[];
  pooled: string;
  roles: Role[];
  image: Picture | null;
  layers: Layer[];
  bad: Bad;
}

export interface State {
  layout: "one" | "linked" | "strip";
  title: string;
  text: string;
  items: Item[];
  size: number;
  says: string[];
}
