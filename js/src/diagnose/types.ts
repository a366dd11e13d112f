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

/** The same with its picture. */
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
