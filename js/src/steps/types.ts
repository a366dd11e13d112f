// The record "steps" as it arrives. Made by `make generated` from debug.steps.schema.State: edit that.

import { check as checkGraph, type State as GraphState } from "../graph/types";
import { type Check, flag, list, maybe, nd, num, one, optional, real, record, row, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

/** The line that made a node. */
export interface Line {
  text: string;
  file: string;
  line: number;
  cell: number | null;
}

/** How the gradient of one input is made. */
export interface Formula {
  input: string;
  latex: string | null;
  reads: string[];
}

/** A value that a node keeps. */
export interface Saved {
  name: string;
  what: string;
  value: number | null;
  text: string;
  bytes: number;
  alias: boolean;
}

/** One node; of one that no kept frame shows only the first few are known. */
export interface StepNode {
  id: number;
  name: string;
  label: string;
  leaf: boolean;
  op?: string;
  module?: string;
  layer?: string;
  shape?: number[];
  dtype?: string;
  line?: Line | null;
  forward?: number | null;
  formulas?: Formula[];
  to?: ([string, number | null, number])[];
  saved?: Saved[];
  bytes?: number;
}

/** A piece of a formula with numbers. */
export interface Part {
  kind: "op" | "number" | "array";
  text?: string;
  symbol?: string;
  role?: string;
  input?: string;
  rows?: string[][] | null;
  shape?: number[];
  norm?: Real;
}

/** A formula with this step's numbers. */
export interface Numbers {
  text: string;
  latex: string;
  at: number[] | null;
  note: string;
  parts: Part[];
}

/** A gradient that a step sends. */
export interface Outgoing {
  input: string;
  to: number | null;
  output: number;
  gradient: number | null;
  before: number | null;
  after: number | null;
  sum: string;
  numbers: Numbers | null;
}

/** What arrives in a leaf. */
export interface Grad {
  node: number;
  before: number | null;
  after: number | null;
  sum: string;
}

/** What one may look at for an answer: a letter of the formula or a name of the code, and its number or shape. */
export interface Known {
  letter: string;
  name: string;
  text: string;
  value: number | null;
  shape: number[] | null;
}

/** What is asked of a step before its gradients are shown. */
export interface Question {
  kind: "number" | "sign" | "shape";
  asks: string;
  input: string;
  at: number[] | null;
  knows: Known[];
  choices: string[];
  answer: number | null;
  shape: number[];
  working: string;
  why: string;
  hint: string;
}

/** What one step changes. */
export interface StepFrame {
  node: number;
  says: string;
  incoming: (number | null)[];
  hooked: (number | null)[] | null;
  outgoing: Outgoing[];
  grads: Grad[];
  done: number[];
  pending: number[];
  question: Question | null;
}

/** One array, exact or as an overview. */
export interface Value {
  shape: number[];
  dtype: string;
  norm: Real;
  min: Real | null;
  max: Real | null;
  mean: Real | null;
  nan: number;
  posinf: number;
  neginf: number;
  zeros: number;
  block: number[];
  grid: number[];
  exact: boolean;
  data?: Nd;
  codes?: Nd;
  levels?: Nd;
  phase?: Nd;
}

/** The whole record. */
export interface State {
  title: string;
  text?: string;
  count: number;
  at: number;
  says: string[];
  nodes: StepNode[];
  frames: StepFrame[];
  start: ([number, number | null])[];
  waits: ([number, number, number | null])[];
  values: Value[];
  failed: string | null;
  skipped: number;
  total: number;
  whole: boolean;
  done: number[];
  graph: GraphState | null;
  source: string;
  places: number[];
  stops: [number, string][];
  ask: boolean;
  held: boolean;
}

export const checkLine: Check<Line> = record<Line>({
  text: text,
  file: text,
  line: num,
  cell: maybe(num),
});

export const checkFormula: Check<Formula> = record<Formula>({
  input: text,
  latex: maybe(text),
  reads: list(text),
});

export const checkSaved: Check<Saved> = record<Saved>({
  name: text,
  what: text,
  value: maybe(num),
  text: text,
  bytes: num,
  alias: flag,
});

export const checkStepNode: Check<StepNode> = record<StepNode>({
  id: num,
  name: text,
  label: text,
  leaf: flag,
  op: optional(text),
  module: optional(text),
  layer: optional(text),
  shape: optional(list(num)),
  dtype: optional(text),
  line: optional(maybe(checkLine)),
  forward: optional(maybe(num)),
  formulas: optional(list(checkFormula)),
  to: optional(list(row(text, maybe(num), num))),
  saved: optional(list(checkSaved)),
  bytes: optional(num),
});

export const checkPart: Check<Part> = record<Part>({
  kind: one("op", "number", "array"),
  text: optional(text),
  symbol: optional(text),
  role: optional(text),
  input: optional(text),
  rows: optional(maybe(list(list(text)))),
  shape: optional(list(num)),
  norm: optional(real),
});

export const checkNumbers: Check<Numbers> = record<Numbers>({
  text: text,
  latex: text,
  at: maybe(list(num)),
  note: text,
  parts: list(checkPart),
});

export const checkOutgoing: Check<Outgoing> = record<Outgoing>({
  input: text,
  to: maybe(num),
  output: num,
  gradient: maybe(num),
  before: maybe(num),
  after: maybe(num),
  sum: text,
  numbers: maybe(checkNumbers),
});

export const checkGrad: Check<Grad> = record<Grad>({
  node: num,
  before: maybe(num),
  after: maybe(num),
  sum: text,
});

export const checkKnown: Check<Known> = record<Known>({
  letter: text,
  name: text,
  text: text,
  value: maybe(num),
  shape: maybe(list(num)),
});

export const checkQuestion: Check<Question> = record<Question>({
  kind: one("number", "sign", "shape"),
  asks: text,
  input: text,
  at: maybe(list(num)),
  knows: list(checkKnown),
  choices: list(text),
  answer: maybe(num),
  shape: list(num),
  working: text,
  why: text,
  hint: text,
});

export const checkStepFrame: Check<StepFrame> = record<StepFrame>({
  node: num,
  says: text,
  incoming: list(maybe(num)),
  hooked: maybe(list(maybe(num))),
  outgoing: list(checkOutgoing),
  grads: list(checkGrad),
  done: list(num),
  pending: list(num),
  question: maybe(checkQuestion),
});

export const checkValue: Check<Value> = record<Value>({
  shape: list(num),
  dtype: text,
  norm: real,
  min: maybe(real),
  max: maybe(real),
  mean: maybe(real),
  nan: num,
  posinf: num,
  neginf: num,
  zeros: num,
  block: list(num),
  grid: list(num),
  exact: flag,
  data: optional(nd(-1)),
  codes: optional(nd(-1)),
  levels: optional(nd(1)),
  phase: optional(nd(-1)),
});

export const check: Check<State> = record<State>({
  title: text,
  text: optional(text),
  count: num,
  at: num,
  says: list(text),
  nodes: list(checkStepNode),
  frames: list(checkStepFrame),
  start: list(row(num, maybe(num))),
  waits: list(row(num, num, maybe(num))),
  values: list(checkValue),
  failed: maybe(text),
  skipped: num,
  total: num,
  whole: flag,
  done: list(num),
  graph: maybe(checkGraph),
  source: text,
  places: list(num),
  stops: list(row(num, text)),
  ask: flag,
  held: flag,
});
