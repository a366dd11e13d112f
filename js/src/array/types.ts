// The record "array" as it arrives. Made by `make generated` from debug.array.schema.State: edit that.

import { type Check, either, flag, list, maybe, nd, num, one, optional, real, record, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

export type Role = "rows" | "cols" | "across" | "down" | "slider" | "channels";

export type Number = Real | string | null;

/** The axes of a picture, and the values that are black and white. */
export interface Picture {
  channels: number | null;
  rows: number;
  cols: number;
  lo: number;
  hi: number;
  shown: boolean;
}

/** The values themselves. */
export interface Exact {
  data: Nd;
}

/** Numbers of levels, the top three codes being NaN, +inf and -inf. */
export interface Coded {
  codes: Nd;
  levels: Nd;
  exact: boolean;
}

/** The other ends of blocks that show both ends of their range. */
export interface Ends {
  codes: Nd;
  levels: Nd;
}

/** Numbers over all elements; all but the counts of the finite ones. */
export interface Stats {
  count: number;
  min: Number;
  max: Number;
  mean: Number;
  std: Number;
  median: Number;
  zeros: number;
  nan: number;
  posinf: number;
  neginf: number;
  argmin: number | null;
  argmax: number | null;
  read: boolean;
}

/** How values become colours, and what is counted along it. */
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

/** One real number a cell. */
export interface Layer {
  name: string;
  values: Exact | Coded | null;
  ends: Ends | null;
  stats: Stats;
  scales: Scale[];
  scale: number;
}

/** How many elements are not finite, and where the first are. */
export interface Bad {
  nan: number;
  posinf: number;
  neginf: number;
  at: Nd;
  which: Nd;
}

/** One array. */
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

/** The whole record. */
export interface State {
  layout: "one" | "linked" | "strip";
  title: string;
  text?: string;
  items: Item[];
  size: number;
  says: string[];
}

export const checkPicture: Check<Picture> = record<Picture>({
  channels: maybe(num),
  rows: num,
  cols: num,
  lo: num,
  hi: num,
  shown: flag,
});

export const checkExact: Check<Exact> = record<Exact>({
  data: nd(-1),
});

export const checkCoded: Check<Coded> = record<Coded>({
  codes: nd(-1),
  levels: nd(1),
  exact: flag,
});

export const checkEnds: Check<Ends> = record<Ends>({
  codes: nd(-1),
  levels: nd(1),
});

export const checkStats: Check<Stats> = record<Stats>({
  count: num,
  min: maybe(either(real, text)),
  max: maybe(either(real, text)),
  mean: maybe(either(real, text)),
  std: maybe(either(real, text)),
  median: maybe(either(real, text)),
  zeros: num,
  nan: num,
  posinf: num,
  neginf: num,
  argmin: maybe(num),
  argmax: maybe(num),
  read: flag,
});

export const checkScale: Check<Scale> = record<Scale>({
  id: text,
  label: text,
  map: text,
  centre: flag,
  curve: one("linear", "log"),
  lo: num,
  hi: num,
  linear: num,
  beyond: num,
  say: text,
  counts: nd(1),
  under: num,
  over: num,
  edges: nd(1),
});

export const checkLayer: Check<Layer> = record<Layer>({
  name: text,
  values: maybe(either(checkExact, checkCoded)),
  ends: maybe(checkEnds),
  stats: checkStats,
  scales: list(checkScale),
  scale: num,
});

export const checkBad: Check<Bad> = record<Bad>({
  nan: num,
  posinf: num,
  neginf: num,
  at: nd(1),
  which: nd(1),
});

export const checkItem: Check<Item> = record<Item>({
  name: text,
  index: text,
  role: one("", "value", "gradient", "update"),
  shape: list(num),
  dims: list(text),
  dtype: text,
  device: text,
  nbytes: num,
  notes: list(text),
  block: list(num),
  grid: list(num),
  pooled: text,
  roles: list(one("rows", "cols", "across", "down", "slider", "channels")),
  image: maybe(checkPicture),
  layers: list(checkLayer),
  bad: checkBad,
});

export const check: Check<State> = record<State>({
  layout: one("one", "linked", "strip"),
  title: text,
  text: optional(text),
  items: list(checkItem),
  size: num,
  says: list(text),
});
