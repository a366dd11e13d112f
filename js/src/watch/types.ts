// The record "watch" as it arrives. Made by `make generated` from debug.watch.schema.State: edit that.

import { any, type Check, dict, either, flag, list, maybe, nd, num, one, optional, real, record, row, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

export const OPEN = ["waiting", "running", "paused"] as const;
export const FEW = 20;
export const EACH = 8;
export const MOST = 512;

export type Status = "waiting" | "running" | "paused" | "finished" | "ended" | "stopped" | "interrupted" | "error";

export type Kind = "classification" | "regression" | "language" | "loss";

/** The exception that ended the loop. */
export interface Failure {
  kind: string;
  message: string;
  say: string;
  module?: string;
  where?: string;
  line?: unknown;
}

/** What is not finite: the sentence, what is known beside it, and what became of the loop. */
export interface Alarm {
  what: string;
  kind: string;
  name: string;
  step: number;
  epoch: number;
  last: number | null;
  over: number;
  now: boolean;
  word: string;
  say: string;
  cause: string;
  rest: string;
  way: string;
  weights: string[];
  snapshot: number | null;
  how: "" | "paused" | "on" | "unanswered";
}

/** Where the loop is and how it goes. */
export interface Head {
  status: Status;
  say: string;
  error: Failure | null;
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
  cost: Record<string, Real>;
  device: string;
  memory: number[] | null;
  parameters: number;
  loss: Real | null;
  accuracy: number | null;
  lr: (Real | null)[] | null;
  why: Record<string, string>;
  says: string[];
  alarm: Alarm | null;
  autopause: boolean | null;
  tries: number;
  begins: [number, number, number][];
}

export interface Columns {
  width: number;
  from: number;
  low: Nd;
  high: Nd;
  mean: Nd;
  bad: Nd;
}

/** The curves of loss and learning rate, and those of rewound steps. */
export interface Loss {
  curve: Columns;
  lr: Columns | null;
  undone: Columns[];
}

/** One validation. */
export interface Validation {
  step: number;
  epoch: number;
  loss: Real | null;
  accuracy: number | null;
  samples: number;
  without?: number;
  r2?: Real | null;
  perplexity?: Real | null;
}

/** Right and seen by class; pairs of label and reading, and how often. */
export interface Counts {
  right: Nd;
  seen: Nd;
  pairs?: Nd;
  counts?: Nd;
  size?: number;
  first?: number | null;
  last?: number | null;
}

/** The same of one epoch. */
export interface Epoch {
  epoch: number;
  step: number;
  right: Nd;
  seen: Nd;
}

/** By class, over the newest samples, the epoch, the validation. */
export interface Accuracy {
  window: Counts | null;
  epoch: Counts | null;
  validation: Counts | null;
  before: Counts | null;
  epochs: Epoch[];
  without: number;
  without_from: number;
}

/** A sample that was read as another class. */
export interface Mistake {
  label: number;
  read: number;
  step: number;
  index: number | null;
  where: "training" | "validation";
  top: [number, Real][];
  image: Nd | null;
}

/** The newest, or those after a number. */
export interface Mistakes {
  whole: boolean;
  after: number;
  items: Mistake[];
}

/** Norms of gradients, a row a parameter; beyond the bounds one is far from the others. */
export interface Flow {
  names: string[];
  shapes: number[][];
  columns: Columns | null;
  now: Nd;
  there: Nd;
  bounds: [Real, Real];
}

/** How large its updates are, and what its units do. */
export interface Layer {
  name: string;
  parameters: number;
  ratio: Real | null;
  mean: Real | null;
  low: Real | null;
  high: Real | null;
  kind: "" | "rectifier" | "ends";
  units: Nd | null;
  dead: Nd | null;
  saturated: Nd | null;
  seen: number;
  state: string;
  cure: string;
  module?: string;
}

/** Every layer; the band is that of update / weight that is drawn. */
export interface Health {
  band: [number, number];
  window: number;
  flag: number;
  layers: Layer[];
}

/** A parameter whose filters can be shown. */
export interface Choice {
  name: string;
  shape: number[];
}

/** Filters as small pictures. */
export interface Coded {
  codes: Nd;
  scale: unknown;
}

/** Those that were chosen. */
export interface Filters {
  choices: Choice[];
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

/** What was done to the run, newest last. */
export interface Log {
  whole: boolean;
  items: Entry[];
}

/** Steps to rewind to. */
export interface Snapshots {
  steps: number[];
  bytes: number;
  budget: number;
}

/** Of one output. */
export interface Score {
  n: number;
  r2: number | null;
  mae: number | null;
  rmse: number | null;
  bias: number | null;
  constant_mae: number | null;
  constant_rmse: number | null;
}

/** A sample far from its target. */
export interface Worst {
  step: number;
  index: number | null;
  error: number | null;
  predicted: (number | null)[];
  target: (number | null)[];
}

/** Predictions and targets. */
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
  worst: Worst[];
}

/** Of training and of validation. */
export interface BothValues {
  window: Values | null;
  validation: Values | null;
}

/** Where a token was hard; `read` is -2 where it was not asked for. */
export interface Place {
  step: number;
  token: number;
  read: number;
  loss: number;
  position: number;
  before: number[];
}

/** A language model. */
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
  hard: [number, number, number][];
  pairs: [number, number, number][];
  places: Place[];
  names: Record<string, string>;
}

/** Of training and of validation. */
export interface BothTokens {
  window: Tokens | null;
  validation: Tokens | null;
}

/** What the loop is about; `kind` is "" where it is not known yet. */
export interface Task {
  kind: "" | Kind;
  loss: string;
  constant: string;
  values: BothValues | null;
  tokens: BothTokens | null;
}

/** A line of the user's: `role` is "guilty", "related" or "" for a neighbour. */
export interface FindingPlace {
  line: number;
  text: string;
  role: string;
  label: string;
}

/** What is wrong, as in the record of a diagnosis. */
export interface Finding {
  rule: string;
  severity: string;
  certainty: string;
  text: string;
  where: string;
  cell: number | null;
  line: number | null;
  layer: string;
  source: FindingPlace[];
  proof: [string, string][];
  confirm: string;
  gives: string;
  unless: string;
  cure: [number, string, string][];
  advice: string;
  tree: [number, string, string, string][];
}

/** A rule that looks on, and whether it had anything to look at. */
export interface Looked {
  name: string;
  title: string;
  looked: boolean;
}

/** What is wrong with the run, at most three; `count` are all, `withdrawn` those whose evidence went. */
export interface Findings {
  items: Finding[];
  count: number;
  withdrawn: number;
  rules: Looked[];
}

/** The whole run. */
export interface State {
  version: number;
  title: string;
  text?: string;
  head: Head;
  classes: string[];
  several: boolean;
  loss: Loss;
  validation: Validation[];
  accuracy: Accuracy;
  mistakes: Mistakes;
  flow: Flow;
  health: Health;
  filters: Filters | null;
  log: Log;
  snapshots: Snapshots;
  task?: Task;
  findings?: Findings;
}

export const checkFailure: Check<Failure> = record<Failure>({
  kind: text,
  message: text,
  say: text,
  module: optional(text),
  where: optional(text),
  line: optional(any),
});

export const checkAlarm: Check<Alarm> = record<Alarm>({
  what: text,
  kind: text,
  name: text,
  step: num,
  epoch: num,
  last: maybe(num),
  over: num,
  now: flag,
  word: text,
  say: text,
  cause: text,
  rest: text,
  way: text,
  weights: list(text),
  snapshot: maybe(num),
  how: one("", "paused", "on", "unanswered"),
});

export const checkHead: Check<Head> = record<Head>({
  status: one("waiting", "running", "paused", "finished", "ended", "stopped", "interrupted", "error"),
  say: text,
  error: maybe(checkFailure),
  step: num,
  steps: maybe(num),
  epoch: num,
  epochs: maybe(num),
  epoch_steps: maybe(num),
  batch: maybe(num),
  speed: maybe(num),
  left: maybe(num),
  seconds: num,
  overhead: maybe(num),
  cost: dict(real),
  device: text,
  memory: maybe(list(num)),
  parameters: num,
  loss: maybe(real),
  accuracy: maybe(num),
  lr: maybe(list(maybe(real))),
  why: dict(text),
  says: list(text),
  alarm: maybe(checkAlarm),
  autopause: maybe(flag),
  tries: num,
  begins: list(row(num, num, num)),
});

export const checkColumns: Check<Columns> = record<Columns>({
  width: num,
  from: num,
  low: nd(2),
  high: nd(2),
  mean: nd(2),
  bad: nd(2),
});

export const checkLoss: Check<Loss> = record<Loss>({
  curve: checkColumns,
  lr: maybe(checkColumns),
  undone: list(checkColumns),
});

export const checkValidation: Check<Validation> = record<Validation>({
  step: num,
  epoch: num,
  loss: maybe(real),
  accuracy: maybe(num),
  samples: num,
  without: optional(num),
  r2: optional(maybe(real)),
  perplexity: optional(maybe(real)),
});

export const checkCounts: Check<Counts> = record<Counts>({
  right: nd(1),
  seen: nd(1),
  pairs: optional(nd(2)),
  counts: optional(nd(1)),
  size: optional(num),
  first: optional(maybe(num)),
  last: optional(maybe(num)),
});

export const checkEpoch: Check<Epoch> = record<Epoch>({
  epoch: num,
  step: num,
  right: nd(1),
  seen: nd(1),
});

export const checkAccuracy: Check<Accuracy> = record<Accuracy>({
  window: maybe(checkCounts),
  epoch: maybe(checkCounts),
  validation: maybe(checkCounts),
  before: maybe(checkCounts),
  epochs: list(checkEpoch),
  without: num,
  without_from: num,
});

export const checkMistake: Check<Mistake> = record<Mistake>({
  label: num,
  read: num,
  step: num,
  index: maybe(num),
  where: one("training", "validation"),
  top: list(row(num, real)),
  image: maybe(nd(-1)),
});

export const checkMistakes: Check<Mistakes> = record<Mistakes>({
  whole: flag,
  after: num,
  items: list(checkMistake),
});

export const checkFlow: Check<Flow> = record<Flow>({
  names: list(text),
  shapes: list(list(num)),
  columns: maybe(checkColumns),
  now: nd(1),
  there: nd(1),
  bounds: row(real, real),
});

export const checkLayer: Check<Layer> = record<Layer>({
  name: text,
  parameters: num,
  ratio: maybe(real),
  mean: maybe(real),
  low: maybe(real),
  high: maybe(real),
  kind: one("", "rectifier", "ends"),
  units: maybe(nd(1)),
  dead: maybe(nd(1)),
  saturated: maybe(nd(1)),
  seen: num,
  state: text,
  cure: text,
  module: optional(text),
});

export const checkHealth: Check<Health> = record<Health>({
  band: row(num, num),
  window: num,
  flag: num,
  layers: list(checkLayer),
});

export const checkChoice: Check<Choice> = record<Choice>({
  name: text,
  shape: list(num),
});

export const checkCoded: Check<Coded> = record<Coded>({
  codes: nd(-1),
  scale: any,
});

export const checkFilters: Check<Filters> = record<Filters>({
  choices: list(checkChoice),
  chosen: text,
  step: maybe(num),
  weight: maybe(checkCoded),
  gradient: maybe(checkCoded),
});

export const checkEntry: Check<Entry> = record<Entry>({
  number: num,
  step: num,
  what: text,
  from: any,
  to: any,
  effect: text,
  undone: flag,
});

export const checkLog: Check<Log> = record<Log>({
  whole: flag,
  items: list(checkEntry),
});

export const checkSnapshots: Check<Snapshots> = record<Snapshots>({
  steps: list(num),
  bytes: num,
  budget: num,
});

export const checkScore: Check<Score> = record<Score>({
  n: num,
  r2: maybe(num),
  mae: maybe(num),
  rmse: maybe(num),
  bias: maybe(num),
  constant_mae: maybe(num),
  constant_rmse: maybe(num),
});

export const checkWorst: Check<Worst> = record<Worst>({
  step: num,
  index: maybe(num),
  error: maybe(num),
  predicted: list(maybe(num)),
  target: list(maybe(num)),
});

export const checkValues: Check<Values> = record<Values>({
  outputs: list(text),
  pooled: num,
  shape: list(num),
  broadcast: flag,
  echo: flag,
  size: num,
  n: num,
  bad: num,
  scores: list(checkScore),
  r2: maybe(num),
  predicted: nd(2),
  target: nd(2),
  bins: nd(2),
  span: nd(2),
  beyond: list(num),
  worst: list(checkWorst),
});

export const checkBothValues: Check<BothValues> = record<BothValues>({
  window: maybe(checkValues),
  validation: maybe(checkValues),
});

export const checkPlace: Check<Place> = record<Place>({
  step: num,
  token: num,
  read: num,
  loss: num,
  position: num,
  before: list(num),
});

export const checkTokens: Check<Tokens> = record<Tokens>({
  vocabulary: num,
  length: num,
  shifted: flag,
  n: num,
  size: num,
  bad: num,
  loss: maybe(num),
  perplexity: maybe(num),
  accuracy: maybe(num),
  looked: num,
  position: maybe(nd(1)),
  positions: maybe(nd(1)),
  hard: list(row(num, num, num)),
  pairs: list(row(num, num, num)),
  places: list(checkPlace),
  names: dict(text),
});

export const checkBothTokens: Check<BothTokens> = record<BothTokens>({
  window: maybe(checkTokens),
  validation: maybe(checkTokens),
});

export const checkTask: Check<Task> = record<Task>({
  kind: either(one(""), one("classification", "regression", "language", "loss")),
  loss: text,
  constant: text,
  values: maybe(checkBothValues),
  tokens: maybe(checkBothTokens),
});

export const checkFindingPlace: Check<FindingPlace> = record<FindingPlace>({
  line: num,
  text: text,
  role: text,
  label: text,
});

export const checkFinding: Check<Finding> = record<Finding>({
  rule: text,
  severity: text,
  certainty: text,
  text: text,
  where: text,
  cell: maybe(num),
  line: maybe(num),
  layer: text,
  source: list(checkFindingPlace),
  proof: list(row(text, text)),
  confirm: text,
  gives: text,
  unless: text,
  cure: list(row(num, text, text)),
  advice: text,
  tree: list(row(num, text, text, text)),
});

export const checkLooked: Check<Looked> = record<Looked>({
  name: text,
  title: text,
  looked: flag,
});

export const checkFindings: Check<Findings> = record<Findings>({
  items: list(checkFinding),
  count: num,
  withdrawn: num,
  rules: list(checkLooked),
});

export const check: Check<State> = record<State>({
  version: num,
  title: text,
  text: optional(text),
  head: checkHead,
  classes: list(text),
  several: flag,
  loss: checkLoss,
  validation: list(checkValidation),
  accuracy: checkAccuracy,
  mistakes: checkMistakes,
  flow: checkFlow,
  health: checkHealth,
  filters: maybe(checkFilters),
  log: checkLog,
  snapshots: checkSnapshots,
  task: optional(checkTask),
  findings: optional(checkFindings),
});
