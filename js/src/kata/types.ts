// The record "kata" as it arrives. Made by `make generated` from debug.kata.record.State: edit that.

import { type Check, flag, list, nd, num, record, row, text } from "../shared/check";
import type { Nd } from "../shared/payload";

/** A row to earn: `state` is "", "right" or "not yet". */
export interface RowState {
  state: string;
  title: string;
  says: string;
}

/** The second picture: `kind` is "fit" or "bars", `mine` is empty before the mended cell has run. */
export interface PictureState {
  kind: string;
  names: string[];
  x: Nd;
  target: Nd;
  broken: Nd;
  mine: Nd;
}

/** One kata. */
export interface Card {
  number: number;
  title: string;
  belt: string;
  minutes: number;
  status: string;
  symptom: string;
  rules: string;
  code: string[];
  guilty: number;
  rows: RowState[];
  broken: Nd;
  mine: Nd;
  picture: PictureState;
  hints: string[];
  more: number;
  solution: [number, string, string][];
  solvable: boolean;
  why: string;
  lesson: string;
  after: number;
}

/** One line of the table: `state` is "solved", "helped", "next" or "". */
export interface Entry {
  number: number;
  title: string;
  state: string;
}

/** Three kata of a colour. */
export interface Belt {
  name: string;
  solved: number;
  entries: Entry[];
}

/** A card or the table: one of the lists is empty. */
export interface State {
  title: string;
  report: string;
  cards: Card[];
  belts: Belt[];
  solved: number;
  after: number;
}

export const checkRowState: Check<RowState> = record<RowState>({
  state: text,
  title: text,
  says: text,
});

export const checkPictureState: Check<PictureState> = record<PictureState>({
  kind: text,
  names: list(text),
  x: nd(1),
  target: nd(1),
  broken: nd(1),
  mine: nd(1),
});

export const checkCard: Check<Card> = record<Card>({
  number: num,
  title: text,
  belt: text,
  minutes: num,
  status: text,
  symptom: text,
  rules: text,
  code: list(text),
  guilty: num,
  rows: list(checkRowState),
  broken: nd(1),
  mine: nd(1),
  picture: checkPictureState,
  hints: list(text),
  more: num,
  solution: list(row(num, text, text)),
  solvable: flag,
  why: text,
  lesson: text,
  after: num,
});

export const checkEntry: Check<Entry> = record<Entry>({
  number: num,
  title: text,
  state: text,
});

export const checkBelt: Check<Belt> = record<Belt>({
  name: text,
  solved: num,
  entries: list(checkEntry),
});

export const check: Check<State> = record<State>({
  title: text,
  report: text,
  cards: list(checkCard),
  belts: list(checkBelt),
  solved: num,
  after: num,
});
