// The record "vars" as it arrives: the names of a namespace, one row each.

import type { Nd } from "../shared/payload";

export interface Row {
  name: string;
  kind: "tensor" | "parameter" | "module" | "array";
  shape: number[] | null;
  dtype: string;
  device: string;
  nbytes: number;
  requires_grad: boolean | null;
  grad_norm: unknown;
  thumb: { codes: Nd; map: string; centre: boolean } | null;
  says: string;
  /** What a scalar is. */
  number?: string;
}

export interface State {
  title: string;
  rows: Row[];
}
