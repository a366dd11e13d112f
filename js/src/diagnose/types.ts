// The record "diagnose" as it arrives. Made by `make generated` from debug.diagnose.schema.State: edit that.

import { type Check, flag, list, maybe, num, real, record, row, text } from "../shared/check";
import type { Real } from "../shared/payload";

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

/** A finding. */
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
