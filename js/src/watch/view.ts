// What the parts of the panel share: the state of the moment, what is chosen in the page, and the way to the kernel.

import type { Theme } from "../shared/theme";
import type { Cut } from "./cut";
import type { Counts, State } from "./types";

export type Of = "window" | "epoch" | "validation";

export interface View {
  state: State;
  readonly theme: Theme;
  readonly signal: AbortSignal;
  /** Whether a kernel answers. */
  readonly live: boolean;
  /** What is said in place of the status, where no kernel answers for a run that was under way. */
  readonly cut: Cut | null;
  /** Which samples are counted. */
  of: Of;
  /** The cell of the confusion matrix whose samples are shown. */
  cell: [label: number, read: number] | null;
  /** Whether a person chose that cell: it then stays. */
  picked: boolean;
  /** The output of a regression that is looked at. */
  output: number;
  /** The classes as they are listed, the worst first. */
  order: number[];
  /** Paint in the next frame. */
  again(): void;
  /** Ask the kernel to do something. */
  ask(word: string, fields?: Record<string, unknown>): void;
}

export interface Part {
  root: HTMLElement;
  paint(): void;
}

/** Write a text where it is another: the browser lays out again what is written, even if it is the same. */
export function put(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute where it is another; null takes it away. */
export function set(element: Element, name: string, value: string | null): void {
  if (element.getAttribute(name) === value) return;
  if (value === null) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

/** Whether none of these is another object than it was when this was last asked. */
export function unchanged(): (...now: unknown[]) => boolean {
  let before: unknown[] | null = null;
  return (...now) => {
    const same = before?.length === now.length && now.every((value, i) => value === before?.[i]);
    before = now;
    return same;
  };
}

const total = (counts: { seen: { data: ArrayLike<number> } }): number => {
  let n = 0;
  for (let i = 0; i < counts.seen.data.length; i++) n += counts.seen.data[i] as number;
  return n;
};

export interface Tally {
  counts: Pick<Counts, "right" | "seen" | "pairs" | "counts">;
  /** The same measure at the end of the epoch before, or the validation before. */
  before: Pick<Counts, "right" | "seen"> | null;
  since: string;
  samples: number;
  accuracy: number | null;
}

/** The counts that are shown, and what they are measured against; null where nothing was counted. */
export function tally(state: State, of: Of): Tally | null {
  const { accuracy, head } = state;
  const ends = accuracy.epochs.filter((one) => one.step < head.step);
  let counts: Tally["counts"] | null = accuracy[of];
  let [before, since]: [Tally["before"], string] = [null, ""];
  if (of === "validation") {
    before = accuracy.before;
    since = before ? "previous one" : "";
  } else {
    const last = ends[ends.length - 1];
    if (of === "epoch" && counts && !total(counts)) counts = accuracy.epochs[accuracy.epochs.length - 1] ?? counts;
    before = last ?? null;
    since = last ? `end of epoch ${last.epoch}` : "";
  }
  if (!counts) return null;
  const samples = total(counts);
  if (!samples) return null;
  let right = 0;
  for (let i = 0; i < counts.right.data.length; i++) right += counts.right.data[i] as number;
  return { counts, before, since, samples, accuracy: right / samples };
}

export const nameOf = (state: State, index: number): string => state.classes[index] ?? `class ${index}`;
