// The loss in numbers: smoothed by a trailing mean, its least and largest by piece, and where the axis ends.

import { roundUp } from "./numbers";
import type { Columns } from "./types";

/** The step in the middle of a column. */
export const middle = (columns: Columns, c: number): number =>
  (columns.from + c) * columns.width + (columns.width - 1) / 2;

/** The mean of the newest `steps` steps at each column; NaN where a column and what is before it have nothing. */
export function smooth(columns: Columns, steps: number): Float64Array {
  const mean = columns.mean.data;
  const n = columns.mean.shape[1] ?? 0;
  const span = Math.max(1, Math.round(steps / columns.width));
  const out = new Float64Array(n).fill(NaN);
  let [sum, known] = [0, 0];
  for (let c = 0; c < n; c++) {
    const v = mean[c] as number;
    if (v === v) {
      sum += v;
      known++;
    }
    const gone = c >= span ? (mean[c - span] as number) : NaN;
    if (gone === gone) {
      sum -= gone;
      known--;
    }
    if (v === v && known) out[c] = sum / known;
  }
  return out;
}

export interface Band {
  /** The middle of each piece, as a step. */
  at: number[];
  low: number[];
  high: number[];
}

/** The least and the largest in pieces of about so many steps each, never fewer than two columns. */
export function band(columns: Columns, steps: number): Band {
  const n = columns.low.shape[1] ?? 0;
  const wide = Math.max(2, Math.ceil(steps / columns.width));
  const out: Band = { at: [], low: [], high: [] };
  for (let start = 0; start < n; start += wide) {
    let [low, high, first, last] = [Infinity, -Infinity, -1, -1];
    // A piece begins with the last column of the one before, so that no peak falls between two.
    for (let c = Math.max(0, start - 1); c < Math.min(n, start + wide); c++) {
      const [a, b] = [columns.low.data[c] as number, columns.high.data[c] as number];
      if (a !== a) continue;
      if (first < 0) first = c;
      last = c;
      if (a < low) low = a;
      if (b > high) high = b;
    }
    if (last < 0) continue;
    out.at.push((middle(columns, first) + middle(columns, last)) / 2);
    out.low.push(low);
    out.high.push(high);
  }
  return out;
}

export interface Range {
  lo: number;
  hi: number;
  /** Whether something is larger than hi. */
  above: number;
}

/** The ends of the axis: all of the band, but a peak far above the line is cut and said. */
export function range(line: Float64Array, all: Band, log: boolean, before: Range | null): Range {
  let [lo, hi, most] = [Infinity, -Infinity, -Infinity];
  for (const v of all.low) if (!log || v > 0) lo = Math.min(lo, v);
  for (const v of all.high) most = Math.max(most, v);
  let top = -Infinity;
  for (const v of line) if (v === v && v > top) top = v;
  hi = most;
  if (!log && top > 0 && most > 6 * top) hi = 1.5 * top;
  if (!Number.isFinite(hi) || !Number.isFinite(lo)) return { lo: log ? 0.1 : 0, hi: log ? 10 : 3, above: 0 };
  if (log) {
    const out = { lo: 10 ** Math.floor(Math.log10(lo)), hi: 10 ** Math.ceil(Math.log10(Math.max(hi, lo * 1.01))) };
    return { ...out, above: 0 };
  }
  let end = { lo: lo < 0 ? -roundUp(-lo) : 0, hi: hi > 0 ? roundUp(hi) : 0 };
  // What was shown stays in: the axis grows, and shrinks only where far too large.
  if (before && before.hi > end.hi && before.hi <= 2.5 * end.hi) end = { ...end, hi: before.hi };
  return { ...end, above: most > end.hi ? most : 0 };
}
