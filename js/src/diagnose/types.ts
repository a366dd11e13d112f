// The record "diagnose" as it arrives. Made by `make generated` from debug.diagnose.schema.State: edit that.

import { type Check, either, flag, list, maybe, num, one, real, record, row, text } from "../shared/check";
import type { Real } from "../shared/payload";

export type Part = ["box", Real, Real, Real, Real, string] | ["line", Real, Real, Real, Real, string] | ["text", Real, Real, string, string, string];

/** A rule, and whether it had anything to look at. */
export interface Looked {
  name: string;
  title: string;
  looked: boolean;
}

/** A line of the user's: `role` is "guilty", "related" or "" for a neighbour. */
export interface Place {
  line: number;
  text: string;
  role: string;
  label: string;
}

/** An operand as it is listed. */
export interface Given {
  name: string;
  shape: string;
  note: string;
  bad: boolean;
}

/** Boxes, lines and texts. */
export interface Drawing {
  width: Real;
  height: Real;
  parts: Part[];
}

/** What does not fit together, drawn. */
export interface Shapes {
  sentence: string;
  op: string;
  operands: Given[];
  drawing: Drawing;
}

/** What came of trying a cure: losses with it and without; `refused` says why it was not tried. */
export interface Trial {
  label: string;
  with_it: Real[];
  without: Real[];
  after: string;
  refused: string;
}

/** A number on a scale from 0 to 1: `role` is "seen" or "baseline"; a range goes from `start` to `end`. */
export interface Bar {
  name: string;
  text: string;
  start: number;
  end: number;
  role: string;
  log: boolean;
}

/** A sample of a batch and its label, or a place and its index. */
export interface Sample {
  index: number;
  label: number;
  bad: boolean;
}

/** The same with its picture, and what came of its cure. */
export interface Found {
  rule: string;
  severity: string;
  certainty: string;
  text: string;
  where: string;
  cell: number | null;
  line: number | null;
  layer: string;
  source: Place[];
  proof: [string, string][];
  confirm: string;
  gives: string;
  unless: string;
  cure: [number, string, string][];
  advice: string;
  tree: [number, string, string, string][];
  shapes: Shapes | null;
  tried: Trial | null;
  bars: Bar[];
  samples: Sample[];
}

/** The whole. */
export interface State {
  version: number;
  title: string;
  says: string;
  report: string;
  steps: number;
  passes: number;
  count: number;
  losses: Real[];
  rules: Looked[];
  findings: Found[];
}

export const checkLooked: Check<Looked> = record<Looked>({
  name: text,
  title: text,
  looked: flag,
});

export const checkPlace: Check<Place> = record<Place>({
  line: num,
  text: text,
  role: text,
  label: text,
});

export const checkGiven: Check<Given> = record<Given>({
  name: text,
  shape: text,
  note: text,
  bad: flag,
});

export const checkDrawing: Check<Drawing> = record<Drawing>({
  width: real,
  height: real,
  parts: list(either(row(one("box"), real, real, real, real, text), row(one("line"), real, real, real, real, text), row(one("text"), real, real, text, text, text))),
});

export const checkShapes: Check<Shapes> = record<Shapes>({
  sentence: text,
  op: text,
  operands: list(checkGiven),
  drawing: checkDrawing,
});

export const checkTrial: Check<Trial> = record<Trial>({
  label: text,
  with_it: list(real),
  without: list(real),
  after: text,
  refused: text,
});

export const checkBar: Check<Bar> = record<Bar>({
  name: text,
  text: text,
  start: num,
  end: num,
  role: text,
  log: flag,
});

export const checkSample: Check<Sample> = record<Sample>({
  index: num,
  label: num,
  bad: flag,
});

export const checkFound: Check<Found> = record<Found>({
  rule: text,
  severity: text,
  certainty: text,
  text: text,
  where: text,
  cell: maybe(num),
  line: maybe(num),
  layer: text,
  source: list(checkPlace),
  proof: list(row(text, text)),
  confirm: text,
  gives: text,
  unless: text,
  cure: list(row(num, text, text)),
  advice: text,
  tree: list(row(num, text, text, text)),
  shapes: maybe(checkShapes),
  tried: maybe(checkTrial),
  bars: list(checkBar),
  samples: list(checkSample),
});

export const check: Check<State> = record<State>({
  version: num,
  title: text,
  says: text,
  report: text,
  steps: num,
  passes: num,
  count: num,
  losses: list(real),
  rules: list(checkLooked),
  findings: list(checkFound),
});
