// What the layouts of a task share: which of them there is, what is counted, tables, and axes that seldom move.

import { el, onWidth, painter } from "../shared/dom";
import { tabs } from "./tabs";
import type { Kind, State } from "./types";
import type { View } from "./view";

/** What the loop is about; what is not known yet is shown as classes. */
export const kindOf = (state: State): Kind => state.task?.kind || "classification";

export interface Pick {
  root: HTMLElement;
  /** What is shown of both, by what is chosen and what there is. */
  shown<T>(of: { window: T | null; validation: T | null } | null): T | null;
}

/** The choice between the newest samples of training and the newest validation; without one there is no choice. */
export function pick(view: View): Pick {
  const row = tabs<"window" | "validation">(
    "samples counted",
    "vt-w-seg",
    [
      { key: "window", text: "training", tip: "the newest samples of training" },
      { key: "validation", text: "validation", tip: "the newest validation" },
    ],
    (key) => {
      view.of = key;
      view.again();
    },
    view.signal,
  );
  return {
    root: row.root,
    shown(of) {
      const both = Boolean(of?.validation);
      const key = view.of === "validation" && both ? "validation" : "window";
      row.root.hidden = !both;
      row.mark(key);
      return of?.[key] ?? null;
    },
  };
}

/** A table: heads, rows, the widths of its columns; `each` may add to a row. */
export function lines(
  root: HTMLElement,
  heads: string[],
  rows: string[][],
  columns: string,
  each: (line: HTMLElement, i: number) => void = () => undefined,
): void {
  const line = (cells: string[], role: string): HTMLElement =>
    el("div.vt-w-tr", { role: "row" }, ...cells.map((text) => el("span", { role, text, title: text })));
  root.style.setProperty("--columns", columns);
  const made = rows.map((cells, i) => {
    const one = line(cells, "cell");
    each(one, i);
    return one;
  });
  root.replaceChildren(line(heads, "columnheader"), ...made);
}

/** One axis for both: all values, with some margin; what was shown stays as long as it fits well. */
export function wider(
  before: [number, number] | null,
  ...all: ArrayLike<number>[]
): [number, number] {
  let [lo, hi] = [Infinity, -Infinity];
  for (const values of all)
    for (let i = 0; i < values.length; i++) {
      const v = values[i] as number;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    }
  if (!(hi >= lo)) return before ?? [0, 1];
  if (hi === lo) [lo, hi] = [lo - (Math.abs(lo) || 1) / 2, hi + (Math.abs(hi) || 1) / 2];
  if (before && before[0] <= lo && before[1] >= hi && hi - lo > 0.6 * (before[1] - before[0])) return before;
  const space = 0.06 * (hi - lo);
  return [lo - space, hi + space];
}

/** How wide a box is; what is in it is drawn anew when that changes. */
export function widthOf(space: HTMLElement, draw: () => void, signal: AbortSignal): () => number {
  let wide = 0;
  const again = painter(draw, signal);
  onWidth(
    space,
    (width) => {
      wide = width;
      again();
    },
    signal,
  );
  return () => wide;
}

/** Why nothing is compared with what it should have been. */
export function why(state: State): string {
  const loss = state.task?.constant;
  return loss
    ? `In each batch all targets of ${loss} are the same, as in a game of two networks: there is nothing to predict.`
    : "This loss names no targets, so predictions are not compared with any: run.observe(outputs, labels) tells of them.";
}
