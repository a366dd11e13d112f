// The record "flow" as it arrives. Made by `make generated` from debug.watch.flow.State: edit that.

import { type Check, list, maybe, num, real, record, row, text } from "../shared/check";
import type { Real } from "../shared/payload";

/** The gradient of one parameter; what is not known without a gradient is None. */
export interface Row {
  name: string;
  layer: string;
  shape: number[];
  count: number;
  norm: Real | null;
  mean: number | null;
  max: number | null;
  zeros: number | null;
  bad: number;
  weight: Real | null;
  relative: Real | null;
  state: string;
  cure: string;
}

/** What travels: the table, and the scale its bars are drawn on. */
export interface State {
  title: string;
  report: string;
  verdict: string;
  scale: [number, number];
  bounds: [Real, Real];
  rows: Row[];
  says: string[];
}

export const checkRow: Check<Row> = record<Row>({
  name: text,
  layer: text,
  shape: list(num),
  count: num,
  norm: maybe(real),
  mean: maybe(num),
  max: maybe(num),
  zeros: maybe(num),
  bad: num,
  weight: maybe(real),
  relative: maybe(real),
  state: text,
  cure: text,
});

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  verdict: text,
  scale: row(num, num),
  bounds: row(real, real),
  rows: list(checkRow),
  says: list(text),
});
