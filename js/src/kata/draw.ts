// Where the lines of the two pictures go: numbers in, paths out, without a document.

import type { Numbers } from "../shared/payload";

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export interface Course {
  paths: string[];
  top: number;
  /** The first step whose loss is no number; -1 where all are. */
  lost: number;
}

/** A nice number just above. */
export function ceiling(value: number): number {
  if (!(value > 0) || !Number.isFinite(value)) return 1;
  const unit = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((k) => k * unit >= value) ?? 10) * unit;
}

/** How high the axis of a loss goes: a loss that climbs leaves it at twice where it began. */
export function heightOf(losses: readonly Numbers[]): number {
  let [most, first] = [0, 0];
  for (const one of losses) {
    for (const value of one) if (Number.isFinite(Number(value))) most = Math.max(most, Number(value));
    for (const value of Array.from(one as ArrayLike<number>).slice(0, 1)) if (Number.isFinite(value)) first = Math.max(first, value);
  }
  return ceiling(Math.min(most, first > 0 ? 2 * first : most));
}

const round = (value: number): string => String(Math.round(value * 10) / 10);

/** A path through points; it begins anew behind a gap, and stays within the box. */
export function path(x: (i: number) => number, y: (value: number) => number, values: Numbers, box: Box): string {
  let [out, pen] = ["", false];
  Array.from(values as ArrayLike<number>).forEach((value, i) => {
    if (!Number.isFinite(value)) {
      pen = false;
      return;
    }
    const at = Math.min(box.bottom, Math.max(box.top, y(value)));
    out += `${pen ? "L" : "M"}${round(x(i))} ${round(at)}`;
    pen = true;
  });
  return out;
}

/** The first place that is no finite number; -1 where there is none. */
export const firstBad = (values: Numbers): number =>
  Array.from(values as ArrayLike<number>).findIndex((value) => !Number.isFinite(value));

/** A sentence in parts: what stands between backquotes is code. */
export const parts = (text: string): { code: boolean; text: string }[] =>
  text
    .split("`")
    .map((part, i) => ({ code: i % 2 === 1, text: part }))
    .filter((part) => part.text);
