// The record "vars" as it arrives. Made by `make generated` from debug.variables.State: edit that.

import { type Check, flag, list, maybe, nd, num, one, real, record, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

/** A small picture as it travels. */
export interface ThumbState {
  codes: Nd;
  map: string;
  centre: boolean;
}

/** A row as it travels. */
export interface RowState {
  name: string;
  kind: "tensor" | "parameter" | "module" | "array";
  shape: number[] | null;
  dtype: string;
  device: string;
  nbytes: number;
  requires_grad: boolean | null;
  grad_norm: Real | null;
  thumb: ThumbState | null;
  says: string;
  number: string;
}

/** The table as it travels. */
export interface State {
  title: string;
  rows: RowState[];
}

export const checkThumbState: Check<ThumbState> = record<ThumbState>({
  codes: nd(-1),
  map: text,
  centre: flag,
});

export const checkRowState: Check<RowState> = record<RowState>({
  name: text,
  kind: one("tensor", "parameter", "module", "array"),
  shape: maybe(list(num)),
  dtype: text,
  device: text,
  nbytes: num,
  requires_grad: maybe(flag),
  grad_norm: maybe(real),
  thumb: maybe(checkThumbState),
  says: text,
  number: text,
});

export const check: Check<State> = record<State>({
  title: text,
  rows: list(checkRowState),
});
