// The record "flow" as it arrives; vistorch/debug/watch/flow.py says what it means.

export interface Row {
  name: string;
  layer: string;
  shape: number[];
  count: number;
  /** A number that JSON cannot say comes as "nan" or "inf". */
  norm: number | string | null;
  mean: number | null;
  max: number | null;
  zeros: number | null;
  bad: number;
  weight: number | null;
  relative: number | null;
  state: string;
  cure: string;
}

export interface State {
  title: string;
  report: string;
  verdict: string;
  scale: [number, number];
  /** The norms beyond which a row is flagged. */
  bounds: unknown[];
  rows: Row[];
  says: string[];
}
