// An array as a sheet of cells: the last axis across, all others down; and what stands in each.

import { NAN, NEGINF, POSINF, STEPS } from "../shared/colour";
import type { Value } from "./types";

export interface Cells {
  rows: number;
  columns: number;
  values: Float64Array;
}

/** The cells of a value; null where it carries none. */
export function cells(value: Value): Cells | null {
  const size = value.grid.reduce((n, k) => n * k, 1);
  const columns = value.grid.at(-1) ?? 1;
  if (!size) return null;
  const values = new Float64Array(size);
  if (value.data) for (let i = 0; i < size; i++) values[i] = value.data.data[i] as number;
  else if (value.codes && value.levels) {
    // The top three codes are what is not finite.
    const top = value.codes.data instanceof Uint8Array ? 255 : 65535;
    for (let i = 0; i < size; i++) {
      const code = value.codes.data[i] as number;
      values[i] =
        code === top
          ? NaN
          : code === top - 1
            ? Infinity
            : code === top - 2
              ? -Infinity
              : (value.levels.data[code] as number);
    }
  } else return null;
  return { rows: size / columns, columns, values };
}

/** The largest finite absolute value, of several sheets. */
export function most(...sheets: (Cells | null)[]): number {
  let found = 0;
  for (const sheet of sheets)
    for (const value of sheet?.values ?? []) if (Number.isFinite(value)) found = Math.max(found, Math.abs(value));
  return found;
}

/** The colour's place in a palette around 0. */
export function code(value: number, high: number): number {
  if (Number.isNaN(value)) return NAN;
  if (!Number.isFinite(value)) return value > 0 ? POSINF : NEGINF;
  const place = high ? Math.max(-1, Math.min(1, value / high)) : 0;
  return Math.round(((place + 1) / 2) * (STEPS - 1));
}

/** The cell that an element lies in, as a number. */
export function cellOf(at: number[], value: Value): number {
  let cell = 0;
  value.grid.forEach((n, axis) => {
    cell = cell * n + Math.min(n - 1, Math.floor((at[axis] ?? 0) / (value.block[axis] ?? 1)));
  });
  return cell;
}

/** The first element of a cell. */
export function elementOf(cell: number, value: Value): number[] {
  const at: number[] = [];
  for (let axis = value.grid.length - 1; axis >= 0; axis--) {
    const n = value.grid[axis] as number;
    at.unshift((cell % n) * (value.block[axis] ?? 1));
    cell = Math.floor(cell / n);
  }
  return at;
}

/** A cell as a person writes it: "[3, 4:6]". */
export function written(cell: number, value: Value): string {
  const at = elementOf(cell, value).map((from, axis) => {
    const step = value.block[axis] ?? 1;
    const to = Math.min(value.shape[axis] ?? 0, from + step);
    return to - from > 1 ? `${from}:${to}` : String(from);
  });
  return `[${at.join(", ")}]`;
}
