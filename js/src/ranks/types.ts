// The record "ranks" as it arrives. Made by `make generated` from debug.ranks.record.State: edit that.

import { type Check, flag, list, maybe, nd, num, real, record, text } from "../shared/check";
import type { Nd, Real } from "../shared/payload";

/** What went wrong: a sentence, and what else is known. */
export interface Alarm {
  title: string;
  text: string;
  bad: boolean;
}

/** A part of a step on one rank. */
export interface Span {
  kind: string;
  begin: number;
  end: number;
}

/** An operation as one rank saw it: it came at `ready`, all were there at `begin`. */
export interface Exchange {
  bucket: number;
  name: string;
  ready: number;
  begin: number;
  end: number;
}

/** One rank's part of a step. */
export interface Lane {
  rank: number;
  spans: Span[];
  exchanges: Exchange[];
  waited: number;
  last: number;
}

/** One step on all ranks; `last` came last to the operation that was waited for longest, at `meet`. */
export interface Step {
  number: number;
  total: number;
  lanes: Lane[];
  last: number;
  meet: number;
}

/** One rank now; what is not known is None. */
export interface Row {
  rank: number;
  host: string;
  pid: number;
  loss: Real | null;
  alone: number | null;
  waited: number | null;
  share: number | null;
  memory: number;
  seen: number | null;
  finding: string;
  warn: boolean;
}

/** What the page offers. */
export interface Bar {
  on: boolean;
  paused: boolean;
  say: string;
  rate: number | null;
}

/** One tensor at one point of a step, on all ranks. */
export interface Part {
  tensor: string;
  when: string;
  sums: string[];
  odd: boolean[];
  differs: number | null;
  first: boolean;
}

/** A line of source. */
export interface Code {
  number: number;
  text: string;
  hit: boolean;
}

/** Something of the generator, by rank. */
export interface Seed {
  name: string;
  values: string[];
  odd: boolean[];
}

/** What travels. */
export interface Parting {
  title: string;
  text: string;
  apart: boolean;
  rank: number;
  step: number;
  rows: Part[];
  file: string;
  code: Code[];
  seeds: Seed[];
  cure: string;
  notes: string[];
}

/** What travels. */
export interface State {
  title: string;
  report: string;
  state: string;
  done: number;
  speed: number | null;
  ranks: number;
  hosts: number;
  backend: string;
  waiting: number | null;
  alarm: Alarm | null;
  at: Nd;
  losses: Nd;
  mean: Nd;
  low: Nd;
  high: Nd;
  newest: Step | null;
  middle: Step | null;
  of: number;
  verdict: string;
  more: string;
  rows: Row[];
  bar: Bar | null;
  parting: Parting | null;
}

export const checkAlarm: Check<Alarm> = record<Alarm>({
  title: text,
  text: text,
  bad: flag,
});

export const checkSpan: Check<Span> = record<Span>({
  kind: text,
  begin: num,
  end: num,
});

export const checkExchange: Check<Exchange> = record<Exchange>({
  bucket: num,
  name: text,
  ready: num,
  begin: num,
  end: num,
});

export const checkLane: Check<Lane> = record<Lane>({
  rank: num,
  spans: list(checkSpan),
  exchanges: list(checkExchange),
  waited: num,
  last: num,
});

export const checkStep: Check<Step> = record<Step>({
  number: num,
  total: num,
  lanes: list(checkLane),
  last: num,
  meet: num,
});

export const checkRow: Check<Row> = record<Row>({
  rank: num,
  host: text,
  pid: num,
  loss: maybe(real),
  alone: maybe(num),
  waited: maybe(num),
  share: maybe(num),
  memory: num,
  seen: maybe(num),
  finding: text,
  warn: flag,
});

export const checkBar: Check<Bar> = record<Bar>({
  on: flag,
  paused: flag,
  say: text,
  rate: maybe(num),
});

export const checkPart: Check<Part> = record<Part>({
  tensor: text,
  when: text,
  sums: list(text),
  odd: list(flag),
  differs: maybe(num),
  first: flag,
});

export const checkCode: Check<Code> = record<Code>({
  number: num,
  text: text,
  hit: flag,
});

export const checkSeed: Check<Seed> = record<Seed>({
  name: text,
  values: list(text),
  odd: list(flag),
});

export const checkParting: Check<Parting> = record<Parting>({
  title: text,
  text: text,
  apart: flag,
  rank: num,
  step: num,
  rows: list(checkPart),
  file: text,
  code: list(checkCode),
  seeds: list(checkSeed),
  cure: text,
  notes: list(text),
});

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  state: text,
  done: num,
  speed: maybe(num),
  ranks: num,
  hosts: num,
  backend: text,
  waiting: maybe(num),
  alarm: maybe(checkAlarm),
  at: nd(1),
  losses: nd(2),
  mean: nd(1),
  low: nd(1),
  high: nd(1),
  newest: maybe(checkStep),
  middle: maybe(checkStep),
  of: num,
  verdict: text,
  more: text,
  rows: list(checkRow),
  bar: maybe(checkBar),
  parting: maybe(checkParting),
});
