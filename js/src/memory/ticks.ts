// Bytes over time as numbers: what is alive when, how it is ordered and written, and the way of the curve.

import type { Row } from "./types";

/** Bytes in steps of 1000, as the record writes them. */
export function size(bytes: number): string {
  if (bytes < 10_000) return `${Math.round(bytes)} B`;
  const units = ["kB", "MB", "GB"];
  let [value, unit] = [bytes / 1000, 0];
  while (value >= 999.5 && unit < 2) {
    value /= 1000;
    unit += 1;
  }
  return `${Number(value.toPrecision(3))} ${units[unit]}`;
}

/** Whether a row keeps anything at a tick. */
export const alive = (row: Row, tick: number): boolean => row.made <= tick && (row.freed === null || row.freed > tick);

export type Order = "bytes" | "made" | "freed";

/** The rows' numbers in an order; the largest, the earliest first. */
export function ordered(rows: Row[], by: Order): number[] {
  const key = (row: Row): number[] =>
    by === "bytes"
      ? [-row.bytes, -row.shared, row.made]
      : by === "made"
        ? [row.made, -row.bytes]
        : [row.freed ?? Infinity, -row.bytes];
  const keys = rows.map(key);
  return rows
    .map((_, i) => i)
    .sort((i, j) => {
      const [a, b] = [keys[i] as number[], keys[j] as number[]];
      for (let k = 0; k < a.length; k++)
        if (a[k] !== b[k]) return (a[k] as number) < (b[k] as number) ? -1 : 1;
      return i - j;
    });
}

/** A staircase: its value from each tick until the next. */
export function stairs(values: ArrayLike<number>, wide: number, high: number, most: number): string {
  const step = wide / Math.max(1, values.length);
  const y = (v: number): string => (high - (high * v) / (most || 1)).toFixed(1);
  let way = `M0 ${high}`;
  let before: number | null = null;
  for (let i = 0; i < values.length; i++) {
    if (values[i] === before) continue;
    before = values[i] as number;
    way += `H${(i * step).toFixed(1)}V${y(before)}`;
  }
  return `${way}H${wide}V${high}z`;
}
