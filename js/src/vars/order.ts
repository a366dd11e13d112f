// The columns of the table and their orders. What a row has not (a module's shape) comes last in either direction.

import { bytes, num, shapeText } from "../shared/format";
import { real } from "../shared/payload";
import type { RowState as Row } from "./types";

export interface Column {
  name: string;
  /** What is shown. */
  text(row: Row): string;
  /** What is compared; null for what is not there. */
  key(row: Row): string | number | null;
  /** Numbers stand right, and begin with the largest. */
  number?: boolean;
}

const norm = (row: Row): number | null =>
  row.grad_norm === null || row.grad_norm === undefined ? null : real(row.grad_norm);

export const COLUMNS: readonly Column[] = [
  { name: "name", text: (row) => row.name, key: (row) => row.name },
  { name: "kind", text: (row) => row.kind, key: (row) => row.kind },
  {
    name: "shape",
    text: (row) => (row.shape ? shapeText(row.shape) : ""),
    key: (row) => row.shape?.reduce((n, k) => n * k, 1) ?? null,
    number: true,
  },
  { name: "dtype", text: (row) => row.dtype, key: (row) => row.dtype || null },
  { name: "device", text: (row) => row.device, key: (row) => row.device || null },
  { name: "bytes", text: (row) => bytes(row.nbytes), key: (row) => row.nbytes, number: true },
  {
    name: "grad",
    text: (row) => (row.requires_grad === null ? "" : row.requires_grad ? "yes" : "no"),
    key: (row) => (row.requires_grad === null ? null : Number(row.requires_grad)),
    number: true,
  },
  {
    name: "grad norm",
    text: (row) => (norm(row) === null ? "" : num(norm(row) as number, 3)),
    key: norm,
    number: true,
  },
];

/** The places of the rows in the order of a column; equal rows keep theirs. */
export function ordered(rows: readonly Row[], column: Column, reverse: boolean): number[] {
  const down = Boolean(column.number) !== reverse ? -1 : 1;
  const keys = rows.map((row) => column.key(row));
  return rows
    .map((_, i) => i)
    .sort((i, j) => {
      const [a, b] = [keys[i] ?? null, keys[j] ?? null];
      if (a === null || b === null) return a === b ? i - j : a === null ? 1 : -1;
      if (typeof a === "string") return down * a.localeCompare(String(b), "en", { numeric: true }) || i - j;
      // NaN is what one looks for: it leads the largest.
      const [x, y] = [a, b as number].map((v) => (Number.isNaN(v) ? Infinity : v)) as [number, number];
      return x === y ? i - j : down * (x < y ? -1 : 1);
    });
}
