// The record "shape" as it arrives. Made by `make generated` from debug.shapes.record.State: edit that.

import { type Check, either, flag, list, num, one, real, record, row, text } from "../shared/check";
import type { Real } from "../shared/payload";

export type Part = ["box", Real, Real, Real, Real, string] | ["line", Real, Real, Real, Real, string] | ["text", Real, Real, string, string, string];

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

/** What travels. */
export interface State {
  title: string;
  report: string;
  sentence: string;
  error: string;
  place: string;
  module: string;
  op: string;
  source: [number, string, string][];
  operands: Given[];
  drawing: Drawing;
}

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

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  sentence: text,
  error: text,
  place: text,
  module: text,
  op: text,
  source: list(row(num, text, text)),
  operands: list(checkGiven),
  drawing: checkDrawing,
});
