// Where a norm stands on the logarithmic scale, and in which orders the rows can stand.

import type { Row } from "./types";

export type Order = "model" | "small" | "large";

/** From 0 to 1 between the two ends of the scale; null for what has no place on it. */
export function place(value: number | string | null, [low, high]: [number, number]): number | null {
  if (typeof value !== "number" || !(value > 0)) return null;
  return Math.max(0, Math.min(1, (Math.log10(value) - low) / (high - low)));
}

/** The decades that are named, at most seven. */
export function decades([low, high]: [number, number]): number[] {
  const each = Math.max(1, Math.ceil((high - low) / 6));
  return Array.from({ length: Math.floor((high - low) / each) + 1 }, (_, i) => low + i * each);
}

/** Whether a row is one to look at. */
export const wrong = (row: Row): boolean => row.cure !== "" || row.state === "exactly zero";

/** The rows in an order; what is not finite counts as largest, what has no gradient stands last. */
export function ordered(rows: Row[], order: Order): number[] {
  const all = rows.map((_, i) => i);
  if (order === "model") return all;
  const size = (i: number): number => {
    const norm = rows[i]?.norm ?? null;
    return typeof norm === "number" ? norm : Number.POSITIVE_INFINITY;
  };
  const none = (i: number): number => Number((rows[i]?.norm ?? null) === null);
  const sign = order === "small" ? 1 : -1;
  return all.sort((a, b) => none(a) - none(b) || (size(a) === size(b) ? a - b : sign * (size(a) - size(b))));
}
