// The state of a watched training, as `vistorch/debug/watch/record.py` writes it. null is what is not known.

import type { Nd } from "../shared/payload";

/** Values by step, thinned: column c holds the steps from c * width on; rows by columns, NaN where nothing was. */
export interface Columns {
  width: number;
  from: number;
  low: Nd;
  high: Nd;
  mean: Nd;
  bad: Nd;
}

export interface Counts {
  right: Nd;
  seen: Nd;
  pairs?: Nd;
  counts?: Nd;
  size?: number;
  first?: number;
  last?: number;
}

export interface Epoch {
  epoch: number;
  step: number;
  right: Nd;
  seen: Nd;
}

export interface Check {
  step: number;
  epoch: number;
  /** A number, or how one that is not finite travels: see `finite` in numbers.ts. */
  loss: unknown;
  accuracy: number | null;
  samples: number;
  without?: number;
}

/** What is not finite: the sentence, what is known beside it, and what became of the loop. */
export interface Alarm {
  what: string;
  kind: string;
  step: number;
  epoch: number;
  over: number;
  now: boolean;
  word: string;
  say: string;
  cause: string;
  rest: string;
  way: string;
  snapshot: number | null;
  how: "" | "paused" | "on" | "unanswered";
}

export type Status = "waiting" | "running" | "paused" | "finished" | "ended" | "stopped" | "interrupted" | "error";

export interface Head {
  status: Status;
  say: string;
  error: { kind: string; message: string; say: string } | null;
  step: number;
  steps: number | null;
  epoch: number;
  epochs: number | null;
  epoch_steps: number | null;
  batch: number | null;
  speed: number | null;
  left: number | null;
  seconds: number;
  overhead: number | null;
  cost: Record<string, unknown>;
  device: string;
  memory: number[] | null;
  parameters: number;
  loss: unknown;
  accuracy: number | null;
  lr: unknown[] | null;
  why: Record<string, string>;
  says: string[];
  alarm: Alarm | null;
  /** Whether an alarm pauses the loop; null where it cannot. */
  autopause: boolean | null;
  tries: number;
  /** [epoch, the step after which it began, 1, or 0 where a rewind cut it]. */
  begins: [number, number, number][];
}

export interface Mistake {
  label: number;
  read: number;
  step: number;
  index: number | null;
  where: "training" | "validation";
  top: [number, number][];
  image: Nd | null;
}

export interface Layer {
  name: string;
  /** The class of the module; "" for tensors of none. */
  module?: string;
  parameters: number;
  ratio: unknown;
  mean: unknown;
  low: unknown;
  high: unknown;
  kind: "" | "rectifier" | "ends";
  units: Nd | null;
  dead: Nd | null;
  saturated: Nd | null;
  seen: number;
  state: string;
  cure: string;
}

export interface Coded {
  codes: Nd;
  scale: unknown;
}

export interface Filters {
  choices: { name: string; shape: number[] }[];
  chosen: string;
  step: number | null;
  weight: Coded | null;
  gradient: Coded | null;
}

export interface Entry {
  number: number;
  step: number;
  what: string;
  from: unknown;
  to: unknown;
  effect: string;
  undone: boolean;
}

export interface Log {
  whole: boolean;
  items: Entry[];
}

export interface Mistakes {
  whole: boolean;
  after: number;
  items: Mistake[];
}

export interface Score {
  n: number;
  r2: number | null;
  mae: number | null;
  rmse: number | null;
  bias: number | null;
  constant_mae: number | null;
  constant_rmse: number | null;
}

/** Predictions and targets; see record.py. */
export interface Values {
  outputs: string[];
  pooled: number;
  shape: number[];
  broadcast: boolean;
  echo: boolean;
  size: number;
  n: number;
  bad: number;
  scores: Score[];
  r2: number | null;
  predicted: Nd;
  target: Nd;
  bins: Nd;
  span: Nd;
  beyond: number[];
  worst: {
    step: number;
    index: number | null;
    error: number | null;
    predicted: (number | null)[];
    target: (number | null)[];
  }[];
}

export interface Place {
  step: number;
  token: number;
  read: number;
  loss: number;
  position: number;
  before: number[];
}

/** Tokens; see record.py. */
export interface Tokens {
  vocabulary: number;
  length: number;
  shifted: boolean;
  n: number;
  size: number;
  bad: number;
  loss: number | null;
  perplexity: number | null;
  accuracy: number | null;
  looked: number;
  position: Nd | null;
  positions: Nd | null;
  hard: [token: number, loss: number, seen: number][];
  pairs: [target: number, read: number, times: number][];
  places: Place[];
  names: Record<string, string>;
}

export type Kind = "classification" | "regression" | "language" | "loss";

/** What the loop is about; kind "" where it is not known yet. */
export interface Task {
  kind: "" | Kind;
  loss: string;
  constant: string;
  values: { window: Values | null; validation: Values | null } | null;
  tokens: { window: Tokens | null; validation: Tokens | null } | null;
}

export interface State {
  version: number;
  title: string;
  head: Head;
  classes: string[];
  several: boolean;
  loss: { curve: Columns; lr: Columns | null; undone: Columns[] };
  validation: Check[];
  accuracy: {
    window: Counts | null;
    epoch: Counts | null;
    validation: Counts | null;
    before: Counts | null;
    epochs: Epoch[];
    /** Outputs that were not finite: no predictions, in no count; and the first step of such. */
    without: number;
    without_from: number;
  };
  mistakes: Mistakes;
  flow: { names: string[]; shapes: number[][]; columns: Columns | null; now: Nd; there: Nd; bounds: unknown[] };
  health: { band: [number, number]; window: number; flag: number; layers: Layer[] };
  filters: Filters | null;
  log: Log;
  snapshots: { steps: number[]; bytes: number; budget: number };
  /** Files of earlier versions have none. */
  task?: Task;
}

export interface Delta extends Partial<State> {
  version: number;
  since: number;
}
